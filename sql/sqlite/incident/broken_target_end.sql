-- Somebody deletes the row.
DELETE FROM WorkQueue
WHERE TranId = -1;
