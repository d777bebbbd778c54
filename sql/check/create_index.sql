{#- What to create when seek.sql finds nothing; printed, never run. -#}
CREATE INDEX {{ index }} ON {{ table }} ({{ column }});
