{#- What to create when seek.sql finds nothing; printed, never run. The ids of a log are unique, and an index
    that cannot be made so tells that they are not. -#}
{%- import dialect as db -%}
CREATE {{ "UNIQUE " if is_unique }}INDEX {{ index }} ON {{ table }} ({{ column }}){{ db.include(others) }};
