{#- Mapped columns: the value of each, or NULL where the mapping leaves the column out. The NULL has a
    type, because SQL Server refuses to aggregate one without. -#}
{%- import dialect as db -%}

{%- macro text(name) -%}
{{ db.text(name | column if name else "NULL" | safe) }}
{%- endmacro -%}

{%- macro number(name) -%}
{%- if name %}{{ db.number(name | column) }}{% else %}CAST(NULL AS {{ db.bigint }}){% endif -%}
{%- endmacro -%}

{#- A time in milliseconds since 1970-01-01T00:00:00Z. -#}
{%- macro time_ms(time) -%}
{%- if time %}{{ db.epoch_ms(time) }}{% else %}CAST(NULL AS {{ db.bigint }}){% endif -%}
{%- endmacro -%}

{#- The same for a row that may not belong to the target: NULL where its column holds no time. -#}
{%- macro known_time_ms(time) -%}
{%- if time %}{{ db.known_epoch_ms(time) }}{% else %}CAST(NULL AS {{ db.bigint }}){% endif -%}
{%- endmacro -%}
