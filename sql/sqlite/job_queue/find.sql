-- The job with this business key, whatever its state.
SELECT JobId
FROM JobQueue
WHERE BusinessKey = :business_key;
