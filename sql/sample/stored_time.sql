{#- A time as it is stored, before a dialect turns it into milliseconds. The same in every dialect. -#}

{#- The value of a time column where it stands, with the values that are no times read as NULL. -#}
{%- macro known(time) -%}
{%- if time.sentinels -%}
CASE WHEN {{ time.column }} NOT IN ({{ time.sentinels | join(", ") }}) THEN {{ time.column }} END
{%- else -%}
{{ time.column }}
{%- endif -%}
{%- endmacro -%}

{#- The stored value of a time. One of a related table is looked up row by row rather than joined: a
    key that is not unique must not make two jobs of one, so the latest time counts. The related
    table is read without READPAST, which would turn a row that somebody has locked into "not
    stored"; that the wait for it can end in an error is honest. -#}
{%- macro stored(time) -%}
{%- if time.lookup -%}
(SELECT MAX({{ known(time) }}) FROM {{ time.lookup.table }} AS l WHERE {{ time.lookup.key }} = {{ time.lookup.column }})
{%- else -%}
{{ known(time) }}
{%- endif -%}
{%- endmacro -%}
