-- Creates a user for the exporter, and its login, unless they exist. Run permissions.sql after it.
--
--     cd sql/mssql
--     export ExporterPassword='...'
--     sqlcmd -S SERVER -d DATABASE -b -v SchemaName=dbo ExporterUser=sqlqueue -i login.sql
--
-- sqlcmd also takes variables from the environment, so that no command line contains the password. Double a
-- single quote in it. An existing user is left as it is. Create the user of a Windows or Entra account by
-- hand:
--
--     CREATE USER [sqlqueue] FOR LOGIN [DOMAIN\sqlqueue] WITH DEFAULT_SCHEMA = [dbo];
--     CREATE USER [sqlqueue] FROM EXTERNAL PROVIDER WITH DEFAULT_SCHEMA = [dbo];
--
-- The default schema is that of the installation, because the presets name their tables without one.
:on error exit
DECLARE @password NVARCHAR(300) = REPLACE(N'$(ExporterPassword)', N'''', N'''''');
DECLARE @statement NVARCHAR(MAX);

IF DATABASE_PRINCIPAL_ID(N'$(ExporterUser)') IS NULL
BEGIN
    -- On Azure SQL Database and in a contained database the user has the password and needs no login, so
    -- that it is the same on every replica.
    IF CAST(SERVERPROPERTY('EngineEdition') AS INT) = 5
    OR EXISTS (
        SELECT 1
        FROM sys.databases AS d
        WHERE d.database_id = DB_ID() AND d.containment = 1
    )
    BEGIN
        SET @statement = CONCAT(
            N'CREATE USER [$(ExporterUser)] WITH PASSWORD = N''', @password,
            N''', DEFAULT_SCHEMA = [$(SchemaName)];'
        );
        EXEC (@statement);
    END;
    ELSE
    BEGIN
        -- It may already exist, for another database on the same server.
        IF SUSER_ID(N'$(ExporterUser)') IS NULL
        BEGIN
            SET @statement = CONCAT(N'CREATE LOGIN [$(ExporterUser)] WITH PASSWORD = N''', @password, N''';');
            EXEC (@statement);
        END;
        EXEC (N'CREATE USER [$(ExporterUser)] FOR LOGIN [$(ExporterUser)] WITH DEFAULT_SCHEMA = [$(SchemaName)];');
    END;
END;
GO
