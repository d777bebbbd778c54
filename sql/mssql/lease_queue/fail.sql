SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- The attempt failed: the job is ready again after @BackoffMs or, if its attempts are used up, failed for good
-- with the error. Returns 0; or 2, with @RowsChanged 0, if ownership was lost: the failure is no longer this
-- caller's to report.
--
-- Roll back what the work wrote before calling this, or the call is undone with it.
CREATE OR ALTER PROCEDURE [$(SchemaName)].FailJob
    @JobId BIGINT,
    @ClaimToken UNIQUEIDENTIFIER,
    -- Text that does not fit the column is cut off: a diagnosis must not be lost for being long.
    @Error NVARCHAR(MAX),
    @BackoffMs BIGINT,
    @RowsChanged INT = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    -- An error between the two statements undoes both.
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @BackoffMs IS NULL OR @BackoffMs < 0
        THROW 50002, 'FailJob: @BackoffMs must be 0 or more.', 1;

    DECLARE @now DATETIME2(3) = SYSUTCDATETIME();
    DECLARE @availableAt DATETIME2(3)
        = DATEADD(MILLISECOND, @BackoffMs % 86400000, DATEADD(DAY, @BackoffMs / 86400000, @now));
    DECLARE @diagnostic NVARCHAR(2000) = LEFT(ISNULL(@Error, N'no reason was given'), 2000);
    DECLARE @ended TABLE (
        JobId BIGINT NOT NULL,
        Attempts INT NOT NULL,
        EnqueuedAt DATETIME2(3) NOT NULL,
        ClaimedAt DATETIME2(3) NULL,
        LastError NVARCHAR(2000) NULL
    );

    BEGIN TRANSACTION;

    UPDATE [$(SchemaName)].JobQueue WITH (ROWLOCK)
    SET
        State = CASE WHEN Attempts >= MaxAttempts THEN 'F' ELSE 'R' END,
        AvailableAt = CASE WHEN Attempts >= MaxAttempts THEN AvailableAt ELSE @availableAt END,
        FinishedAt = CASE WHEN Attempts >= MaxAttempts THEN @now END,
        LastError = CASE
            WHEN Attempts >= MaxAttempts
                THEN LEFT(CONCAT(N'given up after ', Attempts, N' attempts: ', @diagnostic), 2000)
            ELSE @diagnostic
        END,
        ClaimToken = NULL,
        LeaseUntil = NULL
    OUTPUT inserted.JobId, inserted.Attempts, inserted.EnqueuedAt, inserted.ClaimedAt, inserted.LastError
    INTO @ended (JobId, Attempts, EnqueuedAt, ClaimedAt, LastError)
    WHERE JobId = @JobId AND ClaimToken = @ClaimToken AND State = 'W';
    -- At once, because the next statement overwrites it.
    SET @RowsChanged = @@ROWCOUNT;

    -- Nothing for an attempt that somebody else has already ended: the history has it. A clock
    -- that was set back in between makes the duration 0, not negative.
    INSERT INTO [$(SchemaName)].JobAttempt
        (JobId, Attempt, Outcome, EnqueuedAt, StartedAt, EndedAt, DurationMs, Message)
    SELECT
        e.JobId,
        e.Attempts,
        N'error',
        e.EnqueuedAt,
        e.ClaimedAt,
        @now,
        CASE WHEN e.ClaimedAt > @now THEN 0 ELSE DATEDIFF_BIG(MILLISECOND, e.ClaimedAt, @now) END,
        e.LastError
    FROM @ended AS e;

    COMMIT TRANSACTION;

    IF @RowsChanged = 0
        RETURN 2;
    RETURN 0;
END;
GO
