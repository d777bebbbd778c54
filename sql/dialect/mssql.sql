{#- Transact-SQL of SQL Server 2016 SP1 or newer, and Azure SQL.

    The statements in sql/sample/ are written once; what differs between the databases is a macro here
    and its twin in sqlite.sql. Nothing is quoted by hand: a filter turns what the configuration says
    into SQL. `ident` and `column` quote names, `literal` makes a text constant, and a value that no
    filter has seen is refused. `"..." | safe` marks a piece of SQL as written here. Comments like this
    one are never sent. -#}
{%- from "sample/stored_time.sql" import stored -%}

{#- The type of counts, ids and milliseconds. -#}
{%- set bigint = "BIGINT" | safe -%}

{#- The beginning of every statement, which makes it safe wherever it is pasted: it gives up on a lock
    instead of queueing behind it, loses every deadlock, and reads committed rows only. -#}
{%- macro guard(lock_timeout_ms) -%}
SET LOCK_TIMEOUT {{ lock_timeout_ms }};
SET DEADLOCK_PRIORITY LOW;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
{% endmacro -%}

{#- How locked rows are read: the `read_mode` of the target. READPAST skips them, as a worker would;
    READCOMMITTEDLOCK is required with it when the database has READ_COMMITTED_SNAPSHOT on. Without a hint
    the statement waits for them, or reads their last committed version where the database keeps one.
    Never NOLOCK, which reads what was never committed. -#}
{%- macro hints() -%}
{%- if read_mode == "readpast" %} WITH (READPAST, READCOMMITTEDLOCK){% endif -%}
{%- endmacro -%}

{#- A single processor, however large the table. -#}
{%- macro options() %}
OPTION (MAXDOP 1){% endmacro -%}

{%- macro top(rows) %} TOP ({{ rows }}){% endmacro -%}
{%- macro limit(rows) %}{% endmacro -%}

{#- The join that takes the rows on its left one by one and seeks the match of each. -#}
{%- macro join_each() -%}
INNER LOOP JOIN
{%- endmacro -%}

{#- The server's clock, in milliseconds since 1970-01-01T00:00:00Z. DATEDIFF_BIG, because DATEDIFF
    overflows after 24.8 days of milliseconds. -#}
{%- macro now_ms() -%}
DATEDIFF_BIG(MILLISECOND, '1970-01-01T00:00:00', SYSUTCDATETIME())
{%- endmacro -%}

{#- A stored time in milliseconds since 1970-01-01T00:00:00Z. `server` uses the server's present offset,
    which is off by one hour for rows written on the other side of a clock change; a named zone uses the
    offset of the row's own date. T-SQL takes a whole number too large for INT as NUMERIC, whose division
    leaves a fraction; hence the casts. -#}
{%- macro epoch_ms(time) -%}
{{ converted(time, stored(time)) }}
{%- endmacro -%}

{#- The same, but NULL where a text column holds no time. A time without an offset is then taken as UTC. -#}
{%- macro known_epoch_ms(time) -%}
{%- set value -%}
TRY_CAST({{ stored(time) }} AS {% if time.encoding != "native" %}BIGINT{% elif time.zone in ["utc", "offset"] %}DATETIMEOFFSET{% else %}DATETIME2{% endif %})
{%- endset -%}
{{ converted(time, value) }}
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
{%- elif time.zone == "utc" -%}
DATEDIFF_BIG(MILLISECOND, '1970-01-01T00:00:00', {{ value }})
{%- else -%}
DATEDIFF_BIG(MILLISECOND, '1970-01-01T00:00:00', CAST({{ value }} AT TIME ZONE {{ time.zone | literal }} AT TIME ZONE 'UTC' AS DATETIME2(3)))
{%- endif -%}
{%- endmacro -%}

{#- NULL as one of several ranges of an index. -#}
{%- macro null_range(column) -%}
{{ column }} IS NULL
{%- endmacro -%}

{#- The server checks types itself: a column holds values of its own type only. -#}
{%- macro number(column) -%}
CAST({{ column }} AS BIGINT)
{%- endmacro -%}
{%- macro id_number(expression, column) -%}
CAST({{ expression }} AS BIGINT)
{%- endmacro -%}

{#- Label values are cut off, so that a result row has a known width. -#}
{%- macro text(expression) -%}
CAST({{ expression }} AS NVARCHAR(200))
{%- endmacro -%}

{%- macro count() -%}
COUNT_BIG(*)
{%- endmacro -%}

{#- The number of committed rows, claimed ones included. It is read from row versions where the database
    keeps them, so that nothing waits for a worker's lock, and stays NULL elsewhere. Minus what READPAST
    sees, these are the rows in flight. The table's own database is asked, which may not be the session's. -#}
{%- macro committed_rows_prelude(table, predicate) -%}
{%- set database_id -%}
DB_ID({% if table | parts | length == 3 %}{{ table | parts | first | literal }}{% endif %})
{%- endset -%}
DECLARE @committed_rows BIGINT;
IF EXISTS (SELECT 1 FROM sys.databases WHERE database_id = {{ database_id }} AND is_read_committed_snapshot_on = 1)
    SELECT @committed_rows = COUNT_BIG(*) FROM {{ table | ident }} AS t{{ predicate }} OPTION (MAXDOP 1);
ELSE IF EXISTS (SELECT 1 FROM sys.databases WHERE database_id = {{ database_id }} AND snapshot_isolation_state = 1)
BEGIN
    SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
    SELECT @committed_rows = COUNT_BIG(*) FROM {{ table | ident }} AS t{{ predicate }} OPTION (MAXDOP 1);
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
END;
{% endmacro -%}
{%- macro committed_rows() -%}
@committed_rows
{%- endmacro -%}

{#- 1 when a session holds the application lock that a run takes by sp_getapplock, 0 when it is free. -#}
{%- macro lock_held(resource) -%}
1 - APPLOCK_TEST('public', {{ resource | literal }}, 'Exclusive', 'Session')
{%- endmacro -%}

{#- Whether the login has a role of the database or of the server; both are NULL for an unknown role. -#}
{%- macro has_role(role) -%}
COALESCE(IS_ROLEMEMBER({{ role | literal }}), 0) = 1 OR COALESCE(IS_SRVROLEMEMBER({{ role | literal }}), 0) = 1
{%- endmacro -%}

{%- macro index_on(index, table) -%}
{{ index }} ON {{ table | ident }}
{%- endmacro -%}

{#- The columns of an index beside its key: with them, a row found by the index costs no look-up in the
    table. -#}
{%- macro include(columns) -%}
{%- if columns %} INCLUDE ({{ columns | ident }}){% endif -%}
{%- endmacro -%}

{#- The key columns of every usable index that covers all rows of a table. -#}
{%- macro index_keys(table) -%}
{%- set sys -%}
{%- if table | parts | length == 3 %}{{ table | parts | first | quote }}.{% endif %}sys
{%- endset -%}
SELECT i.name AS index_name, c.name AS column_name, k.key_ordinal AS place
    FROM {{ sys }}.indexes AS i
        JOIN {{ sys }}.index_columns AS k
            ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.key_ordinal > 0
        JOIN {{ sys }}.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
    WHERE i.object_id = OBJECT_ID({{ table | ident | literal }}) AND i.is_disabled = 0 AND i.has_filter = 0
{%- endmacro -%}
