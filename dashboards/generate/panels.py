"""The kinds of panel in the dashboards, each with the settings that all panels of the kind share."""

from dataclasses import dataclass, field

from grafana_foundation_sdk.builders import common as build_common
from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.builders import (
    heatmap as build_heatmap,
)
from grafana_foundation_sdk.builders import (
    prometheus,
    statetimeline,
    timeseries,
)
from grafana_foundation_sdk.builders import (
    stat as build_stat,
)
from grafana_foundation_sdk.builders import (
    table as build_table,
)
from grafana_foundation_sdk.models import common, dashboard, heatmap
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from . import links

DATASOURCE = dashboard.DataSourceRef(type_val="prometheus", uid="${datasource}")

GREEN, YELLOW, ORANGE, RED, BLUE = "green", "yellow", "orange", "red", "blue"

# Colours for a count of things that should not be, and for a share of an objective.
FAULTS = [(None, GREEN), (1.0, RED)]
SHARE = [(None, GREEN), (0.8, YELLOW), (1.0, RED)]
PLAIN = [(None, BLUE)]


@dataclass(frozen=True)
class Query:
    """A query and the name of its series."""

    expr: str
    legend: str = "__auto"
    ref_id: str = ""
    # Whether it is drawn as a threshold: dashed, red and never filled.
    threshold: bool = False


def objective(name: str, expr: str) -> Query:
    """A query drawn as a threshold."""
    return Query(expr, name, name, threshold=True)


def time_series(
    id: int,
    title: str,
    description: str,
    unit: str,
    *queries: Query,
    width: int = 12,
    stacked: bool = False,
    signed: bool = False,
    alerts: tuple[str, ...] = (),
) -> timeseries.Panel:
    """Lines over time, or areas on top of each other; from 0 up, unless they are signed."""
    panel = _panel(timeseries.Panel(), id, title, description, queries, width, 8, alerts).unit(unit)
    if not signed:
        panel.min(0)
    panel.legend(
        build_common.VizLegendOptions()
        .show_legend(True)
        .display_mode(common.LegendDisplayMode.LIST)
        .placement(common.LegendPlacement.BOTTOM)
        .calcs([])
    ).tooltip(
        build_common.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI).sort(common.SortOrder.DESCENDING)
    ).line_width(1).fill_opacity(30 if stacked else 10).show_points(common.VisibilityMode.NEVER)
    if stacked:
        panel.stacking(build_common.StackingConfig().mode(common.StackingMode.NORMAL).group("A"))
    for query in queries:
        if query.threshold:
            panel.override_by_query(
                query.ref_id,
                [
                    dashboard.DynamicConfigValue("color", {"mode": "fixed", "fixedColor": RED}),
                    dashboard.DynamicConfigValue("custom.lineStyle", {"fill": "dash", "dash": [10, 10]}),
                    dashboard.DynamicConfigValue("custom.fillOpacity", 0),
                    dashboard.DynamicConfigValue("custom.stacking", {"group": query.ref_id, "mode": "none"}),
                ],
            )
    return panel


def stat(
    id: int,
    title: str,
    description: str,
    unit: str,
    query: Query,
    steps: list = PLAIN,
    width: int = 4,
    mappings: dict[str, tuple[str, str]] | None = None,
    none: str = "no data",
    alerts: tuple[str, ...] = (),
) -> build_stat.Panel:
    """One number, the latest."""
    panel = _panel(build_stat.Panel(), id, title, description, (query,), width, 4, alerts)
    panel.unit(unit).thresholds(_thresholds(steps)).no_value(none).reduce_options(
        build_common.ReduceDataOptions().values(False).calcs(["lastNotNull"]).fields("")
    ).color_mode(common.BigValueColorMode.BACKGROUND).graph_mode(common.BigValueGraphMode.NONE)
    panel.color_scheme(build.FieldColor().mode(dashboard.FieldColorModeId.THRESHOLDS))
    if mappings:
        panel.mappings([_mapping(mappings)])
    return panel


@dataclass(frozen=True)
class Column:
    """A column of numbers in a table."""

    title: str
    expr: str
    unit: str = "short"
    # Colours of its cells; without any, cells are not coloured.
    steps: list = field(default_factory=list)


