-- Takes the oldest row that no transaction holds, for transaction :tran_id. From now on others skip it. A
-- transaction may take several rows. No row returned: nothing is free right now.
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
