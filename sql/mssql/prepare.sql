-- The first part of the installation: checks that this is the right place and that it is free.
--
-- Azure has version numbers of its own and always has what is needed.
IF CAST(SERVERPROPERTY('EngineEdition') AS INT) BETWEEN 1 AND 4
AND (
    ISNULL(CAST(SERVERPROPERTY('ProductMajorVersion') AS INT), 0) < 13
    OR CAST(SERVERPROPERTY('ProductMajorVersion') AS INT) = 13
    AND CAST(SERVERPROPERTY('ProductBuild') AS INT) < 4001
)
    THROW 50010, 'This server is too old: it takes SQL Server 2016 SP1 or newer.', 1;
GO
IF DB_NAME() IN (N'master', N'model', N'msdb', N'tempdb')
    THROW 50011, 'This is a system database. Choose one of your own: sqlcmd -d DATABASE.', 1;
GO
-- Without this check, CREATE OR ALTER would replace somebody else's procedure. What was created here is
-- marked with an extended property.
DECLARE @foreign SYSNAME = (
    SELECT MIN(w.ObjectName)
    FROM #sqlqueue_object AS w
    WHERE w.Standing = 'foreign'
);
IF @foreign IS NOT NULL
BEGIN
    DECLARE @refusal NVARCHAR(2048) = CONCAT(
        N'Nothing was installed: $(SchemaName).', @foreign, N' is there already and was not made by this ',
        N'installation. Rename it, or choose another schema: sqlcmd -v SchemaName=SCHEMA.'
    );
    THROW 50012, @refusal, 1;
END;
GO
IF SCHEMA_ID(N'$(SchemaName)') IS NULL
BEGIN
    -- In a batch of its own: CREATE SCHEMA must be its first statement.
    EXEC (N'CREATE SCHEMA [$(SchemaName)]');
    EXEC sys.sp_addextendedproperty
        @name = N'sqlqueue_exporter',
        @value = N'1',
        @level0type = N'SCHEMA',
        @level0name = N'$(SchemaName)';
END;
GO
