-- The history's retention: attempts that ended longer than :keep_ms ago, at most :batch at a time. It
-- looks at the :batch oldest rows only, so it needs no index on the time: ids are assigned nearly in the order
-- of time, and a young row among old ones just waits for them to go.
DELETE FROM JobAttempt
WHERE AttemptId IN (SELECT AttemptId FROM JobAttempt ORDER BY AttemptId LIMIT :batch)
  AND EndedAt < strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', -:keep_ms / 1000.0));
