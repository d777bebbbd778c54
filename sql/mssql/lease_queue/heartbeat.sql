SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- Extends the caller's own lease to @LeaseMs from now, under the same token. Returns 0; or 2, with
-- @RowsChanged 0, if ownership was lost and the caller must stop working.
CREATE OR ALTER PROCEDURE [$(SchemaName)].HeartbeatJob
    @JobId BIGINT,
    @ClaimToken UNIQUEIDENTIFIER,
    @LeaseMs BIGINT,
    @RowsChanged INT = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    -- In a transaction, others would see the old lease until its end, and wait for its lock.
    IF @@TRANCOUNT <> 0 OR (@@OPTIONS & 2) = 2
        THROW 50001, 'HeartbeatJob: end the transaction first, and turn implicit transactions off (autocommit on).', 1;
    IF @LeaseMs IS NULL OR @LeaseMs <= 0
        THROW 50002, 'HeartbeatJob: @LeaseMs must be more than 0.', 1;

    DECLARE @now DATETIME2(3) = SYSUTCDATETIME();

    UPDATE [$(SchemaName)].JobQueue WITH (ROWLOCK)
    SET LeaseUntil = DATEADD(MILLISECOND, @LeaseMs % 86400000, DATEADD(DAY, @LeaseMs / 86400000, @now))
    WHERE JobId = @JobId AND ClaimToken = @ClaimToken AND State = 'W';
    -- At once, because the next statement overwrites it.
    SET @RowsChanged = @@ROWCOUNT;

    IF @RowsChanged = 0
        RETURN 2;
    RETURN 0;
END;
GO
