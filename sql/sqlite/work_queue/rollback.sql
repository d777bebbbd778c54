-- Rolls transaction :tran_id back: the rows that it took are free again, in their old places.
UPDATE WorkQueue
SET TranId = NULL
WHERE TranId = :tran_id;
