{#- One sample of a run log: new rows, what the log still holds, and whether a run holds its lock. -#}
{%- import dialect as db -%}
{%- import "sample/tail.sql" as tail -%}

{%- macro outcome_of() -%}
{%- if outcome.rules -%}
CASE
{%- for rule in outcome.rules %}
            WHEN {{ outcome.column }} {{ "IS NULL" if rule.test == "is_null" else ("LIKE " if rule.test == "like" else "= ") ~ rule.value }} THEN '{{ rule.outcome }}'
{%- endfor %}
            ELSE '{{ outcome.default }}'
        END
{%- else -%}
'{{ outcome.default }}'
{%- endif -%}
{%- endmacro -%}

{#- HHMMSS as one number: the hours have no upper bound. -#}
{%- macro duration_ms() -%}
{%- if not duration -%}
{% if start and end %}{{ db.epoch_ms(end) }} - ({{ db.epoch_ms(start) }}){% else %}NULL{% endif %}
{%- elif duration.unit == "s" -%}
{{ db.bigint(duration.column) }} * 1000
{%- elif duration.unit == "hhmmss" -%}
({{ db.bigint(duration.column) }} / 10000 * 3600 + {{ duration.column }} / 100 % 100 * 60 + {{ duration.column }} % 100) * 1000
{%- else -%}
{{ db.bigint(duration.column) }}
{%- endif -%}
{%- endmacro -%}

{%- macro columns() -%}
{{ id }} AS id,
        {{ step }} AS step,
        {{ outcome_of() }} AS outcome,
        {% if start %}{{ db.epoch_ms(start) }}{% else %}NULL{% endif %} AS start_ms,
        {% if end %}{{ db.epoch_ms(end) }}{% else %}NULL{% endif %} AS end_ms,
        {{ duration_ms() }} AS duration_ms,
        {{ candidates or "NULL" }} AS candidates
{%- endmacro -%}

{{ db.guard(lock_timeout_ms) -}}
WITH {{ tail.bounds(start) }},
{{ tail.entries(columns()) }}
SELECT
    {{ tail.bound_columns() }},
    {{ db.bigint(db.lock_held(lock.resource) if lock else "NULL") }} AS lock_held,
    {{ db.text("entry.step") }} AS step,
    {{ db.text("entry.outcome") }} AS outcome,
    {{ db.bigint("entry.start_ms") }} AS start_ms,
    {{ db.bigint("entry.end_ms") }} AS end_ms,
    {{ db.bigint("entry.duration_ms") }} AS duration_ms,
    {{ db.bigint("entry.candidates") }} AS candidates
{{ tail.from_clause() }}
