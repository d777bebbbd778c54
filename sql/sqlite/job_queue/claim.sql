-- Takes the :batch jobs that have been claimable longest, in one statement: choosing a job and owning
-- it are inseparable, so two workers never get the same one. Each job gets its own token. Fewer rows than
-- requested, or none, means that nothing more was claimable at this attempt, not that nothing is left to do.
-- The order of the rows means nothing.
--
-- A ready job whose attempts are used up is not skipped: if somebody made it ready again by hand, it gets one
-- more attempt, and if that fails it goes back to F.
UPDATE JobQueue
SET State      = 'W',
    ClaimToken = lower(hex(randomblob(16))),
    LeaseUntil = strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', :lease_ms / 1000.0)),
    ClaimedAt  = strftime('%Y-%m-%d %H:%M:%f', 'now'),
    Attempts   = Attempts + 1
WHERE JobId IN (
        SELECT JobId
        FROM JobQueue
        WHERE State = 'R'
          AND AvailableAt <= strftime('%Y-%m-%d %H:%M:%f', 'now')
        ORDER BY AvailableAt, JobId
        LIMIT :batch
    )
  AND State = 'R'
RETURNING JobId, ClaimToken, Attempts, Payload;
