-- Removes what install.sql created in the schema, with all rows. Running it again changes nothing.
--
--     cd sql/mssql
--     sqlcmd -S SERVER -d DATABASE -b -v SchemaName=dbo -i uninstall.sql
--
-- It is one transaction. It refuses to run if the schema has an object with one of these names that
-- install.sql did not create, or if somebody else's object depends on one of ours (a foreign key). The schema
-- is removed if install.sql created it and nothing else is in it.
:on error exit
SET XACT_ABORT ON;
GO
:r objects.sql
DECLARE @foreign SYSNAME = (
    SELECT MIN(w.ObjectName)
    FROM #sqlqueue_object AS w
    WHERE w.Standing = 'foreign'
);
IF @foreign IS NOT NULL
BEGIN
    DECLARE @refusal NVARCHAR(2048) = CONCAT(
        N'Nothing was removed: $(SchemaName).', @foreign, N' was not made by install.sql. ',
        N'Rename or remove it yourself, or name the schema of the installation: sqlcmd -v SchemaName=SCHEMA.'
    );
    THROW 50012, @refusal, 1;
END;

DECLARE @removed INT = 0;
DECLARE @statement NVARCHAR(MAX);
DECLARE installed CURSOR LOCAL STATIC FORWARD_ONLY READ_ONLY FOR
    SELECT N'DROP ' + w.ObjectKind + N' [$(SchemaName)].' + QUOTENAME(w.ObjectName)
    FROM #sqlqueue_object AS w
    WHERE w.Standing = 'ours'
    ORDER BY w.ObjectKind;

BEGIN TRANSACTION;
OPEN installed;
FETCH NEXT FROM installed INTO @statement;
WHILE @@FETCH_STATUS = 0
BEGIN
    EXEC (@statement);
    SET @removed += 1;
    FETCH NEXT FROM installed INTO @statement;
END;
CLOSE installed;
DEALLOCATE installed;

IF EXISTS (
    SELECT 1
    FROM sys.extended_properties AS p
    WHERE p.class = 3 AND p.major_id = SCHEMA_ID(N'$(SchemaName)') AND p.name = N'sqlqueue_exporter'
)
BEGIN
    IF EXISTS (
        SELECT 1
        FROM sys.objects AS o
        WHERE o.schema_id = SCHEMA_ID(N'$(SchemaName)')
    )
    OR EXISTS (
        SELECT 1
        FROM sys.types AS t
        WHERE t.schema_id = SCHEMA_ID(N'$(SchemaName)')
    )
        PRINT 'The schema $(SchemaName) stays: something else is in it.';
    ELSE
        EXEC (N'DROP SCHEMA [$(SchemaName)]');
END;
COMMIT TRANSACTION;

DROP TABLE #sqlqueue_object;
PRINT CONCAT(@removed, N' objects were removed from $(SchemaName).');
GO
