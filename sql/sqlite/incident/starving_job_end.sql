-- Somebody corrects the time.
UPDATE JobQueue
SET AvailableAt = replace(AvailableAt, 'T', ' ')
WHERE State = 'R'
  AND AvailableAt LIKE '%T%';
