{#- The index to create when seek.sql finds none. It is printed, never run. The ids of a log are unique;
    when they are not, creating a unique index fails, which shows it. -#}
{%- import dialect as db -%}
CREATE {% if purpose == "new_rows" %}UNIQUE {% endif %}INDEX {{ db.index_on(("IX_" ~ table | parts | last ~ "_" ~ column | parts | last) | quote, table) }} ({{ column | ident }}){{ db.include(others) }};
