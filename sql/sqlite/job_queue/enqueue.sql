-- A new job, claimable after :delay_ms.
INSERT INTO JobQueue (State, AvailableAt, EnqueuedAt, MaxAttempts, Payload)
VALUES (
    'R',
    strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', :delay_ms / 1000.0)),
    strftime('%Y-%m-%d %H:%M:%f', 'now'),
    :max_attempts,
    :payload
);
