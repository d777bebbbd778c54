-- Releases the holder's own lock, never another's.
DELETE FROM application_lock
WHERE resource = :resource
  AND holder = :holder;
