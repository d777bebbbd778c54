SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- Adds a job that is claimable after @DelayMs. Returns 0.
--
-- With a @BusinessKey the job is enqueued once: if the key already has a job, in whatever state, nothing is
-- added, @JobId is that job, and 1 is returned. So a call whose answer was lost can be repeated. It may be
-- part of the caller's transaction, and then waits for another open one that has enqueued the same key.
CREATE OR ALTER PROCEDURE [$(SchemaName)].EnqueueJob
    -- Longer than the column, so that a value that does not fit is refused instead of cut.
    @Payload NVARCHAR(MAX),
    @DelayMs BIGINT = 0,
    @MaxAttempts INT = 5,
    @BusinessKey NVARCHAR(201) = NULL,
    @JobId BIGINT = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    -- A key just enqueued by somebody else must not doom the caller's transaction.
    SET XACT_ABORT OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @DelayMs IS NULL OR @DelayMs < 0
        THROW 50002, 'EnqueueJob: @DelayMs must be 0 or more.', 1;
    IF DATALENGTH(@BusinessKey) > 400
        THROW 50002, 'EnqueueJob: @BusinessKey has at most 200 characters.', 1;

    DECLARE @now DATETIME2(3) = SYSUTCDATETIME();
    -- In days and the rest, because DATEADD takes no BIGINT.
    DECLARE @availableAt DATETIME2(3)
        = DATEADD(MILLISECOND, @DelayMs % 86400000, DATEADD(DAY, @DelayMs / 86400000, @now));
    DECLARE @tries INT = 0;

    SET @JobId = NULL;
    WHILE @JobId IS NULL
    BEGIN
        -- Reads what is committed now, even where the database would return an older version.
        SELECT @JobId = q.JobId
        FROM [$(SchemaName)].JobQueue AS q WITH (READCOMMITTEDLOCK)
        WHERE q.BusinessKey = @BusinessKey AND q.BusinessKey IS NOT NULL;
        IF @JobId IS NOT NULL
            RETURN 1;

        BEGIN TRY
            INSERT INTO [$(SchemaName)].JobQueue
                (State, AvailableAt, EnqueuedAt, Attempts, MaxAttempts, BusinessKey, Payload)
            VALUES ('R', @availableAt, @now, 0, @MaxAttempts, @BusinessKey, @Payload);
            SET @JobId = SCOPE_IDENTITY();
        END TRY
        BEGIN CATCH
            -- Somebody else was faster with this key (2601; 2627 where the index is a constraint), and the
            -- next round finds that job. Not forever: a purge might remove it each time.
            SET @tries += 1;
            IF ERROR_NUMBER() NOT IN (2601, 2627) OR XACT_STATE() = -1 OR @tries = 3
                THROW;
        END CATCH;
    END;
    RETURN 0;
END;
GO
