-- A job that was given up is ready again, at once, and gets :more_attempts attempts, or (NULL) as many
-- as it has been allowed so far. The count of those it had goes on, as the history does. No row changed:
-- the job is not in F.
UPDATE JobQueue
SET State       = 'R',
    AvailableAt = strftime('%Y-%m-%d %H:%M:%f', 'now'),
    MaxAttempts = Attempts + ifnull(:more_attempts, MaxAttempts),
    FinishedAt  = NULL
WHERE JobId = :job_id
  AND State = 'F';
