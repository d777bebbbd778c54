"""Links between the dashboards and to the runbooks."""

from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.models import dashboard

# The tag that connects the dashboards.
TAG = "sqlqueue"

_EXPORTER = "${datasource:queryparam}&${job:queryparam}&${instance:queryparam}&${__url_time_range}"


def to_queue(source: str, queue: str) -> str:
    """The dashboard of one queue."""
    return f"/d/sqlqueue-queue?{_EXPORTER}&var-source={source}&var-queue={queue}"


def to_run_log(source: str, run_log: str) -> str:
    """The dashboard of one run log."""
    return f"/d/sqlqueue-run-log?{_EXPORTER}&var-source={source}&var-run_log={run_log}"


def to_exporter(source: str) -> str:
    """The dashboard of the exporter itself."""
    return f"/d/sqlqueue-exporter?{_EXPORTER}&var-source={source}"


def to_runbook(alert: str) -> str:
    """The runbook of one alert, at the address in alerts/links.rules.yml, as for the alerts."""
    return f"${{runbooks}}#{alert}"


def of_a_panel(alerts: tuple[str, ...]) -> list:
    """The links in the corner of a panel: the runbooks of alerts on what it shows."""
    return [
        build.DashboardLink(f"Runbook of {alert}")
        .type(dashboard.DashboardLinkType.LINK)
        .url(to_runbook(alert))
        .target_blank(True)
        for alert in alerts
    ]


def field(name: str) -> str:
    """The value of a label in the table row that was clicked."""
    return f"${{__data.fields.{name}:percentencode}}"


def of_a_dashboard() -> list:
    """The links at the top of each dashboard."""
    return [
        build.DashboardLink("Dashboards")
        .type(dashboard.DashboardLinkType.DASHBOARDS)
        .tags([TAG])
        .as_dropdown(False)
        .include_vars(True)
        .keep_time(True)
        .target_blank(False),
        build.DashboardLink("Runbooks")
        .type(dashboard.DashboardLinkType.LINK)
        .icon("doc")
        .tooltip("What to do about each alert")
        .url("${runbooks}")
        .target_blank(True),
    ]
