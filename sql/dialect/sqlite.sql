{#- The embedded database: the twin of each macro in mssql.sql. -#}
{%- from "sample/stored_time.sql" import stored -%}

{#- The busy timeout and the read-only mode belong to the connection. -#}
{%- macro guard(lock_timeout_ms) %}{% endmacro -%}
{#- A reader sees what was committed last, whatever the `read_mode`. -#}
{%- macro hints() %}{% endmacro -%}
{%- macro options() %}{% endmacro -%}
{%- macro top(rows) %}{% endmacro -%}
{%- macro limit(rows) %}
    LIMIT {{ rows }}{% endmacro -%}

{#- The join that takes the rows on its left one by one, in whatever order the planner would like. -#}
{%- macro join_each() -%}
CROSS JOIN
{%- endmacro -%}

{#- `unixepoch('now', 'subsec')` would be plainer, but before SQLite 3.42 it is NULL, silently, and a
    pasted statement should work in the shell that the reader has. -#}
{%- macro now_ms() -%}
CAST(ROUND((CAST(strftime('%J', 'now') AS REAL) - 2440587.5) * 86400000) AS INTEGER)
{%- endmacro -%}

{#- SQLite gives a column of one type values of another, and would read a text that is no number as 0.
    It has no way to raise an error in a query but a failing function; what it fails with names the
    column. -#}
{%- macro refuse(column, wanted) -%}
json_extract('{}', '{{ column | replace("'", "''") }} holds {{ wanted }}')
{%- endmacro -%}

{#- Whether a value is a number, be it written as text: digits, perhaps with a sign and a fraction. -#}
{%- macro is_number(value) -%}
typeof({{ value }}) IN ('integer', 'real') OR ltrim({{ value }}, '+-') GLOB '[0-9]*' AND ltrim({{ value }}, '+-') NOT GLOB '*[^0-9.]*' AND {{ value }} NOT GLOB '*.*.*' AND typeof({{ value }}) = 'text'
{%- endmacro -%}

{#- A column that holds a number, or a value that was made of it; what is none becomes `otherwise`. -#}
{%- macro number(column, value=none, otherwise=none) -%}
CASE WHEN {{ value or column }} IS NULL OR {{ is_number(value or column) }} THEN CAST({{ value or column }} AS INTEGER) ELSE {{ otherwise or refuse(column, "no number") }} END
{%- endmacro -%}

{#- An id, by which rows are in order: numbers that are stored as text are in another one. -#}
{%- macro id_number(value, column) -%}
CASE WHEN {{ value }} IS NULL OR typeof({{ value }}) IN ('integer', 'real') AND {{ value }} = CAST({{ value }} AS INTEGER) THEN CAST({{ value }} AS INTEGER) ELSE {{ refuse(column, "no whole number") }} END
{%- endmacro -%}

{#- Native times are ISO 8601 text, which begins with a date: a number would be taken for a Julian day,
    and a word like `now` for a time. A value with an offset is read as the instant it names; `server` is
    the local time of this machine, by the rules of the row's own date. -#}
{%- macro julian_day(time, value, otherwise) -%}
CASE WHEN {{ value }} IS NOT NULL THEN ifnull(CASE WHEN {{ value }} GLOB '[0-9][0-9][0-9][0-9]-*' THEN julianday({{ value }}{{ ", 'utc'" if time.zone == "server" }}) END, {{ otherwise or refuse(time.column, "no time in ISO 8601") }}) END
{%- endmacro -%}

{%- macro converted(time, value, otherwise=none) -%}
{%- if time.encoding == "unix_s" -%}
{{ number(time.column, value, otherwise) }} * 1000
{%- elif time.encoding == "unix_ms" -%}
{{ number(time.column, value, otherwise) }}
{%- elif time.encoding == "dotnet_ticks" -%}
({{ number(time.column, value, otherwise) }} - 621355968000000000) / 10000
{%- else -%}
CAST(ROUND(({{ julian_day(time, value, otherwise) }} - 2440587.5) * 86400000) AS INTEGER)
{%- endif -%}
{%- endmacro -%}

{#- A time of a related table is looked up once, however often its value is looked at. -#}
{%- macro epoch_ms(time) -%}
{%- if time.lookup -%}
(SELECT {{ converted(time, "found.value") }} FROM (SELECT {{ stored(time) }} AS value) AS found)
{%- else -%}
{{ converted(time, stored(time)) }}
{%- endif -%}
{%- endmacro -%}

{#- The same of the table itself, NULL where the column holds no time. -#}
{%- macro known_epoch_ms(time) -%}
{{ converted(time, stored(time), "NULL") }}
{%- endmacro -%}

{#- NULL as one of several ranges of an index. Not `IS NULL`, which SQLite takes for a constant when
    the column is NOT NULL; then it no longer sees that every alternative is a range, and reads the
    whole table. -#}
{%- macro null_range(column) -%}
{{ column }} IS nullif(1, 1)
{%- endmacro -%}

{%- macro bigint(expression) -%}
CAST({{ expression }} AS INTEGER)
{%- endmacro -%}

{%- macro text(expression) -%}
substr(CAST({{ expression }} AS TEXT), 1, 200)
{%- endmacro -%}

{%- macro count() -%}
COUNT(*)
{%- endmacro -%}

{#- There are no row locks here: a row in flight can only be known by its owner's mark. -#}
{%- macro committed_rows_prelude(table, predicate, database) %}{% endmacro -%}
{%- macro committed_rows() -%}
NULL
{%- endmacro -%}

{#- The stand-in for sp_getapplock: one row of application_lock for each lock that is held. -#}
{%- macro lock_held(resource) -%}
EXISTS (SELECT 1 FROM application_lock WHERE resource = {{ resource }})
{%- endmacro -%}

{#- A file has no roles; a configuration that names one is refused. -#}
{%- macro has_role(role) -%}
1 = 0
{%- endmacro -%}

{#- An index holds its key and no more. -#}
{%- macro include(columns) %}{% endmacro -%}

{#- The key columns of each index of a table that holds all its rows; a rowid is the table itself. -#}
{%- macro index_keys(catalog) -%}
SELECT list.name AS index_name, info.name COLLATE NOCASE AS column_name, info.seqno + 1 AS place
    FROM pragma_index_list({{ catalog.object }}{{ catalog.prefix }}) AS list
        JOIN pragma_index_info(list.name{{ catalog.prefix }}) AS info
    WHERE list.partial = 0
    UNION ALL
    SELECT 'PRIMARY KEY' AS index_name, name COLLATE NOCASE AS column_name, pk AS place
    FROM pragma_table_info({{ catalog.object }}{{ catalog.prefix }})
    WHERE pk > 0
{%- endmacro -%}
