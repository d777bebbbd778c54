SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- A new row at the end of the queue. In the caller's transaction, if there is one: the row is there for
-- others when it commits.
CREATE OR ALTER PROCEDURE [$(SchemaName)].EnqueueWork
    -- Longer than the column, so that what does not fit is refused and not cut.
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
