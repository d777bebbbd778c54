{#- One sample of the attempt history of a lease queue: its new rows, each an attempt that ended. -#}
{%- import dialect as db -%}
{%- import "sample/tail.sql" as tail -%}
{%- import "sample/ending.sql" as ending -%}

{%- macro columns() -%}
{{ id }} AS id,
        {{ tail.own(db.text(queue_label or "NULL")) }} AS queue,
        {{ tail.own(ending.outcome_of()) }} AS outcome,
        {{ tail.own(db.number(attempt) if attempt else db.bigint("NULL")) }} AS attempt,
        {{ tail.own(ending.duration_ms(started_at, ended_at)) }} AS duration_ms,
        {{ tail.own(ending.span_ms(enqueued_at, ended_at)) }} AS delay_ms
{%- endmacro -%}

{{ db.guard(lock_timeout_ms) -}}
WITH {{ tail.bounds(ended_at or started_at) }},
{{ tail.entries(columns(), ended_at or started_at) }}
SELECT
    {{ tail.bound_columns() }},
    {{ db.text("read_row.queue") }} AS queue,
    {{ db.text("read_row.outcome") }} AS outcome,
    {{ db.bigint("read_row.attempt") }} AS attempt,
    {{ db.bigint("read_row.duration_ms") }} AS duration_ms,
    {{ db.bigint("read_row.delay_ms") }} AS delay_ms
{{ tail.from_clause() }}
