{#- Stored times: the value of a time column before a dialect turns it into milliseconds. The same in every
    dialect. -#}

{#- The column itself, in the target's own table or in the related one. -#}
{%- macro column_of(time) -%}
{{ time.column | column("l" if time.lookup else "t") }}
{%- endmacro -%}

{#- The value in its table. Sentinels, which stand for "no time", become NULL. -#}
{%- macro known(time) -%}
{%- if time.sentinels -%}
CASE WHEN {{ column_of(time) }} NOT IN ({{ time.sentinels | literal }}) THEN {{ column_of(time) }} END
{%- else -%}
{{ column_of(time) }}
{%- endif -%}
{%- endmacro -%}

{#- The value for a row of the target. A related time is looked up row by row instead of joined, so that
    a key that is not unique cannot turn one job into two; the latest time counts. The related table is
    read without READPAST, which would make a locked row look like "no time stored". Waiting for the lock
    may end in an error, and that error is honest. -#}
{%- macro stored(time) -%}
{%- if time.lookup -%}
(SELECT MAX({{ known(time) }}) FROM {{ lookup.table | ident }} AS l WHERE {{ lookup.key | column("l") }} = {{ lookup.column | column }})
{%- else -%}
{{ known(time) }}
{%- endif -%}
{%- endmacro -%}
