-- The database's clock, as every time column holds it.
SELECT strftime('%Y-%m-%d %H:%M:%f', 'now');
