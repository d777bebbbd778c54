{#- The embedded database: the twin of each macro in mssql.sql. -#}

{#- The busy timeout and the read-only mode belong to the connection. -#}
{%- macro guard(lock_timeout_ms) %}{% endmacro -%}
{%- macro hints() %}{% endmacro -%}
{%- macro options() %}{% endmacro -%}
{%- macro top(rows) %}{% endmacro -%}
{%- macro limit(rows) %}
    LIMIT {{ rows }}{% endmacro -%}

{%- macro now_ms() -%}
CAST(ROUND(unixepoch('now', 'subsec') * 1000) AS INTEGER)
{%- endmacro -%}

{#- Native times are ISO 8601 text. A value with an offset is read as the instant it names; `server`
    is the local time of this machine, by the rules of the row's own date. -#}
{%- macro epoch_ms(time) -%}
{%- if time.encoding == "unix_s" -%}
CAST({{ time.column }} AS INTEGER) * 1000
{%- elif time.encoding == "unix_ms" -%}
CAST({{ time.column }} AS INTEGER)
{%- elif time.encoding == "dotnet_ticks" -%}
(CAST({{ time.column }} AS INTEGER) - 621355968000000000) / 10000
{%- elif time.zone == "server" -%}
CAST(ROUND((julianday({{ time.column }}, 'utc') - 2440587.5) * 86400000) AS INTEGER)
{%- else -%}
CAST(ROUND((julianday({{ time.column }}) - 2440587.5) * 86400000) AS INTEGER)
{%- endif -%}
{%- endmacro -%}

{%- macro bigint(expression) -%}
CAST({{ expression }} AS INTEGER)
{%- endmacro -%}

{%- macro text(expression) -%}
CAST({{ expression }} AS TEXT)
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

{#- The first key column of each index of a table; a rowid is the table itself. -#}
{%- macro leading_columns(catalog) -%}
SELECT list.name AS index_name, info.name COLLATE NOCASE AS column_name
    FROM pragma_index_list({{ catalog.object }}{{ catalog.prefix }}) AS list
        JOIN pragma_index_info(list.name) AS info ON info.seqno = 0
    UNION ALL
    SELECT 'PRIMARY KEY' AS index_name, name COLLATE NOCASE AS column_name
    FROM pragma_table_info({{ catalog.object }}{{ catalog.prefix }})
    WHERE pk = 1
{%- endmacro -%}
