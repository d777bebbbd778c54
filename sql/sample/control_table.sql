{#- One sample of a control table: its new rows, by kind of notification. -#}
{%- import dialect as db -%}
{%- import "sample/tail.sql" as tail -%}
{%- from "sample/time_ms.sql" import time_ms -%}

{%- macro columns() -%}
{{ id }} AS id,
        {{ tail.own(kind) }} AS kind,
        {{ tail.own(time_ms(at)) }} AS at_ms
{%- endmacro -%}

{{ db.guard(lock_timeout_ms) -}}
WITH {{ tail.bounds(at) }},
{{ tail.entries(columns(), at) }}
SELECT
    {{ tail.bound_columns() }},
    {{ db.text("read_row.kind") }} AS kind,
    {{ db.bigint("read_row.at_ms") }} AS at_ms
{{ tail.from_clause() }}
