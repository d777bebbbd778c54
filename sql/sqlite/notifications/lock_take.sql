-- Takes the lock if nobody has it; never waits. One row changed: the holder has it. None: somebody else does.
-- Not INSERT OR IGNORE, which would report any violated constraint as "taken".
INSERT INTO application_lock (resource, holder, acquired_at)
VALUES (:resource, :holder, strftime('%Y-%m-%d %H:%M:%f', 'now'))
ON CONFLICT (resource) DO NOTHING;
