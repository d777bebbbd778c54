-- The log's retention: rows older than :keep_ms, oldest first, at most :batch at a time.
DELETE FROM RunLog
WHERE RunLogId IN (
    SELECT RunLogId
    FROM RunLog
    WHERE StartedAt < strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', -:keep_ms / 1000.0))
    ORDER BY StartedAt
    LIMIT :batch
);