def table(
    id: int,
    title: str,
    description: str,
    labels: dict[str, str],
    columns: list[Column],
    links: dict[str, list[tuple[str, str]]],
    none: str,
    height: int = 8,
) -> build_table.Panel:
    """A line for each set of labels, as of now.

    `labels` are the labels to show with their titles, `links` the links of a label's cells as (title,
    URL), `none` is the text of an empty table. Sorted by the last column, the highest first.
    """
    queries = [Query(column.expr, ref_id=chr(ord("A") + n)) for n, column in enumerate(columns)]
    panel = _panel(build_table.Panel(), id, title, description, (), 24, height).unit("short").no_value(none)
    for query in queries:
        panel.with_target(_target(query).format(PromQueryFormat.TABLE).instant())
    names = ["Value"] if len(columns) == 1 else [f"Value #{query.ref_id}" for query in queries]
    order = [*labels, *names]
    panel.with_transformation(dashboard.DataTransformerConfig("merge", options={}))
    panel.with_transformation(
        dashboard.DataTransformerConfig(
            "organize",
            options={
                "excludeByName": {"Time": True},
                "indexByName": {name: index for index, name in enumerate(order)},
                "renameByName": {},
            },
        )
    )
    for label, heading in labels.items():
        properties = [
            dashboard.DynamicConfigValue("displayName", heading),
            # Otherwise an empty cell would show the text of an empty table.
            dashboard.DynamicConfigValue("noValue", ""),
        ]
        if label in links:
            targets = [{"title": text, "url": url} for text, url in links[label]]
            properties.append(dashboard.DynamicConfigValue("links", targets))
        panel.override_by_name(label, properties)
    for name, column in zip(names, columns, strict=True):
        properties = [
            dashboard.DynamicConfigValue("displayName", column.title),
            dashboard.DynamicConfigValue("noValue", "–"),
            dashboard.DynamicConfigValue("unit", column.unit),
        ]
        if column.steps:
            properties += [
                dashboard.DynamicConfigValue("thresholds", _thresholds(column.steps).build()),
                dashboard.DynamicConfigValue("color", {"mode": "thresholds"}),
                dashboard.DynamicConfigValue("custom.cellOptions", {"type": "color-background", "mode": "basic"}),
            ]
        panel.override_by_name(name, properties)
    return panel.sort_by([build_common.TableSortByFieldState().display_name(columns[-1].title).desc(True)])


def heat_map(id: int, title: str, description: str, buckets: str, unit: str, width: int = 12) -> build_heatmap.Panel:
    """How many observations fell into each bucket of a classic histogram, over time."""
    panel = _panel(build_heatmap.Panel(), id, title, description, (), width, 8).unit("short")
    panel.with_target(_target(Query(buckets, "{{le}}", "A")).format(PromQueryFormat.HEATMAP).range())
    return (
        panel.calculate(False)
        .color(
            build_heatmap.HeatmapColorOptions()
            .mode(heatmap.HeatmapColorMode.SCHEME)
            .scheme("Oranges")
            .scale(heatmap.HeatmapColorScale.EXPONENTIAL)
            .exponent(0.5)
            .steps(64)
        )
        # Buckets without observations stay blank.
        .filter_values(build_heatmap.FilterValueRange().le(1e-9))
        .y_axis(build_heatmap.YAxisConfig().unit(unit).axis_placement(common.AxisPlacement.LEFT))
        .cell_gap(1)
    )


def timeline(
    id: int, title: str, description: str, query: Query, mappings: dict[str, tuple[str, str]], width: int = 24
) -> statetimeline.Panel:
    """A bar for each series, coloured by its state at the time."""
    return (
        _panel(statetimeline.Panel(), id, title, description, (query,), width, 8)
        .unit("short")
        .mappings([_mapping(mappings)])
        .color_scheme(build.FieldColor().mode(dashboard.FieldColorModeId.THRESHOLDS))
        .show_value(common.VisibilityMode.NEVER)
        .row_height(0.8)
        .merge_values(True)
        .line_width(0)
        .fill_opacity(80)
        .legend(
            build_common.VizLegendOptions()
            .show_legend(True)
            .display_mode(common.LegendDisplayMode.LIST)
            .placement(common.LegendPlacement.BOTTOM)
            .calcs([])
        )
    )


def _panel(
    panel,
    id: int,
    title: str,
    description: str,
    queries: tuple[Query, ...],
    width: int,
    height: int,
    alerts: tuple[str, ...] = (),
):
    panel.id(id).title(title).description(description).datasource(DATASOURCE).span(width).height(height)
    if alerts:
        panel.links(links.of_a_panel(alerts))
    for n, query in enumerate(queries):
        panel.with_target(_target(query, chr(ord("A") + n)).range())
    return panel


def _target(query: Query, ref_id: str = "") -> prometheus.Dataquery:
    return (
        prometheus.Dataquery()
        .datasource(DATASOURCE)
        .expr(query.expr)
        .legend_format(query.legend)
        .ref_id(query.ref_id or ref_id)
    )


def _thresholds(steps: list) -> build.ThresholdsConfig:
    return (
        build.ThresholdsConfig()
        .mode(dashboard.ThresholdsMode.ABSOLUTE)
        .steps([dashboard.Threshold(value=value, color=color) for value, color in steps])
    )


def _mapping(mappings: dict[str, tuple[str, str]]) -> dashboard.ValueMap:
    return dashboard.ValueMap(
        options={
            value: dashboard.ValueMappingResult(text=text, color=color, index=index)
            for index, (value, (text, color)) in enumerate(mappings.items())
        }
    )
