-- Transaction :tran_id is undone: what it took is free again, at its old place.
UPDATE WorkQueue
SET TranId = NULL
WHERE TranId = :tran_id;
