{#- One sample of a run log: new rows, what the log still holds, and whether a run holds its lock. -#}
{%- import dialect as db -%}
{%- import "sample/tail.sql" as tail -%}
{%- import "sample/ending.sql" as ending -%}
{%- from "sample/time_ms.sql" import time_ms -%}

{%- macro columns() -%}
{{ id }} AS id,
        {{ tail.own(step) }} AS step,
        {{ tail.own(ending.outcome_of()) }} AS outcome,
        {{ tail.own(time_ms(start)) }} AS start_ms,
        {{ tail.own(time_ms(end)) }} AS end_ms,
        {{ tail.own(ending.duration_ms(start, end)) }} AS duration_ms,
        {{ tail.own(db.number(candidates) if candidates else db.bigint("NULL")) }} AS candidates
{%- endmacro -%}

{{ db.guard(lock_timeout_ms) -}}
WITH {{ tail.bounds(start) }},
{{ tail.entries(columns(), start) }}
SELECT
    {{ tail.bound_columns() }},
    {{ db.bigint(db.lock_held(lock.resource) if lock else "NULL") }} AS lock_held,
    {{ db.text("read_row.step") }} AS step,
    {{ db.text("read_row.outcome") }} AS outcome,
    {{ db.bigint("read_row.start_ms") }} AS start_ms,
    {{ db.bigint("read_row.end_ms") }} AS end_ms,
    {{ db.bigint("read_row.duration_ms") }} AS duration_ms,
    {{ db.bigint("read_row.candidates") }} AS candidates
{{ tail.from_clause() }}
