-- Takes lapsed leases from their owners, at most :batch at a time: back to ready, or to F when
-- the attempts are used up. The token is voided, so an owner that wakes up late changes nothing.
-- One conditional statement: a heartbeat that arrives first keeps its job. :grace_ms is how long a lapsed
-- lease is left alone.
UPDATE JobQueue
SET State       = CASE WHEN Attempts >= MaxAttempts THEN 'F' ELSE 'R' END,
    AvailableAt = CASE
                      WHEN Attempts >= MaxAttempts THEN AvailableAt
                      ELSE strftime('%Y-%m-%d %H:%M:%f', 'now')
                  END,
    FinishedAt  = CASE WHEN Attempts >= MaxAttempts THEN strftime('%Y-%m-%d %H:%M:%f', 'now') END,
    LastError   = printf('lease lapsed at %s in attempt %d of %d', LeaseUntil, Attempts, MaxAttempts),
    ClaimToken  = NULL,
    LeaseUntil  = NULL
WHERE JobId IN (
        SELECT JobId
        FROM JobQueue
        WHERE State = 'W'
          AND LeaseUntil < strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', -:grace_ms / 1000.0))
        ORDER BY LeaseUntil
        LIMIT :batch
    )
  AND State = 'W'
  AND LeaseUntil < strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', -:grace_ms / 1000.0))
RETURNING JobId, State;
