{#- The tail of a log: the rows that one sample reads from a table that grows by id.

    `fresh` holds the next rows above the watermark, in bounded batches. `late` holds rows whose ids were
    missing when the watermark passed them: ids are assigned in one order and committed in another, and
    READPAST skips what is not committed yet. The first sample (`is_first`) reads the newest rows instead
    and counts none of them.

    With a predicate (`where`) each step still looks at the same number of rows, however few match. A row
    that does not match is returned too, with its id and nothing else, so that the exporter knows how far
    it has read and which ids were missing on the way. Columns are named, never `*` of a table: the login
    may not be allowed to read the others.

    @P1 is the watermark. @P2 and @P3 are the first and the last id of the first missing range, and so on.
    The ranges are rows of their own, joined one by one: given a long list of alternatives, a planner may
    prefer to read the whole log. They are not sorted, since sorting reads all of them before it returns
    the first. -#}
{%- import dialect as db -%}
{%- import "sample/probe.sql" as probed -%}
{%- import "sample/mapped.sql" as mapped -%}

{%- macro matches() -%}
{%- for name, value in where | items %}{% if not loop.first %} AND {% endif %}{{ name | column }} = {{ value | literal }}{% endfor -%}
{%- endmacro -%}

{#- A value of a row that matches. CASE, because in other rows the value may not even be of this type. -#}
{%- macro own(value) -%}
{%- if where -%}
CASE WHEN {{ matches() }} THEN {{ value }} END
{%- else -%}
{{ value }}
{%- endif -%}
{%- endmacro -%}

{#- What the table holds now, by its primary key, to distinguish retention and truncation from a quiet log.
    The times are those of any row, matching or not, because a table that starts over has younger rows
    throughout. The newest row is found the same way as the oldest: for a MAX in a join, SQLite would read
    the whole log. -#}
{%- macro bounds(time) -%}
clock AS (
    SELECT {{ db.now_ms() }} AS now_ms
),
oldest AS (
    SELECT{{ db.top(1) }}
        {{ id | column }} AS id,
        {{ mapped.known_time_ms(time) }} AS time_ms
    FROM {{ table | ident }} AS t{{ db.hints() }}
    ORDER BY {{ id | column }}
{{- db.limit(1) }}
),
newest AS (
    SELECT{{ db.top(1) }}
        {{ id | column }} AS id,
        {{ mapped.known_time_ms(time) }} AS time_ms
    FROM {{ table | ident }} AS t{{ db.hints() }}
    ORDER BY {{ id | column }} DESC
{{- db.limit(1) }}
)
{%- endmacro -%}

{%- macro bound_columns() -%}
CAST(clock.now_ms AS {{ db.bigint }}) AS now_ms,
{{- probed.column() }}
    {{ db.id_number("oldest.id" | safe, id | column) }} AS oldest_id,
    CAST(oldest.time_ms AS {{ db.bigint }}) AS oldest_ms,
    {{ db.id_number("newest.id" | safe, id | column) }} AS newest_id,
    CAST(newest.time_ms AS {{ db.bigint }}) AS newest_ms,
    {{ db.id_number("read_row.id" | safe, id | column) }} AS id,
    CAST(read_row.time_ms AS {{ db.bigint }}) AS time_ms
{%- if where %},
    CAST(read_row.fits AS {{ db.bigint }}) AS fits
{%- endif -%}
{%- endmacro -%}

{#- One row for each entry, or a single row without an entry when there is nothing new. -#}
{%- macro from_clause() -%}
FROM clock
    LEFT JOIN oldest ON 1 = 1
    LEFT JOIN newest ON 1 = 1
    LEFT JOIN read_row ON 1 = 1
ORDER BY read_row.id
{{- db.options() }};
{%- endmacro -%}

{%- macro read_columns(columns, time) -%}
{{ columns }},
        {{ mapped.known_time_ms(time) }} AS time_ms
{%- if where %},
        CASE WHEN {{ matches() }} THEN 1 ELSE 0 END AS fits
{%- endif -%}
{%- endmacro -%}

{%- macro entries(columns, time) -%}
{%- if is_first -%}
read_row AS (
    SELECT{{ db.top(batch_size) }}
        {{ read_columns(columns, time) }}
    FROM {{ table | ident }} AS t{{ db.hints() }}
    ORDER BY {{ id | column }} DESC
{{- db.limit(batch_size) }}
)
{%- else -%}
fresh AS (
    SELECT{{ db.top(batch_size) }}
        {{ read_columns(columns, time) }}
    FROM {{ table | ident }} AS t{{ db.hints() }}
    WHERE {{ id | column }} > @P1
    ORDER BY {{ id | column }}
{{- db.limit(batch_size) }}
),
missing AS (
{%- for gap in range(gaps_per_sample) %}
    {% if not loop.first %}UNION ALL {% endif %}SELECT @P{{ 2 * gap + 2 }} AS first_id, @P{{ 2 * gap + 3 }} AS last_id
{%- endfor %}
),
late AS (
    SELECT{{ db.top(batch_size) }}
        {{ read_columns(columns, time) }}
    FROM missing
        {{ db.join_each() }} {{ table | ident }} AS t{{ db.hints() }} ON {{ id | column }} BETWEEN missing.first_id AND missing.last_id
{{- db.limit(batch_size) }}
),
read_row AS (
    SELECT * FROM late UNION ALL SELECT * FROM fresh
)
{%- endif -%}
{%- endmacro -%}
