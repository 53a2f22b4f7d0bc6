"""How all charts look, and how they become SVG: one palette, one font, no scripts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl
import vl_convert

from queries.drawings import FONT, GRID, INK, LAYOUT_COLOURS, MUTED, ON_HIGH, ON_LOW, RAMP

if TYPE_CHECKING:
    from queries.report.figure import Drawn

GOALS = list(LAYOUT_COLOURS)
BY_GOAL = alt.Scale(domain=GOALS, range=list(LAYOUT_COLOURS.values()))

CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": None,
    # labels for every bar and cell would be most of the page; each picture has one for itself
    "aria": False,
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "gridColor": GRID,
        "domainColor": MUTED,
        "tickColor": MUTED,
        "tickSize": 4,
    },
    "axisX": {"grid": False, "labelAngle": 0},
    "axisY": {"domain": False, "ticks": False},
    "header": {
        "labelColor": INK,
        "labelFontSize": 13,
        "labelFontWeight": 600,
        "labelAnchor": "start",
        "labelPadding": 8,
        "title": None,
    },
    "title": {"color": INK, "fontSize": 13, "fontWeight": 600, "anchor": "start", "offset": 8},
    "legend": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "symbolType": "square",
        "symbolStrokeWidth": 0,
        "orient": "bottom",
        "direction": "horizontal",
        "columnPadding": 14,
        "titleOrient": "left",
        "offset": 12,
    },
    "facet": {"spacing": 26},
    "concat": {"spacing": 26},
}


def svg(drawn: Drawn, name: str, title: str) -> str:
    """A chart as SVG text that can stand in a page with others; a drawing as it is."""
    if isinstance(drawn, str):
        return drawn
    spec = drawn.to_dict()
    spec["config"] = CONFIG
    made = vl_convert.vegalite_to_svg(
        spec, vl_version=".".join(alt.SCHEMA_VERSION[1:].split(".")[:2])
    )
    # names within a picture must not meet those of another in the same page
    made = re.sub(r'(id="|url\(#)', rf"\g<1>{name}-", made)
    return made.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)


def heat(steps: list[float]) -> alt.Scale:
    """Seven bounds make eight colours."""
    return alt.Scale(type="threshold", domain=steps, range=RAMP)


def even_steps(values: pl.Series) -> list[float]:
    """Bounds that cut the values' range into eight equal parts."""
    low, high = float(values.min() or 0), float(values.max() or 1)  # type: ignore[arg-type]
    return [low + (high - low) * part / 8 for part in range(1, 8)]


def stepped(values: pl.Expr, steps: list[float]) -> pl.Expr:
    """The colour of the text on each value's cell."""
    return pl.when(values >= steps[4]).then(pl.lit(ON_HIGH)).otherwise(pl.lit(ON_LOW))


def board(
    frame: pl.DataFrame, value: str, label: str, title: str, cell: int = 44
) -> alt.LayerChart:
    """A board seen from above: `file` and `rank` say where, `label` what is written."""
    steps = even_steps(frame[value])
    frame = frame.with_columns(stepped(pl.col(value), steps).alias("on"))
    plain = {"title": None, "domain": False, "ticks": False}
    squares = alt.Chart(frame).encode(
        x=alt.X("file:O", axis=alt.Axis(**plain)),
        y=alt.Y("rank:O", sort="descending", axis=alt.Axis(**plain)),
    )
    rects = squares.mark_rect(stroke=None).encode(
        color=alt.Color(f"{value}:Q", scale=heat(steps), legend=None)
    )
    words = squares.mark_text(fontSize=10).encode(
        text=f"{label}:N", color=alt.Color("on:N", scale=None)
    )
    across, down = frame["file"].n_unique(), frame["rank"].n_unique()
    return (
        alt.layer(rects, words)
        .resolve_scale(color="independent")
        .properties(title=title, width=cell * across, height=cell * down)
    )


def side_by_side(charts: list[alt.LayerChart], columns: int | None = None) -> alt.ConcatChart:
    """Charts in rows, each with its own scales."""
    return alt.concat(*charts, columns=columns or len(charts)).resolve_scale(
        color="independent", x="independent", y="independent"
    )
