SELECT State, ClaimToken, LeaseUntil, ClaimedAt, AvailableAt, EnqueuedAt, Attempts, LastError, FinishedAt
FROM JobQueue
WHERE JobId = ?1;
