-- Extends the caller's own lease, under the same token. No row changed: ownership was lost, and
-- the caller must stop working.
UPDATE JobQueue
SET LeaseUntil = strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', :lease_ms / 1000.0))
WHERE JobId = :job_id
  AND ClaimToken = :token
  AND State = 'W';
