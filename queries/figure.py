"""Figures of a report: a query of the tables as a function, and the drawing of its answer.

A page shows the source of the function itself, so the two can never differ. The function's
parameters are named as the tables, unless the figure names its tables. A sample file given by the
user has a name too.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import log
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl
import vl_convert

from puzzle_tablebase.puzzles import find_owner, list_puzzles
from puzzle_tablebase.queries.scans import require_intact, scan_rows, translate_scan_errors
from puzzle_tablebase.queries.svg import (
    EMPTY,
    FONT,
    GRID,
    INK,
    MUTED,
    ON_HIGH,
    ON_LOW,
    RAMP,
    label_svg,
)

if TYPE_CHECKING:
    from puzzle_tablebase.schema import Table
    from puzzle_tablebase.tables.manifest import Entry
    from puzzle_tablebase.tables.store import Store


Drawing = Any
"""An Altair chart, whose own types say little, or the text of an SVG."""

Panels = dict[str, Drawing]
"""Charts of one kind by their names, which a wide page shows side by side."""

Query = Callable[..., pl.DataFrame]

Shown = tuple[str, str, Drawing | Panels]
"""One sentence with what a figure shows; a text; a chart, an SVG, or several charts as panels."""

Show = Callable[[pl.DataFrame], Shown]


@dataclass(frozen=True)
class Figure:
    """A query with its presentation: `title` names the subject, `show` shows the answer."""

    name: str
    title: str
    query: Query
    show: Show
    tables: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the tables or files that the query reads."""
        return self.tables or tuple(inspect.signature(self.query).parameters)


def compute(frame: pl.DataFrame, expression: pl.Expr) -> Any:
    """Return the single value of an expression, of its own type."""
    return frame.select(expression).item()


@dataclass
class Section:
    """The part of a report about one puzzle, or about a sample file."""

    title: str
    sentence: str
    figures: list[Figure] = field(default_factory=list)

    def add(self, name: str, title: str, query: Query, *tables: str) -> Callable[[Show], Show]:
        """Return a decorator of a function that shows a query's answer: it adds the figure."""

        def add_figure(show: Show) -> Show:
            self.figures.append(Figure(name, title, query, show, tables))
            return show

        return add_figure


def _extract_body(query: Query) -> str:
    """Return the statements of a function's body as text, without the last `return`."""
    source = textwrap.dedent(inspect.getsource(query))
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    last = statements[-1]
    assert isinstance(last, ast.Return)
    lines = source.splitlines()[statements[0].lineno - 1 :]
    at = last.lineno - statements[0].lineno
    lines[at] = lines[at].replace("return ", "", 1)
    return textwrap.dedent("\n".join(lines))


@dataclass(frozen=True)
class Source:
    """Rows to read, the name of their file as the page shows it, and the code that reads it."""

    file: str
    rows: int
    scan: pl.LazyFrame
    reader: str = "scan_parquet"
    ending: str = ""

    def format_scan(self) -> str:
        """Return the code that reads the file lazily."""
        return f"pl.{self.reader}({json.dumps(self.file, ensure_ascii=False)}){self.ending}"


class Sources:
    """The tables of a store, each checked once, and further files by name.

    A query runs once, however many figures draw its answer.
    """

    def __init__(self, store: Store, files: Mapping[str, Source] | None = None) -> None:
        self._store = store
        self._tables: dict[str, Table] = {
            table.name: table for puzzle in list_puzzles() for table in puzzle.tables
        }
        self._sources = dict(files or {})
        self._answers: dict[tuple[Query, tuple[str, ...]], pl.DataFrame] = {}
        self.entries: dict[str, Entry] = {}
        """The manifest's entry of every table that was read."""

    def load(self, name: str) -> Source:
        if name not in self._sources:
            if name not in self._tables:
                owner = find_owner(name)
                found = owner.find_table(name) if owner else None
                assert found is not None
                self._tables[name] = found
            entry = self.entries[name] = require_intact(self._store, self._tables[name])
            scan = scan_rows(self._store, entry)
            self._sources[name] = Source(f"outputs/{name}.parquet", entry.rows, scan)
        return self._sources[name]

    def list_tables(self) -> list[Table]:
        """List the default tables, and those built on request that were read."""
        return [*self._tables.values()]

    def answer(self, figure: Figure) -> pl.DataFrame:
        key = figure.query, figure.sources
        if key not in self._answers:
            scans = [self.load(name).scan for name in figure.sources]
            table = next((name for name in figure.sources if name in self.entries), "")
            with translate_scan_errors(self._store, table) if table else nullcontext():
                self._answers[key] = figure.query(*scans)
        return self._answers[key]

    def format_code(self, figure: Figure) -> str:
        """Format the query as polars code; run beside `outputs`, it ends with the answer."""
        parameters = zip(inspect.signature(figure.query).parameters, figure.sources, strict=True)
        scans = [f"{name} = {self.load(source).format_scan()}" for name, source in parameters]
        return "\n".join(["import polars as pl", "", *scans, "", _extract_body(figure.query)])

    def describe_sources(self, figure: Figure) -> str:
        """Return a sentence with the files that the query reads, their rows, and its own rows."""
        sources = [self.load(name) for name in figure.sources]
        rows = sum(source.rows for source in sources)
        files = " and ".join(PurePath(source.file).name for source in sources)
        returned = self.answer(figure).height
        return f"From {rows:,} rows of {files}; the query returns {returned:,} rows."


