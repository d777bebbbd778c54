SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- Takes lapsed leases from their owners, at most @Batch of them: back to ready, or failed for good when
-- the attempts are used up. Result set: JobId, State. @GraceMs is how long a lapsed lease is left alone. Run
-- it on a schedule, several times within a lease.
--
-- The token is voided, so that an owner that wakes up late changes nothing. It is one conditional statement:
-- a heartbeat that arrives first keeps its job, and a job whose owner is just reporting is skipped.
CREATE OR ALTER PROCEDURE [$(SchemaName)].RecoverJobs
    @GraceMs BIGINT = 0,
    @Batch INT = 500,
    @RowsChanged INT = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    -- An error between the two statements undoes both.
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @GraceMs IS NULL OR @GraceMs < 0
        THROW 50002, 'RecoverJobs: @GraceMs must be 0 or more.', 1;
    -- More rows could make the server lock the whole table.
    IF @Batch IS NULL OR @Batch NOT BETWEEN 1 AND 2000
        THROW 50002, 'RecoverJobs: @Batch must be between 1 and 2000.', 1;

    DECLARE @now DATETIME2(3) = SYSUTCDATETIME();
    DECLARE @lapsedBefore DATETIME2(3)
        = DATEADD(MILLISECOND, -(@GraceMs % 86400000), DATEADD(DAY, -(@GraceMs / 86400000), @now));
    DECLARE @ended TABLE (
        JobId BIGINT NOT NULL,
        State CHAR(1) NOT NULL,
        Attempts INT NOT NULL,
        EnqueuedAt DATETIME2(3) NOT NULL,
        ClaimedAt DATETIME2(3) NULL,
        LastError NVARCHAR(2000) NULL
    );

    BEGIN TRANSACTION;

    -- READPAST because the owner of a locked job is just reporting: waiting for it would be a deadlock, as the
    -- owner comes from the row and this statement from the index.
    WITH lapsed AS (
        SELECT TOP (@Batch)
            q.JobId,
            q.State,
            q.ClaimToken,
            q.LeaseUntil,
            q.ClaimedAt,
            q.AvailableAt,
            q.EnqueuedAt,
            q.Attempts,
            q.MaxAttempts,
            q.LastError,
            q.FinishedAt
        FROM [$(SchemaName)].JobQueue AS q
            WITH (INDEX (IX_JobQueue_Leases), UPDLOCK, READPAST, READCOMMITTEDLOCK, ROWLOCK)
        WHERE q.State = 'W' AND q.LeaseUntil < @lapsedBefore
        ORDER BY q.LeaseUntil, q.JobId
    )
    UPDATE lapsed
    SET
        State = CASE WHEN Attempts >= MaxAttempts THEN 'F' ELSE 'R' END,
        AvailableAt = CASE WHEN Attempts >= MaxAttempts THEN AvailableAt ELSE @now END,
        FinishedAt = CASE WHEN Attempts >= MaxAttempts THEN @now END,
        LastError = CONCAT(
            N'lease lapsed at ', CONVERT(NVARCHAR(23), LeaseUntil, 121),
            N' in attempt ', Attempts, N' of ', MaxAttempts
        ),
        ClaimToken = NULL,
        LeaseUntil = NULL
    OUTPUT
        inserted.JobId, inserted.State, inserted.Attempts, inserted.EnqueuedAt, inserted.ClaimedAt,
        inserted.LastError
    INTO @ended (JobId, State, Attempts, EnqueuedAt, ClaimedAt, LastError);
    -- At once, because the next statement overwrites it.
    SET @RowsChanged = @@ROWCOUNT;

    -- A clock that was set back in between makes the duration 0, not negative.
    INSERT INTO [$(SchemaName)].JobAttempt
        (JobId, Attempt, Outcome, EnqueuedAt, StartedAt, EndedAt, DurationMs, Message)
    SELECT
        e.JobId,
        e.Attempts,
        N'lost',
        e.EnqueuedAt,
        e.ClaimedAt,
        @now,
        CASE WHEN e.ClaimedAt > @now THEN 0 ELSE DATEDIFF_BIG(MILLISECOND, e.ClaimedAt, @now) END,
        e.LastError
    FROM @ended AS e;

    COMMIT TRANSACTION;

    SELECT
        JobId,
        State
    FROM @ended
    ORDER BY JobId;
    RETURN 0;
END;
GO
