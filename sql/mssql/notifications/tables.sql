-- Notifications: one message per event, and a log of each run. Times are UTC, by the database's clock.
SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- The events of the worked example. Yours are in your own tables.
IF OBJECT_ID(N'[$(SchemaName)].Comment', N'U') IS NULL
    CREATE TABLE [$(SchemaName)].Comment (
        CommentId BIGINT IDENTITY (1, 1) NOT NULL,
        ItemId BIGINT NOT NULL,
        Author NVARCHAR(100) NOT NULL,
        Recipient NVARCHAR(320) NOT NULL,
        CONSTRAINT PK_Comment PRIMARY KEY CLUSTERED (CommentId)
    );
GO
-- The newest comment on an item is the last one in its range.
IF NOT EXISTS (
    SELECT 1
    FROM sys.indexes AS i
    WHERE i.object_id = OBJECT_ID(N'[$(SchemaName)].Comment') AND i.name = N'IX_Comment_ItemId'
)
    CREATE NONCLUSTERED INDEX IX_Comment_ItemId
        ON [$(SchemaName)].Comment (ItemId, CommentId)
        INCLUDE (Recipient);
GO
-- One row per event; the unique key limits each event to one message. [Key] is the business key; Key2
-- distinguishes several events of one key, and is 0 otherwise. A row must stay for as long as its event does,
-- or the event would be announced again.
IF OBJECT_ID(N'[$(SchemaName)].NotificationControl', N'U') IS NULL
    CREATE TABLE [$(SchemaName)].NotificationControl (
        NotificationId BIGINT IDENTITY (1, 1) NOT NULL,
        Kind NVARCHAR(20) NOT NULL,
        [Key] BIGINT NOT NULL,
        Key2 BIGINT NOT NULL CONSTRAINT DF_NotificationControl_Key2 DEFAULT (0),
        CreatedAt DATETIME2(3) NOT NULL CONSTRAINT DF_NotificationControl_CreatedAt DEFAULT (SYSUTCDATETIME()),
        CONSTRAINT PK_NotificationControl PRIMARY KEY CLUSTERED (NotificationId),
        CONSTRAINT UQ_NotificationControl UNIQUE NONCLUSTERED (Kind, [Key], Key2)
    );
GO
-- Messages that your mailer sends and deletes. A message is here once; its delivery is up to the mailer.
IF OBJECT_ID(N'[$(SchemaName)].OutgoingMessage', N'U') IS NULL
    CREATE TABLE [$(SchemaName)].OutgoingMessage (
        MessageId BIGINT IDENTITY (1, 1) NOT NULL,
        Subject NVARCHAR(200) NOT NULL,
        Recipient NVARCHAR(320) NOT NULL,
        CONSTRAINT PK_OutgoingMessage PRIMARY KEY CLUSTERED (MessageId)
    );
GO
-- One row per step and one (Step 'run') per run, written when it has ended.
IF OBJECT_ID(N'[$(SchemaName)].RunLog', N'U') IS NULL
    CREATE TABLE [$(SchemaName)].RunLog (
        RunLogId BIGINT IDENTITY (1, 1) NOT NULL,
        Step NVARCHAR(50) NOT NULL,
        StartedAt DATETIME2(3) NOT NULL,
        EndedAt DATETIME2(3) NOT NULL,
        DurationMs BIGINT NOT NULL,
        Candidates INT NULL,
        Outcome NVARCHAR(10) NOT NULL,
        Message NVARCHAR(2000) NULL,
        CONSTRAINT PK_RunLog PRIMARY KEY CLUSTERED (RunLogId),
        CONSTRAINT CK_RunLog_Outcome CHECK (Outcome IN (N'ok', N'warning', N'error', N'skipped'))
    );
GO
-- For the retention.
IF NOT EXISTS (
    SELECT 1
    FROM sys.indexes AS i
    WHERE i.object_id = OBJECT_ID(N'[$(SchemaName)].RunLog') AND i.name = N'IX_RunLog_StartedAt'
)
    CREATE NONCLUSTERED INDEX IX_RunLog_StartedAt ON [$(SchemaName)].RunLog (StartedAt);
GO
