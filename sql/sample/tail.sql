{#- What the logs that grow by id have in common: which rows a sample reads.

    `fresh` are the next rows above the watermark, in bounded batches. `late` are rows whose ids
    were missing when the watermark passed them: ids are handed out in one order and committed in
    another, and READPAST leaves out what is not committed yet. The first sample (`head`) reads the
    newest rows instead and counts none of them; through a predicate it looks at the same number of
    rows, however few of them fit. Columns are named, never `*` of a table: the login need not be
    allowed to read the others.

    The ranges of `late` are rows of their own, joined one by one: a planner that is given them as a
    long list of alternatives may rather read the whole log. -#}
{%- import dialect as db -%}
{%- import "sample/probe.sql" as probed -%}
{%- from "sample/time_ms.sql" import time_ms -%}

{%- macro filtered() -%}
{%- for condition in filter %}
    AND {{ condition.column }} = {{ condition.value }}
{%- endfor -%}
{%- endmacro -%}

{#- What the table holds now, by its primary key: tells retention and truncation from a quiet log.
    The newest row is looked up like the oldest one: SQLite would read the whole log for a MAX that
    stands in a join. -#}
{%- macro bounds(time) -%}
clock AS (
    SELECT {{ db.now_ms() }} AS now_ms
),
oldest AS (
    SELECT{{ db.top(1) }}
        {{ id }} AS id,
        {{ time_ms(time) }} AS time_ms
    FROM {{ table }} AS t{{ db.hints() }}
    ORDER BY {{ id }}
{{- db.limit(1) }}
),
newest AS (
    SELECT{{ db.top(1) }}
        {{ id }} AS id
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
    {{ db.id_number("read_row.id", id) }} AS id
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

{%- macro entries(columns) -%}
{%- if mode == "head" and filter -%}
newest_rows AS (
    SELECT{{ db.top(batch_size) }}
        {{ read_columns | join(", ") }}
    FROM {{ table }} AS t{{ db.hints() }}
    ORDER BY {{ id }} DESC
{{- db.limit(batch_size) }}
),
read_row AS (
    SELECT
        {{ columns }}
    FROM newest_rows AS t
    WHERE 1 = 1
{{- filtered() }}
)
{%- elif mode == "head" -%}
read_row AS (
    SELECT{{ db.top(batch_size) }}
        {{ columns }}
    FROM {{ table }} AS t{{ db.hints() }}
    ORDER BY {{ id }} DESC
{{- db.limit(batch_size) }}
)
{%- else -%}
fresh AS (
    SELECT{{ db.top(batch_size) }}
        {{ columns }}
    FROM {{ table }} AS t{{ db.hints() }}
    WHERE {{ id }} > {{ after }}
{{- filtered() }}
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
        {{ columns }}
    FROM missing
        {{ db.join_each() }} {{ table }} AS t{{ db.hints() }} ON {{ id }} BETWEEN missing.first_id AND missing.last_id
    WHERE {{ id }} IS NOT NULL
{{- filtered() }}
    ORDER BY {{ id }}
{{- db.limit(batch_size) }}
),
read_row AS (
    SELECT * FROM late UNION ALL SELECT * FROM fresh
)
{%- endif -%}
{%- endmacro -%}
