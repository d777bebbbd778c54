-- Transaction :tran_id ends well: what it took is gone for good.
DELETE FROM WorkQueue
WHERE TranId = :tran_id;
