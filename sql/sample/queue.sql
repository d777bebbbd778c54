{#- One sample of a queue table: a lease queue or a transactional queue.

    Reads every row that is not finished, each once, including failed rows and rows whose state the mapping
    does not know. Returns one row for each queue and state, and at least one row, so that an empty table
    differs from an unanswered question.

    The state of a row is derived here and nowhere else. Another kind of lease would be another branch of
    `claimed` and `lease_end_ms`. In this order: a row that is finished, failed or in a state that the
    mapping does not know has its stored state; a row with a live claim is running; a row that is not due is
    retrying if it was tried before, else scheduled; a row without attempts left is exhausted; a row with a
    lapsed claim is expired; every other row is ready.

    The steps have names that no table is likely to have: a table named without its schema would be taken
    for the step of the same name. -#}
{%- import dialect as db -%}
{%- import "sample/probe.sql" as probed -%}
{%- from "sample/stored_time.sql" import stored -%}
{%- import "sample/mapped.sql" as mapped -%}

{#- The stored values that mean a claim, and those that mean a finished row. When finished rows are
    counted, none is left out. -#}
{%- set running = state.map | values_of("running") -%}
{%- set done = state.map | values_of("done") if not count_done -%}

{#- The time from which the end of a claim is derived, if the mapping has one. -#}
{%- set lease_time = lease.column if lease.kind in ["until", "since"] -%}

{%- macro stored_state() -%}
{%- if state.column -%}
CASE
{%- for value, mapped_state in state.map | items %}
            WHEN {{ state.column | column }} = {{ value | literal }} THEN {{ mapped_state | literal }}
{%- endfor %}
            ELSE 'unknown'
        END
{%- else -%}
{{ (state.constant or "ready") | literal }}
{%- endif -%}
{%- endmacro -%}

{#- 1 when a row is claimed, even if the lease has lapsed. A stored state that means a claim decides; else
    the token, else the column of the lease. -#}
{%- macro claimed() -%}
{%- if running -%}
CASE WHEN {{ state.column | column }} IN ({{ running | literal }}) THEN 1 ELSE 0 END
{%- elif lease.token or lease.kind == "owner" -%}
CASE WHEN {{ (lease.token or lease.column) | column }} IS NULL THEN 0 ELSE 1 END
{%- elif lease_time -%}
CASE WHEN {{ stored(lease_time) }} IS NULL THEN 0 ELSE 1 END
{%- else -%}
0
{%- endif -%}
{%- endmacro -%}

{#- NULL when the end of the claim is not stored. -#}
{%- macro lease_end_ms() -%}
{%- if lease_time -%}
{{ db.epoch_ms(lease_time) }} + CAST({{ (lease.timeout or "0s") | ms + lease.tolerance | ms }} AS {{ db.bigint }})
{%- else -%}
CAST(NULL AS {{ db.bigint }})
{%- endif -%}
{%- endmacro -%}

{#- The rows of `claimed`, as a condition that an index can serve. -#}
{%- macro is_claimed() -%}
{%- if running -%}
{{ state.column | column }} IN ({{ running | literal }})
{%- elif lease.token -%}
{{ lease.token | column }} IS NOT NULL{{ not_ended() }}
{%- else -%}
{{ stored(lease_time) }} IS NOT NULL{{ not_ended() }}
{%- endif -%}
{%- endmacro -%}

{%- macro not_ended() -%}
{%- if state.column %} AND {{ stored_state() }} NOT IN ('done', 'failed', 'unknown'){% endif -%}
{%- endmacro -%}

{#- The rows that are read. Finished rows are kept out by ranges around their stored values, not by "not
    equal", so that the sample seeks in an index on the column and history costs nothing, however long it
    grows. The ranges cover every other value, in whatever order the column sorts; NOT IN keeps them
    exact. -#}
{%- macro predicate() -%}
{%- set next = namespace(word="WHERE" | safe) -%}
{%- if done -%}
{%- set column = state.column | column %}
    {{ next.word }} ({{ column }} < {{ done | first | literal }}
{%- for value in done %}
        {%- if not loop.last %}
        OR {{ column }} > {{ value | literal }} AND {{ column }} < {{ loop.nextitem | literal }}
        {%- endif %}
{%- endfor %}
        OR {{ column }} > {{ done | last | literal }}
        OR {{ db.null_range(column) }})
{%- set next.word = "AND" | safe -%}
{%- if done | length > 1 %}
    AND ({{ column }} IS NULL OR {{ column }} NOT IN ({{ done | literal }}))
{%- endif -%}
{%- elif state.done_when_set %}
    {{ next.word }} {{ state.done_when_set | column }} IS NULL
{%- set next.word = "AND" | safe -%}
{%- endif -%}
{%- for name, value in (where or {}) | items %}
    {{ next.word }} {{ name | column }} = {{ value | literal }}
{%- set next.word = "AND" | safe -%}
{%- endfor -%}
{#- A row that is never available is not waiting. -#}
{%- if available_at and available_at.sentinels and available_at.lookup %}
    {{ next.word }} NOT EXISTS (SELECT 1 FROM {{ lookup.table | ident }} AS l WHERE {{ lookup.key | column("l") }} = {{ lookup.column | column }} AND {{ available_at.column | column("l") }} IN ({{ available_at.sentinels | literal }}))
{%- elif available_at and available_at.sentinels %}
    {{ next.word }} ({{ available_at.column | column }} IS NULL OR {{ available_at.column | column }} NOT IN ({{ available_at.sentinels | literal }}))
{%- endif -%}
{%- endmacro -%}

{%- set open_rows = predicate() -%}
{{ db.guard(lock_timeout_ms) }}
{%- if lease.kind == "rowlock" %}{{ db.committed_rows_prelude(table, open_rows) }}{% endif -%}
WITH clock AS (
    SELECT {{ db.now_ms() }} AS now_ms
),
mapped_job AS (
    SELECT
        clock.now_ms,
        {{ mapped.text(queue_label) }} AS queue,
        {{ stored_state() }} AS stored_state,
        {{ claimed() }} AS claimed,
        {{ lease_end_ms() }} AS lease_end_ms,
        {{ mapped.time_ms(available_at) }} AS available_ms,
        {{ mapped.time_ms(enqueued_at) }} AS enqueued_ms,
        {{ mapped.time_ms(claimed_at) }} AS claimed_ms,
        {{ mapped.number(attempts.column if attempts) }} AS attempts,
        {% if max_attempts is number %}CAST({{ max_attempts }} AS {{ db.bigint }}){% else %}{{ mapped.number(max_attempts.column if max_attempts) }}{% endif %} AS attempts_bound
    FROM clock CROSS JOIN {{ table | ident }} AS t{{ db.hints() }}
{{- open_rows }}
),
leased_job AS (
    SELECT
        now_ms, queue, stored_state, available_ms, enqueued_ms, claimed_ms, lease_end_ms,
        attempts, attempts_bound,
        CASE
            WHEN stored_state IN ('done', 'failed', 'unknown') OR claimed = 0 THEN 'none'
            WHEN lease_end_ms <= now_ms THEN 'lapsed'
            ELSE 'live'
        END AS lease,
        CASE
            WHEN stored_state IN ('done', 'failed', 'unknown') THEN 0
            WHEN stored_state = 'retrying' THEN 1
{%- if attempts %}
            WHEN attempts{% if attempts.counts == "claims" %} - claimed{% endif %} > 0 THEN 1
{%- endif %}
            ELSE 0
        END AS tried
    FROM mapped_job
),
derived AS (
    SELECT
        now_ms, queue, lease, tried, available_ms, enqueued_ms, claimed_ms, lease_end_ms, attempts,
        CASE
            WHEN stored_state IN ('done', 'failed', 'unknown') THEN stored_state
            WHEN lease = 'live' THEN 'running'
            WHEN available_ms > now_ms AND tried = 1 THEN 'retrying'
            WHEN available_ms > now_ms THEN 'scheduled'
            WHEN attempts >= attempts_bound THEN 'exhausted'
            WHEN lease = 'lapsed' THEN 'expired'
            WHEN stored_state IN ('scheduled', 'retrying') AND available_ms IS NULL THEN stored_state
            ELSE 'ready'
        END AS state,
        CASE WHEN stored_state IN ('done', 'failed', 'unknown') THEN 0 ELSE 1 END AS unfinished
    FROM leased_job
),
total AS (
    SELECT
        queue,
        state,
        {{ db.count() }} AS jobs,
        MAX(CASE WHEN state = 'ready' THEN now_ms -
            CASE WHEN available_ms > enqueued_ms OR enqueued_ms IS NULL THEN available_ms ELSE enqueued_ms END
        END) AS oldest_ready_age_ms,
        SUM(CASE WHEN lease = 'lapsed' THEN 1 ELSE 0 END) AS expired_leases,
        MAX(CASE WHEN lease = 'lapsed' THEN now_ms - lease_end_ms END) AS oldest_expired_lease_ms,
        MAX(CASE WHEN state = 'running' THEN now_ms - claimed_ms END) AS longest_running_ms,
        SUM(tried) AS retrying_jobs,
        MAX(CASE WHEN unfinished = 1 THEN attempts END) AS highest_attempts,
        SUM(CASE WHEN unfinished = 1 AND enqueued_ms > now_ms THEN 1 ELSE 0 END) AS future_timestamp_rows
    FROM derived
    GROUP BY queue, state
)
{%- if id %},
{#- The claimed jobs, each with its attempt: two samples show whether a job was claimed again. #}
claimed_job AS (
    SELECT{{ db.top(claims_per_sample) }}
        clock.now_ms,
        {{ mapped.text(queue_label) }} AS queue,
        {{ id | column }} AS id,
        {{ db.number(attempts.column | column) }} AS attempts,
        {{ lease_end_ms() }} AS lease_end_ms
    FROM clock CROSS JOIN {{ table | ident }} AS t{{ db.hints() }}
{{- open_rows or "\n    WHERE 1 = 1" | safe }}
    AND {{ is_claimed() }}
    ORDER BY lease_end_ms
{{- db.limit(claims_per_sample) }}
)
{%- endif %}
SELECT
    CAST(clock.now_ms AS {{ db.bigint }}) AS now_ms,
{{- probed.column() }}
    CAST({% if lease.kind == "rowlock" %}{{ db.committed_rows() }}{% else %}NULL{% endif %} AS {{ db.bigint }}) AS committed_rows,
    {{ db.text("total.queue" | safe) }} AS queue,
    {{ db.text("total.state" | safe) }} AS state,
    CAST(total.jobs AS {{ db.bigint }}) AS jobs,
    CAST(total.oldest_ready_age_ms AS {{ db.bigint }}) AS oldest_ready_age_ms,
    CAST(total.expired_leases AS {{ db.bigint }}) AS expired_leases,
    CAST(total.oldest_expired_lease_ms AS {{ db.bigint }}) AS oldest_expired_lease_ms,
    CAST(total.longest_running_ms AS {{ db.bigint }}) AS longest_running_ms,
    CAST(total.retrying_jobs AS {{ db.bigint }}) AS retrying_jobs,
    CAST(total.highest_attempts AS {{ db.bigint }}) AS max_attempts,
    CAST(total.future_timestamp_rows AS {{ db.bigint }}) AS future_timestamp_rows
{%- if id %},
    {{ db.text("NULL" | safe) }} AS claimed_id,
    CAST(NULL AS {{ db.bigint }}) AS claimed_attempts,
    CAST(NULL AS {{ db.bigint }}) AS claim_lapsed
{%- endif %}
FROM clock LEFT JOIN total ON 1 = 1
{%- if id %}
UNION ALL
SELECT
    now_ms,
{%- if probe %} {{ db.text("NULL" | safe) }},{% endif %}
    CAST(NULL AS {{ db.bigint }}), {{ db.text("queue" | safe) }}, {{ db.text("NULL" | safe) }},
{%- for count in range(8) %} CAST(NULL AS {{ db.bigint }}),{% endfor %}
    {{ db.text("id" | safe) }}, attempts, CASE WHEN lease_end_ms <= now_ms THEN 1 ELSE 0 END
FROM claimed_job
{%- endif %}
{{- db.options() }};
