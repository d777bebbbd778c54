SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- Adds a row at the end of the queue. It is part of the caller's transaction, if there is one: others see
-- the row when it commits.
CREATE OR ALTER PROCEDURE [$(SchemaName)].EnqueueWork
    -- Longer than the column, so that a value that does not fit is refused instead of cut.
    @Payload NVARCHAR(MAX),
    @WorkId BIGINT = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    INSERT INTO [$(SchemaName)].WorkQueue (EnqueuedAt, Payload)
    VALUES (SYSUTCDATETIME(), @Payload);
    SET @WorkId = SCOPE_IDENTITY();
    RETURN 0;
END;
GO
