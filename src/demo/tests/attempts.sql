SELECT JobId, Attempt, Outcome, EnqueuedAt, StartedAt, EndedAt, DurationMs, Message
FROM JobAttempt
ORDER BY AttemptId;
