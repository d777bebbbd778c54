{#- One sample of a control table: its new rows, by kind of notification. -#}
{%- import dialect as db -%}
{%- import "sample/tail.sql" as tail -%}
{%- import "sample/mapped.sql" as mapped -%}

{%- macro columns() -%}
{{ id | column }} AS id,
        {{ tail.own(kind | column) }} AS kind,
        {{ tail.own(mapped.time_ms(at)) }} AS at_ms
{%- endmacro -%}

{{ db.guard(lock_timeout_ms) -}}
WITH {{ tail.bounds(at) }},
{{ tail.entries(columns(), at) }}
SELECT
    {{ tail.bound_columns() }},
    {{ db.text("read_row.kind" | safe) }} AS kind,
    CAST(read_row.at_ms AS {{ db.bigint }}) AS at_ms
{{ tail.from_clause() }}
