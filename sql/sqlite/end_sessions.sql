-- Ends every session, as a server does when it starts: the locks of sessions are released, and open
-- transactions are rolled back.
DELETE FROM application_lock;
UPDATE WorkQueue SET TranId = NULL WHERE TranId IS NOT NULL;
