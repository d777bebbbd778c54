"""What all dashboards have in common: variables, annotations, links, and the layout of panels."""

from dataclasses import dataclass

from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.models import dashboard

from . import links, promql
from .panels import DATASOURCE, RED

# Written by Grafana 10.0, the oldest supported version; newer ones migrate it on loading.
SCHEMA_VERSION = 38

# The version of the panels' options, for the types in use. Without it, plugins migrate them from before Grafana 7.
PLUGIN_VERSION = "10.4.0"


@dataclass(frozen=True)
class Row:
    """A row of panels. The ids of its panels follow its own: 100, then 101, 102, …"""

    id: int
    title: str
    panels: list


def every(name: str, label: str, query: str) -> build.QueryVariable:
    """A variable that allows several values, all of them at first."""
    return (
        _query(name, label, query)
        .multi(True)
        .include_all(True)
        .all_value(".+")
        .current(dashboard.VariableOption(selected=True, text=["All"], value=["$__all"]))
    )


def one(name: str, label: str, query: str) -> build.QueryVariable:
    """A variable with one value."""
    return _query(name, label, query).multi(False).include_all(False)


def _query(name: str, label: str, query: str) -> build.QueryVariable:
    return (
        build.QueryVariable(name)
        .label(label)
        .datasource(DATASOURCE)
        .query({"query": query, "refId": f"variable-{name}"})
        .refresh(dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(dashboard.VariableSort.ALPHABETICAL_ASC)
        .options([])
    )


def exporter_variables() -> list:
    """The variables at the start of every dashboard."""
    return [
        build.DatasourceVariable("datasource").label("Data source").type("prometheus"),
        every("job", "Job", "label_values(sqlqueue_exporter_build_info, job)"),
        every("instance", "Instance", 'label_values(sqlqueue_exporter_build_info{job=~"$job"}, instance)'),
    ]


def runbooks_variable() -> build.QueryVariable:
    """The address of the runbooks. It is set in one place, alerts/links.rules.yml, for the alerts too."""
    return one("runbooks", "Runbooks", "label_values(sqlqueue:links:info, runbooks_url)").hide(
        dashboard.VariableHide.HIDE_VARIABLE
    )


def new(uid: str, title: str, description: str, variables: list, alerts: str, rows: list[Row]) -> dashboard.Dashboard:
    """A dashboard. `alerts` are the matchers of the alerts to annotate."""
    builder = (
        build.Dashboard(title)
        .uid(uid)
        .description(description)
        .tags([links.TAG])
        .readonly()
        .tooltip(dashboard.DashboardCursorSync.CROSSHAIR)
        .time("now-3h", "now")
        .refresh("30s")
        .timezone("browser")
        .variables([*exporter_variables(), *variables, runbooks_variable()])
        .annotations([_Alerts(alerts)])
        .links(links.of_a_dashboard())
    )
    for row in rows:
        # Not collapsed, so the panels come after the row and not inside it.
        builder.with_row(build.Row(row.title).id(row.id).collapsed(False))
        for panel in row.panels:
            builder.with_panel(panel)
    built = builder.build()
    built.schema_version = SCHEMA_VERSION
    for panel in built.panels or []:
        if isinstance(panel, dashboard.Panel):
            panel.plugin_version = PLUGIN_VERSION
    return built


class _PrometheusAnnotation(dashboard.AnnotationQuery):
    """An annotation with the settings of the Prometheus plugin, which the published types leave open."""

    def to_json(self) -> dict[str, object]:
        return super().to_json() | {
            "titleFormat": "{{alertname}}",
            "textFormat": "{{source}} {{queue}}{{run_log}}",
            "tagKeys": "severity",
            "step": "60s",
            "useValueForTime": False,
        }


@dataclass
class _Alerts:
    """The annotation for alerts that fire."""

    matchers: str

    def build(self) -> dashboard.AnnotationQuery:
        return _PrometheusAnnotation(
            name="Firing alerts",
            datasource=DATASOURCE,
            enable=True,
            hide=False,
            icon_color=RED,
            expr=promql.alerts(self.matchers),
        )
