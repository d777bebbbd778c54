-- What a server does for every session that ended with it, before it takes new ones: locks that
-- a session held are gone, open transactions are rolled back.
DELETE FROM application_lock;
UPDATE WorkQueue SET TranId = NULL WHERE TranId IS NOT NULL;
