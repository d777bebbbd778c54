-- Takes the job that has been claimable longest, in one statement: choosing it and owning it
-- cannot be pulled apart, so two workers never get the same job. No row back means that nothing
-- was claimable for this attempt, not that nothing is left to do.
--
-- A ready job whose attempts are used up is not passed over: whoever made it ready again by hand
-- gets one more attempt, and if that fails it goes back to F.
UPDATE JobQueue
SET State      = 'W',
    ClaimToken = lower(hex(randomblob(16))),
    LeaseUntil = strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', :lease_ms / 1000.0)),
    ClaimedAt  = strftime('%Y-%m-%d %H:%M:%f', 'now'),
    Attempts   = Attempts + 1
WHERE JobId = (
        SELECT JobId
        FROM JobQueue
        WHERE State = 'R'
          AND AvailableAt <= strftime('%Y-%m-%d %H:%M:%f', 'now')
        ORDER BY AvailableAt, JobId
        LIMIT 1
    )
  AND State = 'R'
RETURNING JobId, ClaimToken, Attempts, Payload;
