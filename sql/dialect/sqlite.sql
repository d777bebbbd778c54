{#- The embedded database: the twin of each macro in mssql.sql. -#}
{%- from "sample/stored_time.sql" import stored, column_of -%}

{%- set bigint = "INTEGER" | safe -%}

{#- The busy timeout and the read-only mode are settings of the connection. -#}
{%- macro guard(lock_timeout_ms) %}{% endmacro -%}
{#- A reader sees the last committed version, whatever the `read_mode`. -#}
{%- macro hints() %}{% endmacro -%}
{%- macro options() %}{% endmacro -%}
{%- macro top(rows) %}{% endmacro -%}
{%- macro limit(rows) %}
    LIMIT {{ rows }}{% endmacro -%}

{#- The join that takes the rows on its left one by one; the planner never reorders it. -#}
{%- macro join_each() -%}
CROSS JOIN
{%- endmacro -%}

{#- `unixepoch('now', 'subsec')` would be plainer, but before SQLite 3.42 it is silently NULL, and a pasted
    statement should work in any shell. -#}
{%- macro now_ms() -%}
CAST(ROUND((CAST(strftime('%J', 'now') AS REAL) - 2440587.5) * 86400000) AS INTEGER)
{%- endmacro -%}

{#- An error that names the column. SQLite lets a column hold values of other types, and would read a text
    that is not a number as 0. A query can raise an error only by a function that fails. -#}
{%- macro refuse(column, wanted) -%}
{%- set message %}{{ column }} holds {{ wanted }}{% endset -%}
json_extract('{}', {{ message | literal }})
{%- endmacro -%}

{#- Whether a value is a number, or the text of one: digits, perhaps with a sign and a fraction. -#}
{%- macro is_number(value) -%}
typeof({{ value }}) IN ('integer', 'real') OR ltrim({{ value }}, '+-') GLOB '[0-9]*' AND ltrim({{ value }}, '+-') NOT GLOB '*[^0-9.]*' AND {{ value }} NOT GLOB '*.*.*' AND typeof({{ value }}) = 'text'
{%- endmacro -%}

{#- The number in a column, or in a value made from it. What is not a number becomes `otherwise`, or an
    error. -#}
{%- macro number(column, value=none, otherwise=none) -%}
CASE WHEN {{ value or column }} IS NULL OR {{ is_number(value or column) }} THEN CAST({{ value or column }} AS INTEGER) ELSE {{ otherwise or refuse(column, "no number" | safe) }} END
{%- endmacro -%}

{#- An id, which puts rows in order. Numbers stored as text are refused, since they sort differently. -#}
{%- macro id_number(value, column) -%}
CASE WHEN {{ value }} IS NULL OR typeof({{ value }}) IN ('integer', 'real') AND {{ value }} = CAST({{ value }} AS INTEGER) THEN CAST({{ value }} AS INTEGER) ELSE {{ refuse(column, "no whole number" | safe) }} END
{%- endmacro -%}

{#- Native times are ISO 8601 text, which begins with a date. SQLite would take a number as a Julian day,
    and a word like `now` as a time. A value with an offset is read as the instant that it names; `server`
    is the local time of this machine, by the rules of the row's own date. -#}
{%- macro julian_day(time, value, otherwise) -%}
CASE WHEN {{ value }} IS NOT NULL THEN ifnull(CASE WHEN {{ value }} GLOB '[0-9][0-9][0-9][0-9]-*' THEN julianday({{ value }}{% if time.zone == "server" %}, 'utc'{% endif %}) END, {{ otherwise or refuse(column_of(time), "no time in ISO 8601" | safe) }}) END
{%- endmacro -%}

{%- macro converted(time, value, otherwise=none) -%}
{%- if time.encoding == "unix_s" -%}
{{ number(column_of(time), value, otherwise) }} * 1000
{%- elif time.encoding == "unix_ms" -%}
{{ number(column_of(time), value, otherwise) }}
{%- elif time.encoding == "dotnet_ticks" -%}
({{ number(column_of(time), value, otherwise) }} - 621355968000000000) / 10000
{%- else -%}
CAST(ROUND(({{ julian_day(time, value, otherwise) }} - 2440587.5) * 86400000) AS INTEGER)
{%- endif -%}
{%- endmacro -%}

{#- A related time is looked up once, however often its value is used. -#}
{%- macro epoch_ms(time) -%}
{%- if time.lookup -%}
(SELECT {{ converted(time, "found.value" | safe) }} FROM (SELECT {{ stored(time) }} AS value) AS found)
{%- else -%}
{{ converted(time, stored(time)) }}
{%- endif -%}
{%- endmacro -%}

{#- The same for the target's own table, but NULL where the column holds no time. -#}
{%- macro known_epoch_ms(time) -%}
{{ converted(time, stored(time), "NULL" | safe) }}
{%- endmacro -%}

{#- NULL as one of several ranges of an index. Not `IS NULL`: on a NOT NULL column SQLite takes that for a
    constant, no longer sees that every alternative is a range, and reads the whole table. -#}
{%- macro null_range(column) -%}
{{ column }} IS nullif(1, 1)
{%- endmacro -%}

{%- macro text(expression) -%}
substr(CAST({{ expression }} AS TEXT), 1, 200)
{%- endmacro -%}

{%- macro count() -%}
COUNT(*)
{%- endmacro -%}

{#- There are no row locks here; only the owner's mark shows that a row is in flight. -#}
{%- macro committed_rows_prelude(table, predicate) %}{% endmacro -%}
{%- macro committed_rows() -%}
NULL
{%- endmacro -%}

{#- The stand-in for sp_getapplock: the table application_lock has one row for each held lock. -#}
{%- macro lock_held(resource) -%}
EXISTS (SELECT 1 FROM application_lock WHERE resource = {{ resource | literal }})
{%- endmacro -%}

{#- A file has no roles, and a configuration that names one is refused. -#}
{%- macro has_role(role) -%}
1 = 0
{%- endmacro -%}

{#- The schema qualifies the index, not its table. -#}
{%- macro index_on(index, table) -%}
{%- if table | parts | length > 1 %}{{ table | parts | first | quote }}.{% endif %}{{ index }} ON {{ table | parts | last | quote }}
{%- endmacro -%}

{#- An index holds its key and nothing else. -#}
{%- macro include(columns) %}{% endmacro -%}

{#- The key columns of every index that covers all rows of a table. A rowid is the table itself. -#}
{%- macro index_keys(table) -%}
{%- set object = table | parts | last | literal -%}
{%- set schema -%}
{%- if table | parts | length > 1 %}, {{ table | parts | first | literal }}{% endif -%}
{%- endset -%}
SELECT list.name AS index_name, info.name COLLATE NOCASE AS column_name, info.seqno + 1 AS place
    FROM pragma_index_list({{ object }}{{ schema }}) AS list
        JOIN pragma_index_info(list.name{{ schema }}) AS info
    WHERE list.partial = 0
    UNION ALL
    SELECT 'PRIMARY KEY' AS index_name, name COLLATE NOCASE AS column_name, pk AS place
    FROM pragma_table_info({{ object }}{{ schema }})
    WHERE pk > 0
{%- endmacro -%}
