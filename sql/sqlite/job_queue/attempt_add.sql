-- Writes the attempt that just ended into the history. It runs in the transaction that ended it, and only if
-- that changed the job: an attempt that somebody else ended is already there.
INSERT INTO JobAttempt (JobId, Attempt, Outcome, EnqueuedAt, StartedAt, EndedAt, DurationMs, Message)
SELECT
    JobId,
    Attempts,
    :outcome,
    EnqueuedAt,
    ClaimedAt,
    strftime('%Y-%m-%d %H:%M:%f', 'now'),
    -- A clock that was set back in between makes the duration 0, not negative.
    max(0, CAST(round((julianday('now') - julianday(ClaimedAt)) * 86400000.0) AS INTEGER)),
    CASE WHEN :outcome <> 'ok' THEN LastError END
FROM JobQueue
WHERE JobId = :job_id;
