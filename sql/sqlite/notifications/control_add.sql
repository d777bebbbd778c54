-- Marks an event as announced. It comes first in the transaction: a second mark for the same event violates
-- the unique key, and then no message is written either.
INSERT INTO NotificationControl (Kind, Key, Key2, CreatedAt)
VALUES (:kind, :key, :key2, strftime('%Y-%m-%d %H:%M:%f', 'now'));
