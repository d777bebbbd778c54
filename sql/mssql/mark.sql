-- The last part of the installation: marks what it made with an extended property, by which the next
-- installation and the uninstallation tell it from objects of the same name.
DECLARE @kind VARCHAR(9);
DECLARE @name SYSNAME;
DECLARE unmarked CURSOR LOCAL STATIC FORWARD_ONLY READ_ONLY FOR
    SELECT
        w.ObjectKind,
        w.ObjectName
    FROM #sqlqueue_object AS w
    WHERE OBJECT_ID(N'[$(SchemaName)].' + QUOTENAME(w.ObjectName)) IS NOT NULL
        AND OBJECT_ID(N'[$(SchemaName)].' + QUOTENAME(w.ObjectName)) NOT IN (
            SELECT p.major_id
            FROM sys.extended_properties AS p
            WHERE p.class = 1 AND p.minor_id = 0 AND p.name = N'sqlqueue_exporter'
        );
OPEN unmarked;
FETCH NEXT FROM unmarked INTO @kind, @name;
WHILE @@FETCH_STATUS = 0
BEGIN
    EXEC sys.sp_addextendedproperty
        @name = N'sqlqueue_exporter',
        @value = N'1',
        @level0type = N'SCHEMA',
        @level0name = N'$(SchemaName)',
        @level1type = @kind,
        @level1name = @name;
    FETCH NEXT FROM unmarked INTO @kind, @name;
END;
CLOSE unmarked;
DEALLOCATE unmarked;
DROP TABLE #sqlqueue_object;
GO
