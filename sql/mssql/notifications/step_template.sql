-- A template for a step of a notification run, complete except for its query. It is not installed: copy it,
-- replace NotifySomething, N'something' and N'somethings' with your names, put your query at the TODO, run it,
-- and call it where run.sql says.
SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
CREATE OR ALTER PROCEDURE [$(SchemaName)].NotifySomething -- TODO: the name
    @Cap INT = 500
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT <> 0 OR (@@OPTIONS & 2) = 2
        THROW 50001, 'NotifySomething: end the transaction first, and turn implicit transactions off.', 1;
    IF @Cap IS NULL OR @Cap NOT BETWEEN 1 AND 2000
        THROW 50002, 'NotifySomething: @Cap must be between 1 and 2000.', 1;

    DECLARE @kind NVARCHAR(20) = N'something'; -- TODO: what the control table calls the event
    DECLARE @stepName NVARCHAR(50) = N'somethings'; -- TODO: what the run log calls the step

    DECLARE @startedAt DATETIME2(3) = SYSUTCDATETIME();
    DECLARE @found INT;
    DECLARE @outcome NVARCHAR(10) = N'ok';
    DECLARE @message NVARCHAR(2000);
    DECLARE @candidate TABLE (
        [Key] BIGINT NOT NULL,
        Key2 BIGINT NOT NULL,
        Subject NVARCHAR(200) NOT NULL,
        Recipient NVARCHAR(320) NOT NULL,
        PRIMARY KEY ([Key], Key2)
    );

    BEGIN TRY
        -- TODO: the events, each once, oldest first. Key2 is 0 unless one key has several events. Limit the
        -- query by a time or a flag that has an index, or it reads more with each run. NOT EXISTS leaves out
        -- what was announced; the unique key guarantees that nothing is announced twice.
        INSERT INTO @candidate ([Key], Key2, Subject, Recipient)
        SELECT TOP (@Cap)
            e.[Key],
            e.Key2,
            e.Subject,
            e.Recipient
        FROM (
            VALUES (CAST(1 AS BIGINT), CAST(0 AS BIGINT), N'Something happened', N'somebody@example.org')
        ) AS e([Key], Key2, Subject, Recipient)
        WHERE NOT EXISTS (
            SELECT 1
            FROM [$(SchemaName)].NotificationControl AS k
            WHERE k.Kind = @kind AND k.[Key] = e.[Key] AND k.Key2 = e.Key2
        )
        ORDER BY e.[Key], e.Key2;
        -- At once, because the next statement overwrites it.
        SET @found = @@ROWCOUNT;

        IF @found > 0
        BEGIN
            BEGIN TRANSACTION;

            INSERT INTO [$(SchemaName)].NotificationControl (Kind, [Key], Key2)
            SELECT
                @kind,
                c.[Key],
                c.Key2
            FROM @candidate AS c;

            INSERT INTO [$(SchemaName)].OutgoingMessage (Subject, Recipient)
            SELECT
                c.Subject,
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
        @Step = @stepName,
        @StartedAt = @startedAt,
        @Candidates = @found,
        @Outcome = @outcome,
        @Message = @message;
    RETURN 0;
END;
GO
