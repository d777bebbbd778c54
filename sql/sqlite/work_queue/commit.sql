-- Commits transaction :tran_id: the rows that it took are gone for good.
DELETE FROM WorkQueue
WHERE TranId = :tran_id;
