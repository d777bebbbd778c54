-- Installs the lease queue, the transactional queue and the notification log into one schema of the
-- current database: SQL Server 2016 SP1 or newer, Azure SQL Managed Instance, Azure SQL Database.
--
--     cd sql/mssql
--     sqlcmd -S SERVER -d DATABASE -b -v SchemaName=dbo -i install.sql
--
-- The schema has no default here, because a :setvar in a file outranks -v: whoever asked for another
-- schema would get this one. The paths are relative to the folder that sqlcmd was started in.
--
-- It is one transaction: all of it is there afterwards, or nothing. Installing again brings the
-- procedures up to date and adds indexes that are missing; rows stay as they are.
:on error exit
SET XACT_ABORT ON;
GO
BEGIN TRANSACTION;
GO
:r objects.sql
:r prepare.sql
:r lease_queue/tables.sql
:r lease_queue/enqueue.sql
:r lease_queue/claim.sql
:r lease_queue/heartbeat.sql
:r lease_queue/complete.sql
:r lease_queue/fail.sql
:r lease_queue/recover.sql
:r lease_queue/requeue.sql
:r lease_queue/purge.sql
:r work_queue/tables.sql
:r work_queue/enqueue.sql
:r work_queue/dequeue.sql
:r notifications/tables.sql
:r notifications/log.sql
:r notifications/comments.sql
:r notifications/run.sql
:r mark.sql
COMMIT TRANSACTION;
GO
PRINT CONCAT(N'Installed in $(SchemaName) of ', DB_NAME(), N'.');
GO
