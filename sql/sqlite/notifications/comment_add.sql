-- Somebody comments on an item.
INSERT INTO Comment (ItemId, Author, Recipient)
VALUES (:item_id, :author, :recipient);
