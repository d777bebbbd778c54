-- The exporter's permissions: the role sqlqueue_exporter, and its user. Run it after install.sql and
-- login.sql; running it again changes nothing.
--
--     cd sql/mssql
--     sqlcmd -S SERVER -d DATABASE -b -v SchemaName=dbo ExporterUser=sqlqueue -i permissions.sql
--
-- SELECT on the columns that the presets map, and on no other: no payload, no error text, no claim token,
-- no recipient. A mapping of your own that reads another column needs it granted here.
--
-- What the other metrics need, and why it is not here:
--   sqlqueue_run_lock_held: nothing. APPLOCK_TEST runs as the database role public, which everybody is
--     in.
--   rows in flight of a transactional queue: nothing. Everybody sees, in sys.databases, the database that
--     they are in.
--   VIEW SERVER STATE, VIEW DATABASE STATE: nothing that the exporter reads needs them.
--
-- How many connections the login may have: the exporter opens one for each source, and a server cannot be
-- configured to allow no more. Resource Governor bounds the requests, processor time and memory of a workload
-- group, not its connections, in editions that have it (Enterprise and Developer, Standard from SQL Server
-- 2025, Managed Instance), and by a classifier function, of which a server has one. A logon trigger could
-- count sessions (not on Azure SQL Database), but one that fails locks out every login,
-- including the administrator's. Neither is done here. In Azure SQL Database the service tier is the limit.
:on error exit
SET XACT_ABORT ON;
GO
IF DATABASE_PRINCIPAL_ID(N'$(ExporterUser)') IS NULL
    THROW 50013, 'There is no user $(ExporterUser) in this database: run login.sql first.', 1;
IF OBJECT_ID(N'[$(SchemaName)].JobQueue', N'U') IS NULL
    THROW 50014, 'There is no table $(SchemaName).JobQueue in this database: run install.sql first.', 1;
GO
IF DATABASE_PRINCIPAL_ID(N'sqlqueue_exporter') IS NULL
    CREATE ROLE sqlqueue_exporter;
GO
GRANT SELECT (JobId, State, LeaseUntil, ClaimedAt, AvailableAt, EnqueuedAt, Attempts, MaxAttempts)
ON OBJECT::[$(SchemaName)].JobQueue TO sqlqueue_exporter;
GRANT SELECT (AttemptId, Attempt, Outcome, EnqueuedAt, EndedAt, DurationMs)
ON OBJECT::[$(SchemaName)].JobAttempt TO sqlqueue_exporter;
GRANT SELECT (EnqueuedAt)
ON OBJECT::[$(SchemaName)].WorkQueue TO sqlqueue_exporter;
GRANT SELECT (RunLogId, Step, StartedAt, EndedAt, DurationMs, Candidates, Outcome)
ON OBJECT::[$(SchemaName)].RunLog TO sqlqueue_exporter;
GRANT SELECT (NotificationId, Kind, CreatedAt)
ON OBJECT::[$(SchemaName)].NotificationControl TO sqlqueue_exporter;
GO
-- `check --connect` looks for the indexes that a sample seeks. In the catalog a login sees what it has a
-- permission on; whether a permission on columns is enough is not documented, and this one exposes no data.
GRANT VIEW DEFINITION ON OBJECT::[$(SchemaName)].JobQueue TO sqlqueue_exporter;
GRANT VIEW DEFINITION ON OBJECT::[$(SchemaName)].JobAttempt TO sqlqueue_exporter;
GRANT VIEW DEFINITION ON OBJECT::[$(SchemaName)].WorkQueue TO sqlqueue_exporter;
GRANT VIEW DEFINITION ON OBJECT::[$(SchemaName)].RunLog TO sqlqueue_exporter;
GRANT VIEW DEFINITION ON OBJECT::[$(SchemaName)].NotificationControl TO sqlqueue_exporter;
GO
ALTER ROLE sqlqueue_exporter ADD MEMBER [$(ExporterUser)];
GO
