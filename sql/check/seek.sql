{#- Which index lets a sample seek: one whose first key is the wanted column, but for columns that the
    sample compares with constants. Returns its name, or NULL when there is none. Reads the catalog
    only; a login sees there what it may read. -#}
{%- import dialect as db -%}
{{ db.guard(lock_timeout_ms) -}}
WITH index_key AS (
    {{ db.index_keys(catalog) }}
)
SELECT {{ db.text("MIN(wanted.index_name)") }} AS index_name
FROM index_key AS wanted
WHERE wanted.column_name = {{ column }}
{%- if constant %}
    AND wanted.place = 1 + (
        SELECT {{ db.count() }}
        FROM index_key AS before
        WHERE before.index_name = wanted.index_name
            AND before.place < wanted.place
            AND before.column_name IN ({{ constant | join(", ") }})
    )
{%- else %}
    AND wanted.place = 1
{%- endif %}
{{- db.options() }};
