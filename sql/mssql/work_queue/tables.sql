-- The transactional queue: a consumer deletes the row in its own transaction. A rollback returns it,
-- and finished work leaves nothing behind. Times are UTC.
SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
IF OBJECT_ID(N'[$(SchemaName)].WorkQueue', N'U') IS NULL
    CREATE TABLE [$(SchemaName)].WorkQueue (
        WorkId BIGINT IDENTITY (1, 1) NOT NULL,
        EnqueuedAt DATETIME2(3) NOT NULL,
        Payload NVARCHAR(2000) NULL,
        CONSTRAINT PK_WorkQueue PRIMARY KEY CLUSTERED (WorkId)
    );
GO
