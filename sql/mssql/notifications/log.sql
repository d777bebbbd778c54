SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- Writes one row of the run log: a step or a whole run that began at @StartedAt and ends now.
CREATE OR ALTER PROCEDURE [$(SchemaName)].LogRunStep
    @Step NVARCHAR(50),
    @StartedAt DATETIME2(3),
    @Candidates INT,
    @Outcome NVARCHAR(10),
    @Message NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now DATETIME2(3) = SYSUTCDATETIME();
    -- Nothing was done in a skipped run. A clock that was set back in between makes the duration
    -- 0, not negative.
    DECLARE @durationMs BIGINT
        = CASE
            WHEN @Outcome = N'skipped' OR @StartedAt > @now THEN 0
            ELSE DATEDIFF_BIG(MILLISECOND, @StartedAt, @now)
        END;

    INSERT INTO [$(SchemaName)].RunLog (Step, StartedAt, EndedAt, DurationMs, Candidates, Outcome, Message)
    VALUES (@Step, @StartedAt, @now, @durationMs, @Candidates, @Outcome, LEFT(@Message, 2000));
    RETURN 0;
END;
GO
-- The retention of the run log: rows that began more than @KeepMs ago (60 days), oldest first, at most
-- @MaxRows. A backlog takes several runs; no run pays for all of it.
CREATE OR ALTER PROCEDURE [$(SchemaName)].PurgeRunLog
    @KeepMs BIGINT = 5184000000,
    @MaxRows INT = 5000,
    @RowsChanged INT = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @KeepMs IS NULL OR @KeepMs < 0
        THROW 50002, 'PurgeRunLog: @KeepMs must be 0 or more.', 1;

    DECLARE @startedBefore DATETIME2(3)
        = DATEADD(MILLISECOND, -(@KeepMs % 86400000), DATEADD(DAY, -(@KeepMs / 86400000), SYSUTCDATETIME()));
    DECLARE @batch INT = 1;
    DECLARE @deleted INT = 1;

    SET @RowsChanged = 0;
    WHILE @deleted = @batch AND @RowsChanged < @MaxRows
    BEGIN
        -- Each batch is a transaction of its own. From 5000 locks in one statement the server would lock
        -- the whole table, and the runs and the exporter would wait for it.
        SET @batch = CASE WHEN @MaxRows - @RowsChanged < 1000 THEN @MaxRows - @RowsChanged ELSE 1000 END;
        WITH old AS (
            SELECT TOP (@batch) r.RunLogId
            FROM [$(SchemaName)].RunLog AS r
                WITH (INDEX (IX_RunLog_StartedAt), UPDLOCK, READPAST, READCOMMITTEDLOCK, ROWLOCK)
            WHERE r.StartedAt < @startedBefore
            ORDER BY r.StartedAt, r.RunLogId
        )
        DELETE FROM old;
        -- At once, because the next statement overwrites it.
        SET @deleted = @@ROWCOUNT;
        SET @RowsChanged += @deleted;
    END;
    RETURN 0;
END;
GO
