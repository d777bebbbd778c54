{#- The probe: whether an answer can be believed. A view or a security policy that hides rows from a login
    raises no error, and what remains looks like an empty table. The column `failing_probe` names the
    condition of the probe that does not hold, or is NULL. A target without a probe has no such column. -#}
{%- import dialect as db -%}

{%- macro column() -%}
{%- if probe %}
    {{ db.text(failing()) }} AS failing_probe,
{%- endif -%}
{%- endmacro -%}

{%- macro failing() -%}
CASE
{%- if probe.role %}
        WHEN NOT ({{ db.has_role(probe.role) }}) THEN 'role'
{%- endif %}
{%- if probe.base_table %}
        WHEN EXISTS (SELECT 1 FROM {{ probe.base_table | ident }} AS t{{ db.hints() }} WHERE 1 = 1{{ base_filter() }})
            AND NOT EXISTS (SELECT 1 FROM {{ table | ident }} AS t{{ db.hints() }}) THEN 'base_table'
{%- endif %}
    END
{%- endmacro -%}

{%- macro base_filter() -%}
{%- for name, value in (probe.where or {}) | items %} AND {{ name | column }} = {{ value | literal }}{% endfor -%}
{%- endmacro -%}
