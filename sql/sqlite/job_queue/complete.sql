-- The job is done, provided that the caller still owns it. No row changed: ownership was lost,
-- and the work may be running elsewhere. That is never a success.
UPDATE JobQueue
SET State      = 'D',
    LeaseUntil = NULL,
    FinishedAt = strftime('%Y-%m-%d %H:%M:%f', 'now')
WHERE JobId = :job_id
  AND ClaimToken = :token
  AND State = 'W';
