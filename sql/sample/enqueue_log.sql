{#- One sample of an enqueue log, a table that keeps a row for every enqueued job: its new rows, by queue. -#}
{%- import dialect as db -%}
{%- import "sample/tail.sql" as tail -%}
{%- import "sample/mapped.sql" as mapped -%}

{%- macro columns() -%}
{{ id | column }} AS id,
        {{ tail.own(mapped.text(queue_label)) }} AS queue
{%- endmacro -%}

{{ db.guard(lock_timeout_ms) -}}
WITH {{ tail.bounds(enqueued_at) }},
{{ tail.entries(columns(), enqueued_at) }}
SELECT
    {{ tail.bound_columns() }},
    {{ db.text("read_row.queue" | safe) }} AS queue
{{ tail.from_clause() }}
