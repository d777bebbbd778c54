-- The attempt failed: back to ready after :backoff_ms or, if the attempts are used up, to F with the error.
-- No row changed: ownership was lost, and the failure is no longer this caller's to report.
UPDATE JobQueue
SET State       = CASE WHEN Attempts >= MaxAttempts THEN 'F' ELSE 'R' END,
    AvailableAt = CASE
                      WHEN Attempts >= MaxAttempts THEN AvailableAt
                      ELSE strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', :backoff_ms / 1000.0))
                  END,
    FinishedAt  = CASE WHEN Attempts >= MaxAttempts THEN strftime('%Y-%m-%d %H:%M:%f', 'now') END,
    LastError   = CASE
                      WHEN Attempts >= MaxAttempts THEN printf('given up after %d attempts: %s', Attempts, :error)
                      ELSE :error
                  END,
    ClaimToken  = NULL,
    LeaseUntil  = NULL
WHERE JobId = :job_id
  AND ClaimToken = :token
  AND State = 'W';
