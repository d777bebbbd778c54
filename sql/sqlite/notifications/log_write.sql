-- A step or a whole run that began at :started_at (by the database's clock) and ends now.
-- A clock that was set back in between makes the duration 0, not negative.
INSERT INTO RunLog (Step, StartedAt, EndedAt, DurationMs, Candidates, Outcome, Message)
VALUES (
    :step,
    :started_at,
    strftime('%Y-%m-%d %H:%M:%f', 'now'),
    max(0, CAST(round((julianday('now') - julianday(:started_at)) * 86400000.0) AS INTEGER)),
    :candidates,
    :outcome,
    :message
);
