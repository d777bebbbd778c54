-- The lease queue and the history of its attempts.
--
-- Every time is UTC, by the database's clock. A filtered index can be written only under these
-- options, and sqlcmd turns the first one off.
SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO
-- State: R ready, W working, D done, F failed for good. Attempts counts claims. ClaimedAt and
-- LastError remain when an attempt ends, until the next claim or failure. The token of a done job
-- remains: a worker that lost the answer to its completion can check whether it was its own.
--
-- A job with a business key is enqueued once, for as long as its row exists. Keys are compared byte by byte,
-- so two keys that differ in case are different.
IF OBJECT_ID(N'[$(SchemaName)].JobQueue', N'U') IS NULL
    CREATE TABLE [$(SchemaName)].JobQueue (
        JobId BIGINT IDENTITY (1, 1) NOT NULL,
        State CHAR(1) NOT NULL,
        ClaimToken UNIQUEIDENTIFIER NULL,
        LeaseUntil DATETIME2(3) NULL,
        ClaimedAt DATETIME2(3) NULL,
        AvailableAt DATETIME2(3) NOT NULL,
        EnqueuedAt DATETIME2(3) NOT NULL,
        Attempts INT NOT NULL CONSTRAINT DF_JobQueue_Attempts DEFAULT (0),
        MaxAttempts INT NOT NULL,
        LastError NVARCHAR(2000) NULL,
        FinishedAt DATETIME2(3) NULL,
        BusinessKey NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
        Payload NVARCHAR(2000) NOT NULL,
        CONSTRAINT PK_JobQueue PRIMARY KEY CLUSTERED (JobId),
        CONSTRAINT CK_JobQueue_State CHECK (State IN ('R', 'W', 'D', 'F')),
        CONSTRAINT CK_JobQueue_MaxAttempts CHECK (MaxAttempts > 0),
        -- A job in progress without an owner or an end of its lease could never be recovered.
        CONSTRAINT CK_JobQueue_Owner CHECK (State <> 'W' OR (ClaimToken IS NOT NULL AND LeaseUntil IS NOT NULL))
    );
GO
-- A claim walks it in order and stops at the first row that nobody has locked.
IF NOT EXISTS (
    SELECT 1
    FROM sys.indexes AS i
    WHERE i.object_id = OBJECT_ID(N'[$(SchemaName)].JobQueue') AND i.name = N'IX_JobQueue_Ready'
)
    CREATE NONCLUSTERED INDEX IX_JobQueue_Ready
        ON [$(SchemaName)].JobQueue (AvailableAt, JobId)
        INCLUDE (State)
        WHERE State = 'R';
GO
-- A recovery walks it from the lease that lapsed first.
IF NOT EXISTS (
    SELECT 1
    FROM sys.indexes AS i
    WHERE i.object_id = OBJECT_ID(N'[$(SchemaName)].JobQueue') AND i.name = N'IX_JobQueue_Leases'
)
    CREATE NONCLUSTERED INDEX IX_JobQueue_Leases
        ON [$(SchemaName)].JobQueue (LeaseUntil, JobId)
        INCLUDE (State)
        WHERE State = 'W';
GO
-- For the purge; contains no unfinished job.
IF NOT EXISTS (
    SELECT 1
    FROM sys.indexes AS i
    WHERE i.object_id = OBJECT_ID(N'[$(SchemaName)].JobQueue') AND i.name = N'IX_JobQueue_Finished'
)
    CREATE NONCLUSTERED INDEX IX_JobQueue_Finished
        ON [$(SchemaName)].JobQueue (State, FinishedAt)
        WHERE FinishedAt IS NOT NULL;
GO
IF NOT EXISTS (
    SELECT 1
    FROM sys.indexes AS i
    WHERE i.object_id = OBJECT_ID(N'[$(SchemaName)].JobQueue') AND i.name = N'UX_JobQueue_BusinessKey'
)
    CREATE UNIQUE NONCLUSTERED INDEX UX_JobQueue_BusinessKey
        ON [$(SchemaName)].JobQueue (BusinessKey)
        WHERE BusinessKey IS NOT NULL;
GO
-- For the exporter. It seeks every state but the finished one, including unknown states, which no filtered
-- index contains. All that a sample reads is included, so that it never touches the payloads; in return, a
-- heartbeat writes one more index row.
IF NOT EXISTS (
    SELECT 1
    FROM sys.indexes AS i
    WHERE i.object_id = OBJECT_ID(N'[$(SchemaName)].JobQueue') AND i.name = N'IX_JobQueue_State'
)
    CREATE NONCLUSTERED INDEX IX_JobQueue_State
        ON [$(SchemaName)].JobQueue (State)
        INCLUDE (LeaseUntil, ClaimedAt, AvailableAt, EnqueuedAt, Attempts, MaxAttempts);
GO
-- One row per attempt, written in the transaction that ended it. Outcome: ok, error, or lost when the
-- lease lapsed and the job was taken away. An attempt without a start was begun by hand,
-- not by a claim. No foreign key to the job: the two are purged separately.
IF OBJECT_ID(N'[$(SchemaName)].JobAttempt', N'U') IS NULL
    CREATE TABLE [$(SchemaName)].JobAttempt (
        AttemptId BIGINT IDENTITY (1, 1) NOT NULL,
        JobId BIGINT NOT NULL,
        Attempt INT NOT NULL,
        Outcome NVARCHAR(10) NOT NULL,
        EnqueuedAt DATETIME2(3) NOT NULL,
        StartedAt DATETIME2(3) NULL,
        EndedAt DATETIME2(3) NOT NULL,
        DurationMs BIGINT NULL,
        Message NVARCHAR(2000) NULL,
        CONSTRAINT PK_JobAttempt PRIMARY KEY CLUSTERED (AttemptId),
        CONSTRAINT CK_JobAttempt_Outcome CHECK (Outcome IN (N'ok', N'error', N'lost'))
    );
GO
