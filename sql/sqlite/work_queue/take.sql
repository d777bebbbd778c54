-- Takes the oldest row that no transaction holds for transaction :tran_id. Others pass over it
-- from now on. A transaction may take several rows. No row back: nothing is free right now.
UPDATE WorkQueue
SET TranId = :tran_id
WHERE WorkId = (
        SELECT WorkId
        FROM WorkQueue
        WHERE TranId IS NULL
        ORDER BY WorkId
        LIMIT 1
    )
  AND TranId IS NULL
RETURNING WorkId, Payload;
