-- Deletes finished rows of one state (:state, D or F) beyond the newest :keep, at most :batch at
-- a time, so that no purge holds the write lock for long.
DELETE FROM JobQueue
WHERE JobId IN (
    SELECT JobId
    FROM JobQueue
    WHERE State = :state
      AND FinishedAt IS NOT NULL
    ORDER BY FinishedAt DESC
    LIMIT :batch OFFSET :keep
);
