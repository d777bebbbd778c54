-- The last part of the installation: marks what it made, all that was absent, with an extended property,
-- by which the next installation and the uninstallation tell it from objects of the same name.
DECLARE @kind VARCHAR(9);
DECLARE @name SYSNAME;
DECLARE unmarked CURSOR LOCAL STATIC FORWARD_ONLY READ_ONLY FOR
    SELECT
        w.ObjectKind,
        w.ObjectName
    FROM #sqlqueue_object AS w
    WHERE w.Standing = 'absent';
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
