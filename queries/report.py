"""The report: one page with all charts as SVG, which needs no script and no network.

Charts need `altair` and `vl-convert-python`, which `make report` installs; they are imported only
when a report is written.
"""

from __future__ import annotations

import base64
import hashlib
import re
from contextlib import nullcontext
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import polars as pl

from puzzle_tablebase.errors import MachineLimit, TableMissing
from puzzle_tablebase.formats import MADE_BY
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.output import open_output
from puzzle_tablebase.puzzles import find_owner
from puzzle_tablebase.queries.histogram import list_counts
from puzzle_tablebase.queries.scans import scan_table, translate_scan_errors
from puzzle_tablebase.queries.svg import FONT, GRID, INK, MUTED, label_svg, make_dark_rules
from puzzle_tablebase.resources import address_space_limit
from puzzle_tablebase.stores import MANIFEST
from puzzle_tablebase.stores.access import format_rebuild_command

if TYPE_CHECKING:
    from puzzle_tablebase.queries.charts import Chart
    from puzzle_tablebase.stores.folder import Store

CHART_ADDRESS_SPACE = 96 << 30
"""Bytes of address space with which the engine of the charts does not abort the process: measured,
and only reserved."""
REPORT_PAGE = "report.html"
"""The name of the page in a store."""
CHARTED = "eight.parquet"
"""A file whose charts a store without any of the charted tables lacks."""

EMPTY_ROLES = re.compile(r' (?:role="graphics-[a-z]+"|aria-roledescription="[^"]*")')
"""The roles of groups without a label, which would be announced without a name."""

TEXT = {"labelColor": MUTED, "titleColor": MUTED, "labelFontSize": 12, "titleFontSize": 12}
CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": None,
    # room at the right for text in a wider font: a viewer may lack the page's
    "padding": {"left": 2, "top": 4, "right": 12, "bottom": 4},
    # labels of every bar and cell would be most of the page; each chart has one label
    "aria": False,
    "view": {"stroke": None},
    "axis": {
        **TEXT,
        "titleFontWeight": "normal",
        "titlePadding": 12,
        "gridColor": GRID,
        "domainColor": MUTED,
    },
    "axisX": {"grid": False, "labelAngle": 0, "tickColor": MUTED},
    "axisY": {"domain": False, "ticks": False},
    "header": {"labelColor": INK, "labelFontSize": 13, "labelFontWeight": 600, "labelPadding": 4},
    "headerRow": {"labelOrient": "top", "labelAnchor": "start", "labelAngle": 0},
    "legend": {
        **TEXT,
        "titleFontWeight": "normal",
        "orient": "bottom",
        "columnPadding": 18,
        "gradientStrokeColor": None,
    },
    "line": {"strokeWidth": 2},
    "text": {"fontSize": 11},
    "facet": {"spacing": 14},
}
"""The look of all charts."""


def write_report(store: Store, target: str) -> None:
    """Write the page with the charts of a store's tables; leave out those whose tables it lacks."""
    try:
        import altair
        import vl_convert
    except ImportError as error:
        raise MachineLimit(
            f"The report needs altair and vl-convert, and {error.name} is not installed",
            "In a clone, run: make report",
        ) from error
    del altair, vl_convert
    limit = address_space_limit()
    if limit is not None and limit < CHART_ADDRESS_SPACE:
        raise MachineLimit(
            f"Charts need {CHART_ADDRESS_SPACE / 1e9:.0f} GB of address space, and this process "
            f"may use {limit / 1e9:.0f} GB (ulimit -v)",
            "Raise the limit",
        )
    if not read_manifest(store):
        raise TableMissing(store.locate(MANIFEST), format_rebuild_command("", store))
    with open_output(target) as file:  # before drawing: the output may not be writable
        file.write(_make_page(store).encode())


def _make_page(store: Store) -> str:
    from puzzle_tablebase.queries.charts import CHARTS

    sections = [section for chart in CHARTS if (section := _make_section(store, chart))]
    if not sections:
        raise TableMissing(store.locate(CHARTED), format_rebuild_command("", store))
    style = _read_source("report.css") + make_dark_rules()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    parts = {"style": style, "policy": f"sha256-{digest}", "made_by": escape(MADE_BY)}
    return Template(_read_source("report.html")).substitute(parts, charts="".join(sections))


def _read_source(name: str) -> str:
    return (Path(__file__).parent / name).read_text("utf-8")


def _make_section(store: Store, chart: Chart) -> str:
    """Return a chart under its title; "" if none of its tables is built."""
    published = read_manifest(store)
    tables = [name for name in chart.tables if name in published]
    if chart.counts:
        rows = list_counts(store).filter(puzzle=chart.counts).lazy()
        if rows.limit(1).collect().is_empty():
            return ""
    elif tables:
        rows = pl.concat([_scan(store, name) for name in tables])
    else:
        return ""
    with translate_scan_errors(store, tables[0]) if tables else nullcontext():
        title, drawing = chart.draw(rows)
    return f"<section><h2>{escape(title)}</h2>\n{render_svg(drawing, title)}</section>\n"


def _scan(store: Store, name: str) -> pl.LazyFrame:
    owner = find_owner(name)
    table = owner.find_table(name) if owner else None
    assert table is not None
    return scan_table(store, table)


def render_svg(drawing: Any, title: str) -> str:
    """Return a chart as SVG text, with its title for screen readers."""
    import altair as alt
    import vl_convert

    spec = drawing.to_dict()
    spec["config"] = CONFIG
    version = ".".join(alt.SCHEMA_VERSION[1:].split(".")[:2])
    svg = vl_convert.vegalite_to_svg(spec, vl_version=version)
    return EMPTY_ROLES.sub("", svg).replace("<svg", f"<svg{label_svg(title)}", 1)
