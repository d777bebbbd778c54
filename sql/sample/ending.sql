{#- How a row of a log ended: its outcome, and how long it took. -#}
{%- import dialect as db -%}

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

{#- NULL when one of the times is not stored. -#}
{%- macro span_ms(since, until) -%}
{%- if since and until %}{{ db.epoch_ms(until) }} - ({{ db.epoch_ms(since) }}){% else %}{{ db.bigint("NULL") }}{% endif -%}
{%- endmacro -%}

{#- The duration that the row holds, or else the time between two columns. HHMMSS is one number
    whose hours have no upper bound; it is taken apart as a whole number, whatever the column is. -#}
{%- macro duration_ms(since, until) -%}
{%- if not duration -%}
{{ span_ms(since, until) }}
{%- elif duration.unit == "s" -%}
{{ db.number(duration.column) }} * 1000
{%- elif duration.unit == "hhmmss" -%}
({{ db.number(duration.column) }} / 10000 * 3600 + {{ db.number(duration.column) }} / 100 % 100 * 60 + {{ db.number(duration.column) }} % 100) * 1000
{%- else -%}
{{ db.number(duration.column) }}
{%- endif -%}
{%- endmacro -%}
