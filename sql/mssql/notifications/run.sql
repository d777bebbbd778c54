SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- One notification run: every step once, even after one has failed. Call it on a schedule. A run that finds
-- another one in progress logs that it was skipped and ends. Returns 0; 1 if it was skipped; 2 if the lock
-- could not be requested.
--
-- The application lock belongs to the session, because a run is many short transactions. It is released on
-- every way out of here but one: if the client cancels the call, or its timeout does, no CATCH runs, and the
-- session keeps the lock until it is closed, its pool resets it, or it makes the next run. So give the call
-- no timeout.
CREATE OR ALTER PROCEDURE [$(SchemaName)].RunNotifications
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    -- The steps are transactions of their own, and logged rows must stay.
    IF @@TRANCOUNT <> 0 OR (@@OPTIONS & 2) = 2
        THROW 50001, 'RunNotifications: end the transaction first, and turn implicit transactions off.', 1;

    DECLARE @startedAt DATETIME2(3) = SYSUTCDATETIME();
    DECLARE @place INT = 0;
    DECLARE @finished BIT = 0;
    DECLARE @outcome NVARCHAR(10) = N'ok';
    DECLARE @message NVARCHAR(MAX);
    DECLARE @lock INT;
    DECLARE @released INT = 0;
    -- Everybody may see their own session's row.
    DECLARE @priority INT = ISNULL(
        (
            SELECT s.deadlock_priority
            FROM sys.dm_exec_sessions AS s
            WHERE s.session_id = @@SPID
        ),
        0
    );

    EXEC @lock = sys.sp_getapplock
        @Resource = N'notifications',
        @LockMode = 'Exclusive',
        @LockOwner = 'Session',
        @LockTimeout = 0;
    IF @lock = -1
    BEGIN
        EXEC [$(SchemaName)].LogRunStep
            @Step = N'run',
            @StartedAt = @startedAt,
            @Candidates = NULL,
            @Outcome = N'skipped',
            @Message = N'skipped: the previous run still holds the lock';
        RETURN 1;
    END;
    IF @lock < 0
    BEGIN
        -- This is not a skipped run: nobody knows whether another one is in progress.
        SET @message = CONCAT(N'error: sp_getapplock returned ', @lock);
        EXEC [$(SchemaName)].LogRunStep
            @Step = N'run',
            @StartedAt = @startedAt,
            @Candidates = NULL,
            @Outcome = N'error',
            @Message = @message;
        RETURN 2;
    END;

    -- From here to the release, everything that touches a table is in a procedure of its own: a missing table
    -- or column is caught one level up, never in the procedure that uses it.
    SET DEADLOCK_PRIORITY LOW;
    WHILE @finished = 0
    BEGIN
        SET @place += 1;
        BEGIN TRY
            IF @place = 1
                EXEC [$(SchemaName)].NotifyComments;
            -- Your steps go here: ELSE IF @place = 2 EXEC ..., and so on.
            ELSE
            BEGIN
                -- Before the call: its error must not lead back to it.
                SET @finished = 1;
                EXEC [$(SchemaName)].PurgeRunLog;
            END;
        END TRY
        BEGIN CATCH
            -- A step logs its own errors; this is one that it could not catch or log.
            IF XACT_STATE() <> 0
                ROLLBACK TRANSACTION;
            SET @outcome = N'error';
            SET @message = CONCAT(
                @message + N'; ',
                N'error ', ERROR_NUMBER(), N' at place ', @place, N' of the run: ', ERROR_MESSAGE()
            );
        END CATCH;
    END;

    -- Until it is free: a cancelled run of this session may have left the lock behind, and the lock must be
    -- released as often as it was taken.
    WHILE @released >= 0 AND APPLOCK_MODE(N'public', N'notifications', N'Session') <> N'NoLock'
        EXEC @released = sys.sp_releaseapplock @Resource = N'notifications', @LockOwner = 'Session';
    SET DEADLOCK_PRIORITY @priority;

    EXEC [$(SchemaName)].LogRunStep
        @Step = N'run',
        @StartedAt = @startedAt,
        @Candidates = NULL,
        @Outcome = @outcome,
        @Message = @message;
    RETURN 0;
END;
GO
