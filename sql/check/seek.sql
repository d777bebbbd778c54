{#- Which index lets the sample of a target seek: one whose first key is a column that the sample's
    predicate fixes. Returns its name, or NULL when there is none. Reads the catalog only; a login
    sees there what it may read. -#}
{%- import dialect as db -%}
{{ db.guard(lock_timeout_ms) -}}
SELECT {{ db.text("MIN(leading.index_name)") }} AS index_name
FROM (
    {{ db.leading_columns(catalog) }}
) AS leading
WHERE leading.column_name IN ({{ columns | join(", ") }})
{{- db.options() }};