EMPTY_ROLES = re.compile(r' (?:role="graphics-[a-z]+"|aria-roledescription="[^"]*")')
"""The roles of groups without a label, which would be announced without a name."""

SMALL = {
    "labelColor": MUTED,
    "titleColor": MUTED,
    "labelFontSize": 11,
    "titleFontSize": 11,
    "titleFontWeight": "normal",
}
NAME_HEIGHT, CLOSE = 14, 0.08
"""The names of lines that end closer than this share of a chart's height are one below the other,
so many pixels apart."""
CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": None,
    # room at the right for text in a wider font: a viewer may lack the page's
    "padding": {"left": 5, "top": 5, "right": 18, "bottom": 5},
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
    "concat": {"spacing": 26},
}


def render_svg(drawing: Drawing, title: str) -> str:
    """Return a chart, or the text of an SVG without a title, as SVG text with a title."""
    text: str = drawing
    if not isinstance(drawing, str):
        spec = drawing.to_dict()
        spec["config"] = CONFIG
        version = ".".join(alt.SCHEMA_VERSION[1:].split(".")[:2])
        text = EMPTY_ROLES.sub("", vl_convert.vegalite_to_svg(spec, vl_version=version))
    return text.replace("<svg", f"<svg{label_svg(title)}", 1)


def list_panels(drawing: Drawing | Panels) -> Panels:
    """Return the panels of a drawing; a single chart is one without a name."""
    return drawing if isinstance(drawing, dict) else {"": drawing}


def join_panels(drawing: Drawing | Panels) -> Drawing:
    """Return the panels of a drawing as one chart."""
    return alt.hconcat(*drawing.values()) if isinstance(drawing, dict) else drawing


def draw_named_lines(
    frame: pl.DataFrame, x: alt.X, title: str, scale: alt.Scale, colours: dict[str, str],
    ticks: alt.Axis | None = None,
) -> Drawing:  # fmt: skip
    """Draw a line for each of the columns `colours`, with its name at its end.

    `title`, `scale` and `ticks` are those of the axis of values; `x` has the field of a column.
    """
    across = str(x.shorthand).partition(":")[0]
    long = frame.unpivot([*colours], index=across, variable_name="line")
    y = alt.Y("value:Q", title=title, scale=scale, axis=ticks or alt.Axis(tickCount=5))
    shades = alt.Scale(domain=[*colours], range=[*colours.values()])
    color = alt.Color("line:N", scale=shades, legend=None)
    layers = [alt.Chart(long).mark_line(strokeWidth=2).encode(x=x, y=y, color=color)]
    ends = long.drop_nulls("value").filter(pl.col(across) == pl.col(across).max().over("line"))
    above, moved = float("inf"), 0
    for end in ends.sort("value", descending=True, maintain_order=True).to_dicts():
        height = _find_height(end["value"], scale)
        moved = moved + NAME_HEIGHT if above - height < CLOSE else 0
        above = height
        name = alt.Chart(pl.DataFrame([end])).mark_text(
            align="left", dx=5, dy=moved, fontSize=12, color=colours[end["line"]]
        )
        layers.append(name.encode(x=x, y=y, text="line:N"))
    return alt.layer(*layers)


def _find_height(value: float, scale: alt.Scale) -> float:
    """Return where a value is on a scale with a domain: 0 at its lower end, 1 at the upper one."""
    form: dict[str, Any] = scale.to_dict()
    low, high = form["domain"]
    if form.get("type") == "log":
        low, high, value = log(low), log(high), log(value)
    return float((value - low) / (high - low))


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
    scale = alt.Scale(domain=name_bands(bounds), range=RAMP)
    # three rows, with room for the names in any font: a viewer may lack the page's
    legend = alt.Legend(columns=3, columnPadding=24, titleOrient="top")
    return alt.Color("band:N", title=title, scale=scale, legend=legend)


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
    texts = cells.mark_text(fontSize=11).encode(text="label:N", color=alt.Color("on:N", scale=None))
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
