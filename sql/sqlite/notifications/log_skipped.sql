-- A run that did not take place: no candidates, and duration 0 because nothing was done.
INSERT INTO RunLog (Step, StartedAt, EndedAt, DurationMs, Candidates, Outcome, Message)
VALUES (
    :step,
    :started_at,
    strftime('%Y-%m-%d %H:%M:%f', 'now'),
    0,
    NULL,
    'skipped',
    'skipped: the previous run still holds the lock'
);
