{#- The index to create when seek.sql finds none. It is printed, never run. The ids of a log are unique;
    creating a unique index fails, and so reports it, when they are not. -#}
{%- import dialect as db -%}
CREATE {% if purpose == "new_rows" %}UNIQUE {% endif %}INDEX {{ db.index_on(("IX_" ~ table | parts | last ~ "_" ~ column | parts | last) | quote, table) }} ({{ column | ident }}){{ db.include(others) }};
