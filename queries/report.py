"""The report: one page with all charts as SVG, which needs no script and no network."""

from __future__ import annotations

import base64
import hashlib
from contextlib import nullcontext
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import polars as pl

from puzzle_tablebase import MADE_BY
from puzzle_tablebase.errors import MachineLimit, TableMissing, name_packages
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.output import write_output
from puzzle_tablebase.queries.published import list_counts
from puzzle_tablebase.queries.scans import scan_table, translate_scan_errors
from puzzle_tablebase.queries.svg import make_dark_rules
from puzzle_tablebase.registry import find_owner
from puzzle_tablebase.resources import get_address_space_limit

if TYPE_CHECKING:
    from puzzle_tablebase.queries.charts import Chart
    from puzzle_tablebase.stores import Store

CHART_ADDRESS_SPACE = 96 << 30
"""Bytes of address space without which the engine of the charts aborts the process."""
REPORT_PAGE = "report.html"
"""The name of the page in a store."""


@name_packages
def write_report(store: Store, target: str) -> None:
    """Write the page with the charts of a store's tables; leave out charts without tables."""
    limit = get_address_space_limit()
    if limit is not None and limit < CHART_ADDRESS_SPACE:
        size = f"{CHART_ADDRESS_SPACE / 1e9:.0f} GB"
        raise MachineLimit(f"Charts need {size} of address space", "Raise the limit (ulimit -v)")
    from puzzle_tablebase.queries.charts import CHARTS, render_svg

    sections = ""
    for chart in CHARTS:
        published = read_manifest(store)
        tables = [name for name in chart.tables if name in published]
        rows = _scan(store, tables, chart)
        if rows is not None:
            with translate_scan_errors(store, tables[0]) if tables else nullcontext():
                title, drawing = chart.draw(rows)
            drawn = render_svg(drawing, title)
            sections += f"<section><h2>{escape(title)}</h2>\n{drawn}</section>\n"
    if not sections:
        raise TableMissing(store, "eight.parquet", "")
    here = Path(__file__).parent
    style = (here / "report.css").read_text("utf-8") + make_dark_rules()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    parts = {"style": style, "policy": f"sha256-{digest}", "made_by": escape(MADE_BY)}
    page = Template((here / "report.html").read_text("utf-8")).substitute(parts, charts=sections)
    write_output(target, page.encode())


def _scan(store: Store, tables: list[str], chart: Chart) -> pl.LazyFrame | None:
    """Return the rows of a chart; None if none of its tables is built."""
    if chart.counts:
        counts = list_counts(store).filter(puzzle=chart.counts)
        return None if counts.is_empty() else counts.lazy()
    owners = [(find_owner(name), name) for name in tables]
    known = [owner.find_table(name) for owner, name in owners if owner]
    return pl.concat([scan_table(store, table) for table in known if table]) if known else None
