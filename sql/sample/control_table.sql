{#- One sample of a control table: its new rows, by kind of notification. -#}
{%- import dialect as db -%}
{%- import "sample/tail.sql" as tail -%}

{%- macro columns() -%}
{{ id }} AS id,
        {{ kind }} AS kind,
        {% if at %}{{ db.epoch_ms(at) }}{% else %}NULL{% endif %} AS at_ms
{%- endmacro -%}

{{ db.guard(lock_timeout_ms) -}}
WITH {{ tail.bounds(at) }},
{{ tail.entries(columns()) }}
SELECT
    {{ tail.bound_columns() }},
    {{ db.text("read_row.kind") }} AS kind,
    {{ db.bigint("read_row.at_ms") }} AS at_ms
{{ tail.from_clause() }}
