{#- One sample of a run log: its new rows, what it still holds, and whether a run holds its lock. -#}
{%- import dialect as db -%}
{%- import "sample/tail.sql" as tail -%}
{%- import "sample/ending.sql" as ending -%}
{%- import "sample/mapped.sql" as mapped -%}

{%- macro columns() -%}
{{ id | column }} AS id,
        {{ tail.own(step | column) }} AS step,
        {{ tail.own(ending.outcome_of()) }} AS outcome,
        {{ tail.own(mapped.time_ms(start)) }} AS start_ms,
        {{ tail.own(mapped.time_ms(end)) }} AS end_ms,
        {{ tail.own(ending.duration_ms(start, end)) }} AS duration_ms,
        {{ tail.own(mapped.number(candidates)) }} AS candidates
{%- endmacro -%}

{{ db.guard(lock_timeout_ms) -}}
WITH {{ tail.bounds(start) }},
{{ tail.entries(columns(), start) }}
SELECT
    {{ tail.bound_columns() }},
    CAST({% if lock %}{{ db.lock_held(lock.resource) }}{% else %}NULL{% endif %} AS {{ db.bigint }}) AS lock_held,
    {{ db.text("read_row.step" | safe) }} AS step,
    {{ db.text("read_row.outcome" | safe) }} AS outcome,
    CAST(read_row.start_ms AS {{ db.bigint }}) AS start_ms,
    CAST(read_row.end_ms AS {{ db.bigint }}) AS end_ms,
    CAST(read_row.duration_ms AS {{ db.bigint }}) AS duration_ms,
    CAST(read_row.candidates AS {{ db.bigint }}) AS candidates
{{ tail.from_clause() }}
