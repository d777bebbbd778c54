SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- Makes a failed job ready again, once its cause has been fixed. Returns 0; or 3, with @RowsChanged 0, if the
-- job is not in the failed state.
--
-- It gets @MoreAttempts attempts, or else as many as it has been allowed so far. Its count of attempts
-- does not change, because the history has it too.
CREATE OR ALTER PROCEDURE [$(SchemaName)].RequeueJob
    @JobId BIGINT,
    @MoreAttempts INT = NULL,
    @RowsChanged INT = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @MoreAttempts <= 0
        THROW 50002, 'RequeueJob: @MoreAttempts must be more than 0.', 1;

    UPDATE [$(SchemaName)].JobQueue WITH (ROWLOCK)
    SET
        State = 'R',
        AvailableAt = SYSUTCDATETIME(),
        FinishedAt = NULL,
        MaxAttempts = Attempts + ISNULL(@MoreAttempts, MaxAttempts)
    WHERE JobId = @JobId AND State = 'F';
    -- At once, because the next statement overwrites it.
    SET @RowsChanged = @@ROWCOUNT;

    IF @RowsChanged = 0
        RETURN 3;
    RETURN 0;
END;
GO
