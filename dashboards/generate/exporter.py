"""The exporter itself: does it see its databases, and what does that cost."""

from grafana_foundation_sdk.models import dashboard

from . import base, objectives, promql
from .panels import GREEN, RED, Query, heat_map, objective, stat, time_series
from .promql import heat, quantile

_SOURCE = 'source=~"$source"'

# A target is a queue or a log; labels that it does not have are empty.
_TARGET = "source, queue, attempt_log, enqueue_log, run_log, control_table"


def _series(metric: str, *matchers: str, **equal: str) -> str:
    return promql.select(metric, _SOURCE, *matchers, **equal)


def build() -> dashboard.Dashboard:
    return base.new(
        "sqlqueue-exporter",
        "SQL queues: exporter health",
        "The exporter itself: whether it sees its databases, whether its counters are saved, and what it costs.",
        [base.every("source", "Source", f"label_values({promql.select('sqlqueue_up')}, source)")],
        'job=~"$job|", instance=~"$instance|", source=~"$source|", queue="", run_log=""',
        [
            base.Row(100, "Now", _now()),
            base.Row(200, "Samples", _samples()),
            base.Row(300, "Logs", _logs()),
            base.Row(400, "Process", _process()),
        ],
    )


def _now() -> list:
    yes = {"0": ("no", RED), "1": ("yes", GREEN)}
    return [
        stat(
            101,
            "Exporters",
            "Exporters that Prometheus scrapes, by version.",
            "none",
            Query(f"count by (version) ({promql.select('sqlqueue_exporter_build_info')})", "{{version}}"),
            alerts=("SqlQueueExporterDown", "SqlQueueExporterAbsent"),
        ),
        stat(
            102,
            "Databases answer",
            "Whether every database answered the last time it was asked.",
            "short",
            Query(f"min({_series('sqlqueue_up')})"),
            mappings=yes,
            alerts=("SqlQueueDatabaseDown",),
        ),
        stat(
            103,
            "State is saved",
            "Whether the state file was last read or saved well, by every exporter. No data without a state file: "
            "counters then begin at 0 with each start.",
            "short",
            Query(f"min({promql.select('sqlqueue_exporter_state_last_save_successful')})"),
            mappings=yes,
            alerts=("SqlQueueStateNotSaved",),
        ),
        stat(
            104,
            "Last save",
            "Time since the state file was last saved with success, by the exporter that did so longest ago. Only "
            "changes are saved.",
            "s",
            Query(f"max(time() - {promql.select('sqlqueue_exporter_state_last_save_success_timestamp_seconds')})"),
        ),
        stat(
            105,
            "Configuration is read",
            "Whether the last reading of the configuration went well, by every exporter.",
            "short",
            Query(f"min({promql.select('sqlqueue_exporter_config_last_reload_successful')})"),
            mappings=yes,
            alerts=("SqlQueueConfigReloadFailed",),
        ),
        stat(
            106,
            "Last reading",
            "Time since the configuration was last read with success, by the exporter that did so longest ago.",
            "s",
            Query(f"max(time() - {promql.select('sqlqueue_exporter_config_last_reload_success_timestamp_seconds')})"),
        ),
    ]


