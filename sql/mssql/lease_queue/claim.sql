SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
GO
-- Claims at most @Batch jobs for @LeaseMs: those that have been claimable longest and that nobody has
-- locked. Result set: JobId, ClaimToken, Attempts (this claim included), Payload.
--
-- No row means that nothing was claimable at this attempt, not that nothing is left to do: pause, then ask
-- again. The claim is committed when this returns; the work follows, outside any transaction.
--
-- A ready job whose attempts are used up is not skipped: if somebody made it ready again by hand, it gets one
-- more attempt, and if that fails it goes back to F.
CREATE OR ALTER PROCEDURE [$(SchemaName)].ClaimJobs
    @LeaseMs BIGINT,
    @Batch INT = 1
AS
BEGIN
    SET NOCOUNT ON;

    -- In a transaction, nobody would see the claim until the work is done, it would be undone with the work,
    -- and it would keep its locks for as long. INSERT ... EXEC counts as one too.
    IF @@TRANCOUNT <> 0 OR (@@OPTIONS & 2) = 2
        THROW 50001, 'ClaimJobs: end the transaction first, and turn implicit transactions off (autocommit on).', 1;
    IF @LeaseMs IS NULL OR @LeaseMs <= 0
        THROW 50002, 'ClaimJobs: @LeaseMs must be more than 0.', 1;
    -- More rows could make the server lock the whole table, which no other worker could skip.
    IF @Batch IS NULL OR @Batch NOT BETWEEN 1 AND 2000
        THROW 50002, 'ClaimJobs: @Batch must be between 1 and 2000.', 1;

    SET XACT_ABORT ON;
    -- READPAST is refused under SERIALIZABLE and SNAPSHOT, which a pooled connection may still use.
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @now DATETIME2(3) = SYSUTCDATETIME();
    DECLARE @leaseUntil DATETIME2(3)
        = DATEADD(MILLISECOND, @LeaseMs % 86400000, DATEADD(DAY, @LeaseMs / 86400000, @now));
    -- Not straight to the client, which could receive rows of an UPDATE that fails afterwards.
    DECLARE @claimed TABLE (
        JobId BIGINT NOT NULL,
        ClaimToken UNIQUEIDENTIFIER NOT NULL,
        Attempts INT NOT NULL,
        AvailableAt DATETIME2(3) NOT NULL,
        Payload NVARCHAR(2000) NOT NULL
    );

    -- Choosing a job and owning it are one statement. UPDLOCK keeps a second worker from choosing the
    -- same row, READPAST sends it on to the next one, READCOMMITTEDLOCK takes locks where the
    -- database would read row versions, and ROWLOCK keeps to locks that can be skipped. The index is named
    -- because any other plan may lock every ready job before it sorts them.
    WITH candidate AS (
        SELECT TOP (@Batch)
            q.JobId,
            q.State,
            q.ClaimToken,
            q.LeaseUntil,
            q.ClaimedAt,
            q.Attempts,
            q.AvailableAt,
            q.Payload
        FROM [$(SchemaName)].JobQueue AS q
            WITH (INDEX (IX_JobQueue_Ready), UPDLOCK, READPAST, READCOMMITTEDLOCK, ROWLOCK)
        WHERE q.State = 'R' AND q.AvailableAt <= @now
        ORDER BY q.AvailableAt, q.JobId
    )
    UPDATE candidate
    SET
        State = 'W',
        ClaimToken = NEWID(),
        LeaseUntil = @leaseUntil,
        ClaimedAt = @now,
        Attempts = Attempts + 1
    OUTPUT inserted.JobId, inserted.ClaimToken, inserted.Attempts, inserted.AvailableAt, inserted.Payload
    INTO @claimed (JobId, ClaimToken, Attempts, AvailableAt, Payload);

    SELECT
        JobId,
        ClaimToken,
        Attempts,
        Payload
    FROM @claimed
    ORDER BY AvailableAt, JobId;
    RETURN 0;
END;
GO
