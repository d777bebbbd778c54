-- The history's retention: attempts beyond the newest :keep, oldest first, at most :batch at a time.
DELETE FROM JobAttempt
WHERE AttemptId IN (
    SELECT AttemptId
    FROM JobAttempt
    WHERE AttemptId <= (SELECT AttemptId FROM JobAttempt ORDER BY AttemptId DESC LIMIT 1 OFFSET :keep)
    ORDER BY AttemptId
    LIMIT :batch
);
