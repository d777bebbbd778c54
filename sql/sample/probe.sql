{#- Whether an answer can be believed. A view or a security policy that hides rows from a login raises
    no error: what it leaves looks like an empty table. The column says which condition of the
    target's probe does not hold, or NULL; without a probe there is no column. -#}
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
        WHEN EXISTS (SELECT 1 FROM {{ probe.base_table }} AS t{{ db.hints() }} WHERE 1 = 1{{ base_filter() }})
            AND NOT EXISTS (SELECT 1 FROM {{ table }} AS t{{ db.hints() }}) THEN 'base_table'
{%- endif %}
    END
{%- endmacro -%}

{%- macro base_filter() -%}
{%- for condition in probe.filter %} AND {{ condition.column }} = {{ condition.value }}{% endfor -%}
{%- endmacro -%}
