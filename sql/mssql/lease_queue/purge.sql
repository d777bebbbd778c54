SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- Deletes jobs that finished in @State (D or F) more than @KeepMs ago, oldest first, at most @Batch of
-- them. Repeat it until @RowsChanged is less than @Batch.
CREATE OR ALTER PROCEDURE [$(SchemaName)].PurgeJobs
    @State CHAR(1),
    @KeepMs BIGINT,
    @Batch INT = 1000,
    @RowsChanged INT = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @State IS NULL OR @State NOT IN ('D', 'F')
        THROW 50002, 'PurgeJobs: @State must be D or F.', 1;
    IF @KeepMs IS NULL OR @KeepMs < 0
        THROW 50002, 'PurgeJobs: @KeepMs must be 0 or more.', 1;
    -- A deleted row costs a lock on itself and at most one on its page in each index. From 5000 locks
    -- in one of them the server would lock the whole table instead.
    IF @Batch IS NULL OR @Batch NOT BETWEEN 1 AND 2000
        THROW 50002, 'PurgeJobs: @Batch must be between 1 and 2000.', 1;

    DECLARE @finishedBefore DATETIME2(3)
        = DATEADD(MILLISECOND, -(@KeepMs % 86400000), DATEADD(DAY, -(@KeepMs / 86400000), SYSUTCDATETIME()));

    WITH finished AS (
        SELECT TOP (@Batch) q.JobId
        FROM [$(SchemaName)].JobQueue AS q
            WITH (INDEX (IX_JobQueue_Finished), UPDLOCK, READPAST, READCOMMITTEDLOCK, ROWLOCK)
        WHERE q.State = @State AND q.FinishedAt IS NOT NULL AND q.FinishedAt < @finishedBefore
        ORDER BY q.FinishedAt, q.JobId
    )
    DELETE FROM finished;
    -- At once, because the next statement overwrites it.
    SET @RowsChanged = @@ROWCOUNT;
    RETURN 0;
END;
GO
-- Deletes attempts that ended more than @KeepMs ago, out of the @Batch oldest. Repeat it until
-- @RowsChanged is less than @Batch.
CREATE OR ALTER PROCEDURE [$(SchemaName)].PurgeJobAttempts
    @KeepMs BIGINT,
    @Batch INT = 1000,
    @RowsChanged INT = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @KeepMs IS NULL OR @KeepMs < 0
        THROW 50002, 'PurgeJobAttempts: @KeepMs must be 0 or more.', 1;
    IF @Batch IS NULL OR @Batch NOT BETWEEN 1 AND 2000
        THROW 50002, 'PurgeJobAttempts: @Batch must be between 1 and 2000.', 1;

    DECLARE @endedBefore DATETIME2(3)
        = DATEADD(MILLISECOND, -(@KeepMs % 86400000), DATEADD(DAY, -(@KeepMs / 86400000), SYSUTCDATETIME()));

    -- By the primary key, which follows the order of the ends except for attempts that end at the same time:
    -- so the history needs no second index.
    WITH oldest AS (
        SELECT TOP (@Batch)
            a.AttemptId,
            a.EndedAt
        FROM [$(SchemaName)].JobAttempt AS a WITH (UPDLOCK, READPAST, READCOMMITTEDLOCK, ROWLOCK)
        ORDER BY a.AttemptId
    )
    DELETE FROM oldest
    WHERE EndedAt < @endedBefore;
    -- At once, because the next statement overwrites it.
    SET @RowsChanged = @@ROWCOUNT;
    RETURN 0;
END;
GO
