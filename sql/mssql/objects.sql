-- Everything that is installed, for the parts of the installation and the uninstallation that concern all
-- of it. Names are looked up by OBJECT_ID and never compared with a column of the catalog, whose collation
-- may differ from that of tempdb.
SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- No DROP TABLE IF EXISTS: on a server that is too old, prepare.sql must get to say so.
IF OBJECT_ID(N'tempdb..#sqlqueue_object') IS NOT NULL
    DROP TABLE #sqlqueue_object;
CREATE TABLE #sqlqueue_object (
    ObjectKind VARCHAR(9) NOT NULL,
    ObjectName SYSNAME NOT NULL,
    -- absent, ours, or foreign, before anything was done. mark.sql marks what is ours.
    Standing VARCHAR(7) NULL
);
INSERT INTO #sqlqueue_object (ObjectKind, ObjectName)
VALUES
    ('TABLE', N'JobQueue'),
    ('TABLE', N'JobAttempt'),
    ('PROCEDURE', N'EnqueueJob'),
    ('PROCEDURE', N'ClaimJobs'),
    ('PROCEDURE', N'HeartbeatJob'),
    ('PROCEDURE', N'CompleteJob'),
    ('PROCEDURE', N'FailJob'),
    ('PROCEDURE', N'RecoverJobs'),
    ('PROCEDURE', N'RequeueJob'),
    ('PROCEDURE', N'PurgeJobs'),
    ('PROCEDURE', N'PurgeJobAttempts'),
    ('TABLE', N'WorkQueue'),
    ('PROCEDURE', N'EnqueueWork'),
    ('PROCEDURE', N'DequeueWork'),
    ('TABLE', N'Comment'),
    ('TABLE', N'NotificationControl'),
    ('TABLE', N'OutgoingMessage'),
    ('TABLE', N'RunLog'),
    ('PROCEDURE', N'LogRunStep'),
    ('PROCEDURE', N'PurgeRunLog'),
    ('PROCEDURE', N'NotifyComments'),
    ('PROCEDURE', N'RunNotifications');
UPDATE #sqlqueue_object
SET Standing = CASE
    WHEN OBJECT_ID(N'[$(SchemaName)].' + QUOTENAME(ObjectName)) IS NULL THEN 'absent'
    WHEN OBJECT_ID(N'[$(SchemaName)].' + QUOTENAME(ObjectName)) IN (
        SELECT p.major_id
        FROM sys.extended_properties AS p
        WHERE p.class = 1 AND p.minor_id = 0 AND p.name = N'sqlqueue_exporter'
    ) THEN 'ours'
    ELSE 'foreign'
END;
GO
