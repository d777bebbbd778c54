-- Somebody writes the time as it should be.
UPDATE JobQueue
SET AvailableAt = replace(AvailableAt, 'T', ' ')
WHERE State = 'R'
  AND AvailableAt LIKE '%T%';
