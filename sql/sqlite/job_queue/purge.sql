-- Deletes rows of one finished state (:state, D or F) that ended longer than :keep_ms ago, oldest
-- first, at most :batch at a time, so that no purge holds the write lock for long. A deleted row
-- frees its business key, which can be enqueued again.
DELETE FROM JobQueue
WHERE JobId IN (
    SELECT JobId
    FROM JobQueue
    WHERE State = :state
      AND FinishedAt < strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', -:keep_ms / 1000.0))
    ORDER BY FinishedAt
    LIMIT :batch
);
