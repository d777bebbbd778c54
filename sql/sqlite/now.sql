-- The database's clock, in the format of every time column.
SELECT strftime('%Y-%m-%d %H:%M:%f', 'now');
