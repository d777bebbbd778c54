-- What there is to see right now, of everything that the demo promises to show.
WITH now (at) AS (SELECT strftime('%Y-%m-%d %H:%M:%f', 'now'))
SELECT 'job ready' FROM now WHERE EXISTS (SELECT 1 FROM JobQueue WHERE State = 'R' AND AvailableAt <= at)
UNION ALL
SELECT 'job scheduled' FROM now WHERE EXISTS (SELECT 1 FROM JobQueue WHERE State = 'R' AND AvailableAt > at AND Attempts = 0)
UNION ALL
SELECT 'job retrying' FROM now WHERE EXISTS (SELECT 1 FROM JobQueue WHERE State = 'R' AND AvailableAt > at AND Attempts > 0)
UNION ALL
SELECT 'job running' FROM now WHERE EXISTS (SELECT 1 FROM JobQueue WHERE State = 'W' AND LeaseUntil >= at)
UNION ALL
SELECT 'job expired' FROM now WHERE EXISTS (SELECT 1 FROM JobQueue WHERE State = 'W' AND LeaseUntil < at)
UNION ALL
SELECT 'job failed' WHERE EXISTS (SELECT 1 FROM JobQueue WHERE State = 'F')
UNION ALL
SELECT 'job done' WHERE EXISTS (SELECT 1 FROM JobQueue WHERE State = 'D')
UNION ALL
SELECT 'work free' WHERE EXISTS (SELECT 1 FROM WorkQueue WHERE TranId IS NULL)
UNION ALL
SELECT 'work taken' WHERE EXISTS (SELECT 1 FROM WorkQueue WHERE TranId IS NOT NULL)
UNION ALL
SELECT 'lock held' WHERE EXISTS (SELECT 1 FROM application_lock WHERE resource = 'notifications')
UNION ALL
SELECT DISTINCT 'attempt ' || Outcome FROM JobAttempt
UNION ALL
SELECT DISTINCT 'outcome ' || Outcome FROM RunLog
UNION ALL
SELECT DISTINCT 'kind ' || Kind FROM NotificationControl;
