{#- The index by which a sample can seek: its first key is the wanted column, except for columns that the
    sample compares with constants. Returns the name of one, or NULL. Reads only the catalog, where a login
    sees what it may read. Names in the catalog have no brackets. -#}
{%- import dialect as db -%}
{{ db.guard(lock_timeout_ms) -}}
WITH index_key AS (
    {{ db.index_keys(table) }}
)
SELECT {{ db.text("MIN(wanted.index_name)" | safe) }} AS index_name
FROM index_key AS wanted
WHERE wanted.column_name = {{ column | parts | last | literal }}
{%- if constant %}
    AND wanted.place = 1 + (
        SELECT {{ db.count() }}
        FROM index_key AS before
        WHERE before.index_name = wanted.index_name
            AND before.place < wanted.place
            AND before.column_name IN ({{ constant | map("parts") | map("last") | literal }})
    )
{%- else %}
    AND wanted.place = 1
{%- endif %}
{{- db.options() }};
