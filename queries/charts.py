"""Charts: their common configuration, their conversion to SVG, and helpers that build them.

All charts have one palette and one font, and no scripts.
"""

from __future__ import annotations

import re
from typing import Any

import altair as alt
import polars as pl
import vl_convert

from queries.figure import Drawing
from queries.svg import EMPTY, FONT, GRID, INK, MUTED, ON_HIGH, ON_LOW, RAMP

EMPTY_ROLES = re.compile(r' (?:role="graphics-[a-z]+"|aria-roledescription="[^"]*")')
"""The roles of groups without a label, which would be announced without a name."""

SMALL = {
    "labelColor": MUTED,
    "titleColor": MUTED,
    "labelFontSize": 11,
    "titleFontSize": 11,
    "titleFontWeight": "normal",
}
CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": None,
    # labels of every bar and cell would be most of the page; each picture has one label
    "aria": False,
    "view": {"stroke": None},
    "axis": {
        **SMALL,
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
        **SMALL,
        "symbolType": "square",
        "symbolStrokeWidth": 0,
        "orient": "bottom",
        "direction": "horizontal",
        "columnPadding": 14,
        "titleOrient": "left",
        "titlePadding": 16,
        "offset": 12,
    },
    "facet": {"spacing": 26},
    "concat": {"spacing": 26},
}


def render_svg(drawing: Drawing, title: str) -> str:
    """Render a chart as SVG text for a page that has others; return SVG text unchanged."""
    if isinstance(drawing, str):
        return drawing
    spec = drawing.to_dict()
    spec["config"] = CONFIG
    version = ".".join(alt.SCHEMA_VERSION[1:].split(".")[:2])
    text: str = vl_convert.vegalite_to_svg(spec, vl_version=version)
    return EMPTY_ROLES.sub("", text).replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)


def add_bands(frame: pl.DataFrame, value: str, bounds: list[int]) -> pl.DataFrame:
    """Add the column `band`: the band of each value as text. Seven bounds make eight bands."""
    number = pl.Series(bounds).search_sorted(frame[value], side="right")
    return frame.with_columns(pl.Series("band", name_bands(bounds)).gather(number))


def name_bands(bounds: list[int]) -> list[str]:
    """Return the names of the bands between bounds.

    >>> name_bands([3, 10, 1000])
    ['below 3', 'from 3', 'from 10', 'from 1,000']
    """
    return [f"below {bounds[0]:,}", *(f"from {bound:,}" for bound in bounds)]


def color_by_band(title: str, bounds: list[int]) -> alt.Color:
    """Return an encoding that colours by the column `band`, with a legend."""
    return alt.Color("band:N", title=title, scale=alt.Scale(domain=name_bands(bounds), range=RAMP))


def color_lines(field: str, colours: dict[str, str]) -> alt.Color:
    """Return an encoding that colours lines by name, with strokes as the legend's symbols."""
    return alt.Color(
        f"{field}:N",
        title=None,
        scale=alt.Scale(domain=list(colours), range=list(colours.values())),
        legend=alt.Legend(symbolType="stroke", symbolStrokeWidth=2),
    )


def make_even_bounds(values: pl.Series) -> list[float]:
    """Return seven bounds that cut the range of all positive values into eight equal parts."""
    positive = values.filter(values > 0)
    low, high = float(positive.min()), float(positive.max())  # type: ignore[arg-type]  # any type
    return [low + (high - low) * part / 8 for part in range(1, 8)]


def format_labels(value: str, form: str = "{:,}") -> pl.Expr:
    """Return the column `label`: a column's values as text, "" for 0."""
    text = pl.col(value).map_elements(form.format, pl.String)
    return pl.when(pl.col(value) > 0).then(text).otherwise(pl.lit("")).alias("label")


def draw_grid(
    frame: pl.DataFrame, across: alt.X, down: alt.Y, value: str, bounds: list[float]
) -> Drawing:
    """Draw a heat map whose cells show their `label`; cells of 0 stay grey."""
    on = pl.when(pl.col(value) >= bounds[4]).then(pl.lit(ON_HIGH)).otherwise(pl.lit(ON_LOW))
    cells = alt.Chart(frame.with_columns(on.alias("on"))).encode(x=across, y=down)
    zero = cells.transform_filter(f"datum.{value} == 0").mark_rect(color=EMPTY)
    positive = cells.transform_filter(f"datum.{value} > 0").mark_rect()
    texts = cells.mark_text(fontSize=10).encode(text="label:N", color=alt.Color("on:N", scale=None))
    # seven bounds make eight colours
    scale = alt.Scale(type="threshold", domain=bounds, range=RAMP)
    positive = positive.encode(color=alt.Color(f"{value}:Q", scale=scale, legend=None))
    layers = alt.layer(zero, positive, texts)
    return layers.resolve_scale(color="independent")


def draw_board_map(
    frame: pl.DataFrame,
    value: str,
    title: str,
    cell: int = 44,
    bounds: list[float] | None = None,
    *,
    with_names: bool = True,
) -> Drawing:
    """Draw a board from above as a heat map; cells have the columns `file`, `rank` and `label`."""
    plain = alt.Axis(title=None, domain=False, ticks=False, labels=with_names)
    chart = draw_grid(
        frame,
        alt.X("file:O", axis=plain),
        alt.Y("rank:O", sort="descending", axis=plain),
        value,
        bounds or make_even_bounds(frame[value]),
    )
    across, down = frame["file"].n_unique(), frame["rank"].n_unique()
    return chart.properties(title=title, width=cell * across, height=cell * down)


def place_side_by_side(charts: list[Drawing], columns: int | None = None) -> Drawing:
    """Place charts in rows, each with its own scales."""
    return alt.concat(*charts, columns=columns or len(charts)).resolve_scale(
        color="independent", x="independent", y="independent"
    )
