{#- A time in milliseconds since 1970-01-01T00:00:00Z, or NULL where the mapping names none. Like every
    column that a mapping leaves out, the NULL has a type: SQL Server refuses to add one up that has none. -#}
{%- import dialect as db -%}

{%- macro time_ms(time) -%}
{%- if time %}{{ db.epoch_ms(time) }}{% else %}{{ db.bigint("NULL") }}{% endif -%}
{%- endmacro -%}

{#- The same of a row that need not be the target's own: NULL where it holds no time. -#}
{%- macro known_time_ms(time) -%}
{%- if time %}{{ db.known_epoch_ms(time) }}{% else %}{{ db.bigint("NULL") }}{% endif -%}
{%- endmacro -%}
