{#- One sample of an attempt log: its new rows, one for each finished attempt. -#}
{%- import dialect as db -%}
{%- import "sample/tail.sql" as tail -%}
{%- import "sample/ending.sql" as ending -%}
{%- import "sample/mapped.sql" as mapped -%}

{%- macro columns() -%}
{{ id | column }} AS id,
        {{ tail.own(mapped.text(queue_label)) }} AS queue,
        {{ tail.own(ending.outcome_of()) }} AS outcome,
        {{ tail.own(mapped.number(attempt)) }} AS attempt,
        {{ tail.own(ending.duration_ms(started_at, ended_at)) }} AS duration_ms,
        {{ tail.own(ending.span_ms(enqueued_at, ended_at)) }} AS delay_ms
{%- endmacro -%}

{{ db.guard(lock_timeout_ms) -}}
WITH {{ tail.bounds(ended_at or started_at) }},
{{ tail.entries(columns(), ended_at or started_at) }}
SELECT
    {{ tail.bound_columns() }},
    {{ db.text("read_row.queue" | safe) }} AS queue,
    {{ db.text("read_row.outcome" | safe) }} AS outcome,
    CAST(read_row.attempt AS {{ db.bigint }}) AS attempt,
    CAST(read_row.duration_ms AS {{ db.bigint }}) AS duration_ms,
    CAST(read_row.delay_ms AS {{ db.bigint }}) AS delay_ms
{{ tail.from_clause() }}
