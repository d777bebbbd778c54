-- A job from a client that writes its times in another format, YYYY-MM-DDTHH:MM:SS.SSS. It is ready: but
-- as text that time is later than every other of the same day, and the claim compares times as text. So
-- workers skip the job until midnight.
INSERT INTO JobQueue (State, AvailableAt, EnqueuedAt, MaxAttempts, Payload)
VALUES (
    'R',
    strftime('%Y-%m-%dT%H:%M:%f', 'now'),
    strftime('%Y-%m-%d %H:%M:%f', 'now'),
    5,
    'send contract'
);
