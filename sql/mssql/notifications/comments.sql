SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- The worked example of a step of a notification run: the newest comment on each item becomes one message.
-- Several comments between two runs become one message; the next comment becomes another.
--
-- A failure in here becomes this step's row in the log, not an error, so that the next step runs.
CREATE OR ALTER PROCEDURE [$(SchemaName)].NotifyComments
    -- The fuse against a mass mailing, after an import for example; the rest is left to the next runs.
    @Cap INT = 500
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    -- An error must roll back this step and nothing of the caller's.
    IF @@TRANCOUNT <> 0 OR (@@OPTIONS & 2) = 2
        THROW 50001, 'NotifyComments: end the transaction first, and turn implicit transactions off.', 1;
    -- Every message costs a lock, and from 5000 the server would lock the whole table.
    IF @Cap IS NULL OR @Cap NOT BETWEEN 1 AND 2000
        THROW 50002, 'NotifyComments: @Cap must be between 1 and 2000.', 1;

    DECLARE @startedAt DATETIME2(3) = SYSUTCDATETIME();
    DECLARE @found INT;
    DECLARE @outcome NVARCHAR(10) = N'ok';
    DECLARE @message NVARCHAR(2000);
    DECLARE @candidate TABLE (
        [Key] BIGINT NOT NULL,
        Key2 BIGINT NOT NULL,
        Recipient NVARCHAR(320) NOT NULL,
        PRIMARY KEY ([Key], Key2)
    );

    BEGIN TRY
        -- The search for events may take long and needs no transaction. Oldest first, so that the cap leaves
        -- nobody waiting forever.
        INSERT INTO @candidate ([Key], Key2, Recipient)
        SELECT TOP (@Cap)
            c.ItemId,
            c.CommentId,
            c.Recipient
        FROM [$(SchemaName)].Comment AS c
        WHERE NOT EXISTS (
                SELECT 1
                FROM [$(SchemaName)].Comment AS newer
                WHERE newer.ItemId = c.ItemId AND newer.CommentId > c.CommentId
            )
            AND NOT EXISTS (
                SELECT 1
                FROM [$(SchemaName)].NotificationControl AS k
                WHERE k.Kind = N'comment' AND k.[Key] = c.ItemId AND k.Key2 = c.CommentId
            )
        ORDER BY c.CommentId;
        -- At once, because the next statement overwrites it.
        SET @found = @@ROWCOUNT;

        IF @found > 0
        BEGIN
            BEGIN TRANSACTION;

            -- The control row comes first: a second one for the same event breaks the unique key, and
            -- then no message is written either.
            INSERT INTO [$(SchemaName)].NotificationControl (Kind, [Key], Key2)
            SELECT
                N'comment',
                c.[Key],
                c.Key2
            FROM @candidate AS c;

            INSERT INTO [$(SchemaName)].OutgoingMessage (Subject, Recipient)
            SELECT
                CONCAT(N'New comment on item ', c.[Key]),
                c.Recipient
            FROM @candidate AS c;

            COMMIT TRANSACTION;
        END;

        IF @found = @Cap
        BEGIN
            SET @outcome = N'warning';
            SET @message = CONCAT(N'warning: the cap of ', @Cap, N' notifications per run was reached');
        END;
    END TRY
    BEGIN CATCH
        -- Before anything is written: a doomed transaction cannot write to the log.
        IF XACT_STATE() <> 0
            ROLLBACK TRANSACTION;
        SET @outcome = N'error';
        SET @message = LEFT(CONCAT(N'error ', ERROR_NUMBER(), N': ', ERROR_MESSAGE()), 2000);
    END CATCH;

    EXEC [$(SchemaName)].LogRunStep
        @Step = N'comments',
        @StartedAt = @startedAt,
        @Candidates = @found,
        @Outcome = @outcome,
        @Message = @message;
    RETURN 0;
END;
GO
