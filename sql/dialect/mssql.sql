{#- Transact-SQL of SQL Server 2016 SP1 or newer, and Azure SQL.

    The statements in sql/sample/ are written once; what differs between the databases is a macro
    here and its twin in sqlite.sql. A comment like this one is never sent. -#}
{%- from "sample/stored_time.sql" import stored -%}

{#- What each statement begins with, so that it is safe wherever it is pasted: it gives up on a
    lock instead of queueing behind it, it is the victim of any deadlock it takes part in, and it
    reads committed rows only. -#}
{%- macro guard(lock_timeout_ms) -%}
SET LOCK_TIMEOUT {{ lock_timeout_ms }};
SET DEADLOCK_PRIORITY LOW;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
{% endmacro -%}

{#- How rows that somebody has locked are read: `read_mode`, of the target. READPAST leaves them out,
    which is what a worker would be given; READCOMMITTEDLOCK is required beside it when the database
    has READ_COMMITTED_SNAPSHOT on. Without a hint they are waited for, or read in their last committed
    version where the database keeps one. Never NOLOCK: it reads what was never committed. -#}
{%- macro hints() -%}
{%- if read_mode == "readpast" %} WITH (READPAST, READCOMMITTEDLOCK){% endif -%}
{%- endmacro -%}

{#- One processor, however large the table. -#}
{%- macro options() %}
OPTION (MAXDOP 1){% endmacro -%}

{%- macro top(rows) %} TOP ({{ rows }}){% endmacro -%}
{%- macro limit(rows) %}{% endmacro -%}

{#- The join that takes the rows on its left one by one, and seeks what belongs to each. -#}
{%- macro join_each() -%}
INNER LOOP JOIN
{%- endmacro -%}

{#- The server's clock, in milliseconds since 1970-01-01T00:00:00Z. DATEDIFF_BIG, because DATEDIFF
    overflows after 24.8 days of milliseconds. -#}
{%- macro now_ms() -%}
DATEDIFF_BIG(MILLISECOND, '1970-01-01T00:00:00', SYSUTCDATETIME())
{%- endmacro -%}

{#- A stored time in milliseconds since 1970-01-01T00:00:00Z. `server` takes the server's present
    offset, which is off by one hour for rows written on the other side of a clock change; a named
    zone takes the offset of the row's own date. A whole number that is no INT is a NUMERIC here, whose
    division leaves a fraction, unless it is cast. -#}
{%- macro epoch_ms(time) -%}
{{ converted(time, stored(time)) }}
{%- endmacro -%}

{#- The same, NULL where a column of text holds no time. A time without an offset is one at UTC then. -#}
{%- macro known_epoch_ms(time) -%}
{%- if time.encoding != "native" -%}
{%- set type = "BIGINT" -%}
{%- elif time.zone in ["server", "named"] -%}
{%- set type = "DATETIME2" -%}
{%- else -%}
{%- set type = "DATETIMEOFFSET" -%}
{%- endif -%}
{{ converted(time, "TRY_CAST(" ~ stored(time) ~ " AS " ~ type ~ ")") }}
{%- endmacro -%}

{%- macro converted(time, value) -%}
{%- if time.encoding == "unix_s" -%}
CAST({{ value }} AS BIGINT) * 1000
{%- elif time.encoding == "unix_ms" -%}
CAST({{ value }} AS BIGINT)
{%- elif time.encoding == "dotnet_ticks" -%}
(CAST({{ value }} AS BIGINT) - CAST(621355968000000000 AS BIGINT)) / 10000
{%- elif time.zone == "offset" -%}
DATEDIFF_BIG(MILLISECOND, '1970-01-01T00:00:00', CAST(SWITCHOFFSET({{ value }}, '+00:00') AS DATETIME2(3)))
{%- elif time.zone == "server" -%}
DATEDIFF_BIG(MILLISECOND, '1970-01-01T00:00:00', {{ value }}) - DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) * 60000
{%- elif time.zone == "named" -%}
DATEDIFF_BIG(MILLISECOND, '1970-01-01T00:00:00', CAST({{ value }} AT TIME ZONE {{ time.zone_name }} AT TIME ZONE 'UTC' AS DATETIME2(3)))
{%- else -%}
DATEDIFF_BIG(MILLISECOND, '1970-01-01T00:00:00', {{ value }})
{%- endif -%}
{%- endmacro -%}

{#- NULL as one of several ranges of an index. -#}
{%- macro null_range(column) -%}
{{ column }} IS NULL
{%- endmacro -%}

{%- macro bigint(expression) -%}
CAST({{ expression }} AS BIGINT)
{%- endmacro -%}

{#- The server has types, and refuses what is not of a column's own. -#}
{%- macro number(column) -%}
{{ bigint(column) }}
{%- endmacro -%}
{%- macro id_number(expression, column) -%}
{{ bigint(expression) }}
{%- endmacro -%}

{#- Label values are cut, so that a result row has a known width. -#}
{%- macro text(expression) -%}
CAST({{ expression }} AS NVARCHAR(200))
{%- endmacro -%}

{%- macro count() -%}
COUNT_BIG(*)
{%- endmacro -%}

{#- How many rows of the table are committed, claimed ones included: read from row versions where
    the database keeps them, so that nothing waits for a worker's lock, and left NULL elsewhere.
    Less what READPAST sees, these are the rows in flight. The database is the table's own, which
    need not be the one that the session is in. -#}
{%- macro committed_rows_prelude(table, predicate, database) -%}
DECLARE @committed_rows BIGINT;
IF EXISTS (SELECT 1 FROM sys.databases WHERE database_id = DB_ID({{ database or "" }}) AND is_read_committed_snapshot_on = 1)
    SELECT @committed_rows = COUNT_BIG(*) FROM {{ table }} AS t{{ predicate }} OPTION (MAXDOP 1);
ELSE IF EXISTS (SELECT 1 FROM sys.databases WHERE database_id = DB_ID({{ database or "" }}) AND snapshot_isolation_state = 1)
BEGIN
    SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
    SELECT @committed_rows = COUNT_BIG(*) FROM {{ table }} AS t{{ predicate }} OPTION (MAXDOP 1);
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
END;
{% endmacro -%}
{%- macro committed_rows() -%}
@committed_rows
{%- endmacro -%}

{#- 1 when somebody holds the application lock, 0 when it is free. A session lock, as
    sp_getapplock takes it for a run. -#}
{%- macro lock_held(resource) -%}
1 - APPLOCK_TEST('public', {{ resource }}, 'Exclusive', 'Session')
{%- endmacro -%}

{#- Whether the login has a role of the database or of the server; a role that there is not is NULL. -#}
{%- macro has_role(role) -%}
COALESCE(IS_ROLEMEMBER({{ role }}), 0) = 1 OR COALESCE(IS_SRVROLEMEMBER({{ role }}), 0) = 1
{%- endmacro -%}

{#- What an index holds beside its key, so that a row which it finds need not be looked up in the table. -#}
{%- macro include(columns) -%}
{%- if columns %} INCLUDE ({{ columns | join(", ") }}){% endif -%}
{%- endmacro -%}

{#- The key columns of each usable index of a table that holds all its rows. -#}
{%- macro index_keys(catalog) -%}
SELECT i.name AS index_name, c.name AS column_name, k.key_ordinal AS place
    FROM {{ catalog.prefix }}sys.indexes AS i
        JOIN {{ catalog.prefix }}sys.index_columns AS k
            ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.key_ordinal > 0
        JOIN {{ catalog.prefix }}sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
    WHERE i.object_id = OBJECT_ID({{ catalog.object }}) AND i.is_disabled = 0 AND i.has_filter = 0
{%- endmacro -%}