def _samples() -> list:
    return [
        time_series(
            201,
            "Good samples per minute",
            "Good samples of each target. A target that is missing or slower than its interval is not looked at.",
            "cpm",
            Query(f"sum by ({_TARGET}) ({promql.rate(_series('sqlqueue_samples_total'))}) * 60"),
        ),
        time_series(
            202,
            "Failed samples per minute",
            "Failed samples, by reason. `connect` and `login` are of the database, `timeout` and `lock_timeout` of a "
            "statement, `permission` and `missing_object` of the configuration.",
            "cpm",
            Query(f"sum by (reason) ({promql.rate(_series('sqlqueue_sample_errors_total'))}) * 60", "{{reason}}"),
            alerts=("SqlQueueTargetNotSampled", "SqlQueueDatabaseDown"),
        ),
        time_series(
            203,
            "Time since the last good sample",
            "For each target. Its gauges are withdrawn when they are older than `stale_after`, the dashed line.",
            "s",
            Query(f"max by ({_TARGET}) (time() - {_series('sqlqueue_last_sample_timestamp_seconds')})"),
            objective("stale_after", f"min by (source) ({_series('sqlqueue_stale_after_seconds')})"),
            alerts=("SqlQueueTargetNotSampled",),
        ),
        time_series(
            204,
            "Duration of statements",
            "The 99 % quantile of how long the statement of each target took, good or not; interpolated within the "
            "buckets of the histogram.",
            "s",
            Query(quantile(0.99, _series("sqlqueue_sample_duration_seconds_bucket"), f"{_TARGET}, ")),
        ),
        heat_map(
            205,
            "Durations of statements",
            "How many statements took how long, of all targets.",
            heat(_series("sqlqueue_sample_duration_seconds_bucket")),
            "s",
        ),
        time_series(
            206,
            "Time spent in the databases",
            "The share of a second in which statements of the exporter run, by database. 100 % would be one connection "
            "that is never idle.",
            "percentunit",
            Query(f"sum by (source) ({promql.rate(_series('sqlqueue_sample_duration_seconds_sum'))})", "{{source}}"),
        ),
        time_series(
            207,
            "Databases that answer",
            "1 when the database answered the last time it was asked, else 0.",
            "none",
            Query(f"min by (source) ({_series('sqlqueue_up')})", "{{source}}"),
            alerts=("SqlQueueDatabaseDown",),
        ),
        time_series(
            208,
            "Clock skew",
            "The database's clock minus the exporter's; the dashed line is `max_clock_skew`, which holds either way. "
            "Ages are computed by the database's clock alone.",
            "s",
            Query(f"max by (instance, source) ({_series('sqlqueue_clock_skew_seconds')})", "{{source}} {{instance}}"),
            objective("max_clock_skew", f"max by (source) ({_series(objectives.MAX_CLOCK_SKEW.metric)})"),
            signed=True,
            alerts=("SqlQueueClockSkew",),
        ),
    ]


def _logs() -> list:
    return [
        time_series(
            301,
            "Late rows per minute",
            "Log rows that became visible after a row with a higher id was read. They are counted all the same, within "
            "`late_window`.",
            "cpm",
            Query(f"sum by ({_TARGET}) ({promql.rate(_series('sqlqueue_late_rows_total'))}) * 60"),
        ),
        time_series(
            302,
            "Label values exported as other, per minute",
            "Times a label value was exported as `other` because its target has more than `max_label_values` of them.",
            "cpm",
            Query(f"sum by ({_TARGET}) ({promql.rate(_series('sqlqueue_dropped_label_values_total'))}) * 60"),
            alerts=("SqlQueueLabelValuesDropped",),
        ),
    ]


def _process() -> list:
    def own(expr: str) -> str:
        """The exporter's own series, because other programs have such series too."""
        return f"{expr} and on (job, instance) {promql.select('sqlqueue_exporter_build_info')}"

    by_instance = "{{instance}}"
    return [
        time_series(
            401,
            "Processor",
            "Processor time of each exporter, as a share of one processor.",
            "percentunit",
            Query(own(promql.rate(promql.select("process_cpu_seconds_total"))), by_instance),
        ),
        time_series(
            402,
            "Memory",
            "Resident memory of each exporter.",
            "bytes",
            Query(own(promql.select("process_resident_memory_bytes")), by_instance),
        ),
        time_series(
            403,
            "File descriptors",
            "Open file descriptors of each exporter, as a share of what its process may open.",
            "percentunit",
            Query(own(f"{promql.select('process_open_fds')} / {promql.select('process_max_fds')}"), by_instance),
        ),
        time_series(
            404,
            "Uptime",
            "Time since each exporter started. A saw is an exporter that restarts.",
            "s",
            Query(own(f"time() - {promql.select('process_start_time_seconds')}"), by_instance),
            alerts=("SqlQueueExporterRestarting",),
        ),
        time_series(
            405,
            "Scrapes",
            "How long Prometheus waited for the page of each exporter.",
            "s",
            Query(own(promql.select("scrape_duration_seconds")), by_instance),
        ),
        time_series(
            406,
            "Series",
            "Samples on the page of each exporter. Labels that come from tables are bounded by `max_label_values`.",
            "short",
            Query(own(promql.select("scrape_samples_scraped")), by_instance),
        ),
    ]
