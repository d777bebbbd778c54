{#- What to create when seek.sql finds nothing; printed, never run. -#}
{%- import dialect as db -%}
CREATE INDEX {{ index }} ON {{ table }} ({{ column }}){{ db.include(others) }};
