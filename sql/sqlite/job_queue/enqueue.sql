-- Adds a job that is claimable after :delay_ms. No row returned: a job with this business key already exists,
-- and it stays as it is. Without a key (NULL) every call adds a job.
INSERT INTO JobQueue (State, AvailableAt, EnqueuedAt, MaxAttempts, BusinessKey, Payload)
VALUES (
    'R',
    strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', :delay_ms / 1000.0)),
    strftime('%Y-%m-%d %H:%M:%f', 'now'),
    :max_attempts,
    :business_key,
    :payload
)
ON CONFLICT (BusinessKey) WHERE BusinessKey IS NOT NULL DO NOTHING
RETURNING JobId;
