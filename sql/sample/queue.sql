{#- One sample of a queue table: a lease queue or a transactional queue.

    Reads every row but the finished ones, each once (failed ones too, and those in a state that the
    mapping does not know), and returns one row for each queue and state; at least one row, so that
    an empty table is told from an unanswered question.

    The derivation of a row's state is here and nowhere else. Another kind of lease is another
    branch of `claimed` and `lease_end_ms`. Order: finished and failed rows, and rows whose stored
    state the mapping does not know, are what they say; then a live claim is running; then a row
    that is not due is retrying when it was tried before, else scheduled; then a row without
    attempts left is exhausted; then a lapsed claim is expired; the rest is ready.

    The names of the steps are none that somebody gives a table: a table that is named without its
    schema would be taken for the step of that name. -#}
{%- import dialect as db -%}
{%- import "sample/probe.sql" as probed -%}
{%- from "sample/stored_time.sql" import stored -%}
{%- from "sample/time_ms.sql" import time_ms -%}

{%- macro stored_state() -%}
{%- if state.kind == "column" -%}
CASE
{%- for rule in state.map %}
            WHEN {{ state.column }} = {{ rule.value }} THEN '{{ rule.state }}'
{%- endfor %}
            ELSE 'unknown'
        END
{%- else -%}
'{{ state.constant }}'
{%- endif -%}
{%- endmacro -%}

{#- 1 when somebody holds the row, whether or not the lease still runs. Where a stored state says
    so, it decides; else the token, else the column of the lease. -#}
{%- macro claimed() -%}
{%- if state.running -%}
CASE WHEN {{ state.column }} IN ({{ state.running | join(", ") }}) THEN 1 ELSE 0 END
{%- elif lease.token -%}
CASE WHEN {{ lease.token }} IS NULL THEN 0 ELSE 1 END
{%- elif lease.kind == "owner" -%}
CASE WHEN {{ lease.owner }} IS NULL THEN 0 ELSE 1 END
{%- elif lease.time -%}
CASE WHEN {{ stored(lease.time) }} IS NULL THEN 0 ELSE 1 END
{%- else -%}
0
{%- endif -%}
{%- endmacro -%}

{#- NULL: the claim has no end that is stored. -#}
{%- macro lease_end_ms() -%}
{%- if lease.time -%}
{{ db.epoch_ms(lease.time) }} + {{ db.bigint(lease.extension_ms) }}
{%- else -%}
{{ db.bigint("NULL") }}
{%- endif -%}
{%- endmacro -%}

{#- The rows of `claimed`, as a condition that an index can serve. -#}
{%- macro is_claimed() -%}
{%- if state.running -%}
{{ state.column }} IN ({{ state.running | join(", ") }})
{%- elif lease.token -%}
{{ lease.token }} IS NOT NULL{{ not_ended() }}
{%- else -%}
{{ stored(lease.time) }} IS NOT NULL{{ not_ended() }}
{%- endif -%}
{%- endmacro -%}

{%- macro not_ended() -%}
{%- if state.kind == "column" %} AND {{ stored_state() }} NOT IN ('done', 'failed', 'unknown'){% endif -%}
{%- endmacro -%}

{#- Finished rows are kept out by ranges around their stored values, not by "not equal", so that an
    index on the column is sought and history costs nothing however long it grows. The ranges cover
    every other value in whatever order the column sorts; NOT IN keeps them exact. -#}
{%- macro predicate() -%}
{%- set conditions = namespace(word="WHERE") -%}
{%- if state.done -%}
{#- #}
    {{ conditions.word }} ({{ state.column }} < {{ state.done | first }}
{%- for value in state.done %}
        {%- if not loop.last %}
        OR {{ state.column }} > {{ value }} AND {{ state.column }} < {{ loop.nextitem }}
        {%- endif %}
{%- endfor %}
        OR {{ state.column }} > {{ state.done | last }}
        OR {{ db.null_range(state.column) }})
{%- set conditions.word = "AND" -%}
{%- if state.done | length > 1 %}
    AND ({{ state.column }} IS NULL OR {{ state.column }} NOT IN ({{ state.done | join(", ") }}))
{%- endif -%}
{%- elif state.open_when_null %}
    {{ conditions.word }} {{ state.open_when_null }} IS NULL
{%- set conditions.word = "AND" -%}
{%- endif -%}
{%- for condition in filter %}
    {{ conditions.word }} {{ condition.column }} = {{ condition.value }}
{%- set conditions.word = "AND" -%}
{%- endfor -%}
{#- A row that is never available waits for nothing. -#}
{%- if available_at and available_at.sentinels and available_at.lookup %}
    {{ conditions.word }} NOT EXISTS (SELECT 1 FROM {{ available_at.lookup.table }} AS l WHERE {{ available_at.lookup.key }} = {{ available_at.lookup.column }} AND {{ available_at.column }} IN ({{ available_at.sentinels | join(", ") }}))
{%- elif available_at and available_at.sentinels %}
    {{ conditions.word }} ({{ available_at.column }} IS NULL OR {{ available_at.column }} NOT IN ({{ available_at.sentinels | join(", ") }}))
{%- endif -%}
{%- endmacro -%}

{%- set where = predicate() -%}
{{ db.guard(lock_timeout_ms) }}
{%- if lease.kind == "rowlock" %}{{ db.committed_rows_prelude(table, where, database) }}{% endif -%}
WITH clock AS (
    SELECT {{ db.now_ms() }} AS now_ms
),
mapped_job AS (
    SELECT
        clock.now_ms,
        {{ db.text(queue_label or "NULL") }} AS queue,
        {{ stored_state() }} AS stored_state,
        {{ claimed() }} AS claimed,
        {{ lease_end_ms() }} AS lease_end_ms,
        {{ time_ms(available_at) }} AS available_ms,
        {{ time_ms(enqueued_at) }} AS enqueued_ms,
        {{ time_ms(claimed_at) }} AS claimed_ms,
        {{ db.number(attempts.column) if attempts else db.bigint("NULL") }} AS attempts,
        {{ db.number(max_attempts) if max_attempts is string else db.bigint(max_attempts or "NULL") }} AS attempts_bound
    FROM clock CROSS JOIN {{ table }} AS t{{ db.hints() }}
{{- where }}
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
            WHEN attempts{{ " - claimed" if attempts.counts == "claims" }} > 0 THEN 1
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
{#- Who is claimed for which time, so that two samples tell a job that was claimed again. #}
claimed_job AS (
    SELECT{{ db.top(claims_per_sample) }}
        clock.now_ms,
        {{ db.text(queue_label or "NULL") }} AS queue,
        {{ id }} AS id,
        {{ db.number(attempts.column) }} AS attempts,
        {{ lease_end_ms() }} AS lease_end_ms
    FROM clock CROSS JOIN {{ table }} AS t{{ db.hints() }}
{{- where or "\n    WHERE 1 = 1" }}
    AND {{ is_claimed() }}
    ORDER BY lease_end_ms
{{- db.limit(claims_per_sample) }}
)
{%- endif %}
SELECT
    {{ db.bigint("clock.now_ms") }} AS now_ms,
{{- probed.column() }}
    {{ db.bigint(db.committed_rows() if lease.kind == "rowlock" else "NULL") }} AS committed_rows,
    {{ db.text("total.queue") }} AS queue,
    {{ db.text("total.state") }} AS state,
    {{ db.bigint("total.jobs") }} AS jobs,
    {{ db.bigint("total.oldest_ready_age_ms") }} AS oldest_ready_age_ms,
    {{ db.bigint("total.expired_leases") }} AS expired_leases,
    {{ db.bigint("total.oldest_expired_lease_ms") }} AS oldest_expired_lease_ms,
    {{ db.bigint("total.longest_running_ms") }} AS longest_running_ms,
    {{ db.bigint("total.retrying_jobs") }} AS retrying_jobs,
    {{ db.bigint("total.highest_attempts") }} AS max_attempts,
    {{ db.bigint("total.future_timestamp_rows") }} AS future_timestamp_rows
{%- if id %},
    {{ db.text("NULL") }} AS claimed_id,
    {{ db.bigint("NULL") }} AS claimed_attempts,
    {{ db.bigint("NULL") }} AS claim_lapsed
{%- endif %}
FROM clock LEFT JOIN total ON 1 = 1
{%- if id %}
UNION ALL
SELECT
    now_ms,
{%- if probe %} {{ db.text("NULL") }},{% endif %}
    {{ db.bigint("NULL") }}, {{ db.text("queue") }}, {{ db.text("NULL") }},
{%- for count in range(8) %} {{ db.bigint("NULL") }},{% endfor %}
    {{ db.text("id") }}, attempts, CASE WHEN lease_end_ms <= now_ms THEN 1 ELSE 0 END
FROM claimed_job
{%- endif %}
{{- db.options() }};
