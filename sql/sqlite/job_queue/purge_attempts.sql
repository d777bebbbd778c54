-- The history's retention: attempts that ended longer than :keep_ms ago, at most :batch at a time. Only
-- the :batch oldest rows are looked at, so that it needs no index on the time: ids are given out in
-- nearly the order of time, and a young row among old ones just waits for them to go.
DELETE FROM JobAttempt
WHERE AttemptId IN (SELECT AttemptId FROM JobAttempt ORDER BY AttemptId LIMIT :batch)
  AND EndedAt < strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', -:keep_ms / 1000.0));
