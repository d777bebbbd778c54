SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- The job is done, provided that the caller still owns it. Returns 0; or 2, with @RowsChanged 0, if
-- ownership was lost: the work may be running elsewhere, and that is never a success.
--
-- It may be part of the caller's transaction: what the work wrote to this database, the end of the job and
-- its history are then committed together or not at all. Roll back if it returns 2.
CREATE OR ALTER PROCEDURE [$(SchemaName)].CompleteJob
    @JobId BIGINT,
    @ClaimToken UNIQUEIDENTIFIER,
    @RowsChanged INT = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    -- An error between the two statements undoes both.
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @now DATETIME2(3) = SYSUTCDATETIME();
    DECLARE @ended TABLE (
        JobId BIGINT NOT NULL,
        Attempts INT NOT NULL,
        EnqueuedAt DATETIME2(3) NOT NULL,
        ClaimedAt DATETIME2(3) NULL
    );

    BEGIN TRANSACTION;

    UPDATE [$(SchemaName)].JobQueue WITH (ROWLOCK)
    SET
        State = 'D',
        LeaseUntil = NULL,
        FinishedAt = @now
    OUTPUT inserted.JobId, inserted.Attempts, inserted.EnqueuedAt, inserted.ClaimedAt
    INTO @ended (JobId, Attempts, EnqueuedAt, ClaimedAt)
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
        N'ok',
        e.EnqueuedAt,
        e.ClaimedAt,
        @now,
        CASE WHEN e.ClaimedAt > @now THEN 0 ELSE DATEDIFF_BIG(MILLISECOND, e.ClaimedAt, @now) END,
        NULL
    FROM @ended AS e;

    COMMIT TRANSACTION;

    IF @RowsChanged = 0
        RETURN 2;
    RETURN 0;
END;
GO
