{#- What the logs that grow by id have in common: which rows a sample reads.

    `fresh` are the next rows above the watermark, in bounded batches. `late` are rows whose ids
    were missing when the watermark passed them: ids are handed out in one order and committed in
    another, and READPAST leaves out what is not committed yet. The first sample (`head`) reads the
    newest rows instead and counts none of them.

    Through a predicate each of them looks at the same number of rows, however few of them fit. A row
    that does not fit is returned as well, with its id and nothing else, so that it is known how far the
    log was read and which ids were missing on the way. Columns are named, never `*` of a table: the login
    need not be allowed to read the others.

    The ranges of `late` are rows of their own, joined one by one: a planner that is given them as a
    long list of alternatives may rather read the whole log. They are not sorted, since that would read
    all of them before the first is returned. -#}
{%- import dialect as db -%}
{%- import "sample/probe.sql" as probed -%}
{%- from "sample/time_ms.sql" import known_time_ms -%}

{%- macro fits() -%}
{%- for condition in filter %}{{ "" if loop.first else " AND " }}{{ condition.column }} = {{ condition.value }}{% endfor -%}
{%- endmacro -%}

{#- A value of a row that fits. CASE, because what other rows hold may not even be of this kind. -#}
{%- macro own(value) -%}
{%- if filter -%}
CASE WHEN {{ fits() }} THEN {{ value }} END
{%- else -%}
{{ value }}
{%- endif -%}
{%- endmacro -%}

{#- What the table holds now, by its primary key: tells retention and truncation from a quiet log. Times
    are those of any row, foreign ones too: a table that starts over has younger rows throughout.
    The newest row is looked up like the oldest one: SQLite would read the whole log for a MAX that
    stands in a join. -#}
{%- macro bounds(time) -%}
clock AS (
    SELECT {{ db.now_ms() }} AS now_ms
),
oldest AS (
    SELECT{{ db.top(1) }}
        {{ id }} AS id,
        {{ known_time_ms(time) }} AS time_ms
    FROM {{ table }} AS t{{ db.hints() }}
    ORDER BY {{ id }}
{{- db.limit(1) }}
),
newest AS (
    SELECT{{ db.top(1) }}
        {{ id }} AS id,
        {{ known_time_ms(time) }} AS time_ms
    FROM {{ table }} AS t{{ db.hints() }}
    ORDER BY {{ id }} DESC
{{- db.limit(1) }}
)
{%- endmacro -%}

{%- macro bound_columns() -%}
{{ db.bigint("clock.now_ms") }} AS now_ms,
{{- probed.column() }}
    {{ db.id_number("oldest.id", id) }} AS oldest_id,
    {{ db.bigint("oldest.time_ms") }} AS oldest_ms,
    {{ db.id_number("newest.id", id) }} AS newest_id,
    {{ db.bigint("newest.time_ms") }} AS newest_ms,
    {{ db.id_number("read_row.id", id) }} AS id,
    {{ db.bigint("read_row.time_ms") }} AS time_ms
{%- if filter %},
    {{ db.bigint("read_row.fits") }} AS fits
{%- endif -%}
{%- endmacro -%}

{#- One row for each entry; a single row without an entry when there is nothing new. -#}
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
        {{ known_time_ms(time) }} AS time_ms
{%- if filter %},
        CASE WHEN {{ fits() }} THEN 1 ELSE 0 END AS fits
{%- endif -%}
{%- endmacro -%}

{%- macro entries(columns, time) -%}
{%- if mode == "head" -%}
read_row AS (
    SELECT{{ db.top(batch_size) }}
        {{ read_columns(columns, time) }}
    FROM {{ table }} AS t{{ db.hints() }}
    ORDER BY {{ id }} DESC
{{- db.limit(batch_size) }}
)
{%- else -%}
fresh AS (
    SELECT{{ db.top(batch_size) }}
        {{ read_columns(columns, time) }}
    FROM {{ table }} AS t{{ db.hints() }}
    WHERE {{ id }} > {{ after }}
    ORDER BY {{ id }}
{{- db.limit(batch_size) }}
),
missing AS (
{%- for gap in gaps %}
    {{ "" if loop.first else "UNION ALL " }}SELECT {{ gap.from }} AS first_id, {{ gap.to }} AS last_id
{%- endfor %}
),
late AS (
    SELECT{{ db.top(batch_size) }}
        {{ read_columns(columns, time) }}
    FROM missing
        {{ db.join_each() }} {{ table }} AS t{{ db.hints() }} ON {{ id }} BETWEEN missing.first_id AND missing.last_id
{{- db.limit(batch_size) }}
),
read_row AS (
    SELECT * FROM late UNION ALL SELECT * FROM fresh
)
{%- endif -%}
{%- endmacro -%}
