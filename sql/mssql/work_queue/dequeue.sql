SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- Takes the oldest row that no other transaction holds. Result set: WorkId, EnqueuedAt, Payload. From
-- now on others skip the row; the caller's commit removes it for good, and its rollback returns it to its
-- place. A transaction may take several rows. No row: nothing is free right now.
CREATE OR ALTER PROCEDURE [$(SchemaName)].DequeueWork
AS
BEGIN
    SET NOCOUNT ON;

    -- Without a transaction the row would be gone for good before the work has begun.
    IF @@TRANCOUNT = 0
        THROW 50003, 'DequeueWork: begin a transaction first. It keeps the row until the work is done.', 1;

    SET XACT_ABORT ON;
    -- READPAST is refused under SERIALIZABLE and SNAPSHOT, which the caller's transaction may use; the lock
    -- that the DELETE takes still lasts until its end.
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    -- Not straight to the client, which could receive a row of a DELETE that fails afterwards.
    DECLARE @taken TABLE (
        WorkId BIGINT NOT NULL,
        EnqueuedAt DATETIME2(3) NOT NULL,
        Payload NVARCHAR(2000) NULL
    );

    WITH candidate AS (
        SELECT TOP (1)
            w.WorkId,
            w.EnqueuedAt,
            w.Payload
        FROM [$(SchemaName)].WorkQueue AS w WITH (UPDLOCK, READPAST, READCOMMITTEDLOCK, ROWLOCK)
        ORDER BY w.WorkId
    )
    DELETE FROM candidate
    OUTPUT deleted.WorkId, deleted.EnqueuedAt, deleted.Payload
    INTO @taken (WorkId, EnqueuedAt, Payload);

    SELECT
        WorkId,
        EnqueuedAt,
        Payload
    FROM @taken;
    RETURN 0;
END;
GO
