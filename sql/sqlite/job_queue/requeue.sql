-- Makes a job that was given up ready again at once, with :more_attempts attempts or (NULL) as many as it has
-- been allowed so far. Its count of attempts continues, like the history. No row changed: the job is not in F.
UPDATE JobQueue
SET State       = 'R',
    AvailableAt = strftime('%Y-%m-%d %H:%M:%f', 'now'),
    MaxAttempts = Attempts + ifnull(:more_attempts, MaxAttempts),
    FinishedAt  = NULL
WHERE JobId = :job_id
  AND State = 'F';
