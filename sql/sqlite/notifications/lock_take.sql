-- Takes the lock if nobody has it; never waits. One row changed: it is ours. None: it is taken.
-- Not INSERT OR IGNORE, which would report any broken constraint as "taken".
INSERT INTO application_lock (resource, holder, acquired_at)
VALUES (:resource, :holder, strftime('%Y-%m-%d %H:%M:%f', 'now'))
ON CONFLICT (resource) DO NOTHING;
