{#- How a row of a log ended: its outcome and its duration. -#}
{%- import dialect as db -%}

{%- macro outcome_of() -%}
{%- if outcome.rules -%}
CASE
{%- for rule in outcome.rules %}
            WHEN {{ outcome.column | column }} {{ condition(rule) }} THEN {{ rule.outcome | literal }}
{%- endfor %}
            ELSE {{ outcome.default | literal }}
        END
{%- else -%}
{{ outcome.default | literal }}
{%- endif -%}
{%- endmacro -%}

{%- macro condition(rule) -%}
{%- if rule.equals is defined -%}
= {{ rule.equals | literal }}
{%- elif rule.like is defined -%}
LIKE {{ rule.like | literal }}
{%- else -%}
IS NULL
{%- endif -%}
{%- endmacro -%}

{#- The time between two columns; NULL when either of them is not mapped. -#}
{%- macro span_ms(since, until) -%}
{%- if since and until %}{{ db.epoch_ms(until) }} - ({{ db.epoch_ms(since) }}){% else %}CAST(NULL AS {{ db.bigint }}){% endif -%}
{%- endmacro -%}

{#- The duration that the row holds, else the time between two columns. HHMMSS is a single number whose
    hours have no upper bound; it is taken apart as a whole number, whatever the type of the column. -#}
{%- macro duration_ms(since, until) -%}
{%- if not duration -%}
{{ span_ms(since, until) }}
{%- else -%}
{%- set number = db.number(duration.column | column) -%}
{%- if duration.unit == "s" -%}
{{ number }} * 1000
{%- elif duration.unit == "hhmmss" -%}
({{ number }} / 10000 * 3600 + {{ number }} / 100 % 100 * 60 + {{ number }} % 100) * 1000
{%- else -%}
{{ number }}
{%- endif -%}
{%- endif -%}
{%- endmacro -%}
