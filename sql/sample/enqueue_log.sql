{#- One sample of a table that keeps a row of every job that was enqueued: its new rows, by queue. -#}
{%- import dialect as db -%}
{%- import "sample/tail.sql" as tail -%}

{%- macro columns() -%}
{{ id }} AS id,
        {{ tail.own(db.text(queue_label or "NULL")) }} AS queue
{%- endmacro -%}

{{ db.guard(lock_timeout_ms) -}}
WITH {{ tail.bounds(enqueued_at) }},
{{ tail.entries(columns(), enqueued_at) }}
SELECT
    {{ tail.bound_columns() }},
    {{ db.text("read_row.queue") }} AS queue
{{ tail.from_clause() }}
