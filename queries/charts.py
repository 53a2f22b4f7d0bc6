"""The report's charts: for each a title with its finding, a query of the tables, and a drawing."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import cycle
from typing import Any, NamedTuple

import altair as alt
import polars as pl
import vl_convert

from puzzle_tablebase.queries import svg
from puzzle_tablebase.queries.svg import AMBER, BLUE, GREEN, INK, MUTED

TitledChart = tuple[str, Any]
"""A title with a finding, and an Altair chart, whose own types say little."""

# ---- what several charts share -------------------------------------------------------------------

TEXT = {"labelColor": MUTED, "titleColor": MUTED, "labelFontSize": 12, "titleFontSize": 12}
CONFIG: dict[str, Any] = {
    "font": svg.FONT,
    "background": None,
    # room at the right for text in a wider font: a viewer may lack the page's
    "padding": {"left": 2, "top": 4, "right": 12, "bottom": 4},
    # labels of every bar and cell would be most of the page; each chart has one label
    "aria": False,
    "view": {"stroke": None},
    "axis": {**TEXT, "titleFontWeight": "normal", "titlePadding": 12, "gridColor": svg.GRID},
    "axisX": {"grid": False, "labelAngle": 0, "tickColor": MUTED, "domainColor": MUTED},
    "axisY": {"domain": False, "ticks": False},
    "header": {"labelColor": INK, "labelFontSize": 13, "labelFontWeight": 600, "labelPadding": 4},
    "headerRow": {"labelOrient": "top", "labelAnchor": "start", "labelAngle": 0},
    "legend": {
        **TEXT,
        "titleFontWeight": "normal",
        "orient": "bottom",
        "gradientStrokeColor": None,
    },
    "line": {"strokeWidth": 2},
    "facet": {"spacing": 14},
}
"""The look of all charts."""
WIDTH, HEIGHT = 300, 190
"""The size of a chart without its axes: a phone shows it at its full size or a little less."""
COUNTS = alt.Axis(format=",d", tickCount=4)
FIVES = alt.Axis(values=[*range(0, 200, 5)])
DISTANCE = alt.X("distance:Q", axis=FIVES, scale=alt.Scale(nice=False))
SHARE = alt.Scale(type="quantize", domain=[0, 1], range=svg.RAMP)
"""A scale of colours for shares: a picture on a dark screen replaces each colour by another."""


def render_svg(drawing: Any, title: str) -> str:
    """Return a chart as SVG text, with its title for screen readers."""
    spec = {**drawing.to_dict(), "config": CONFIG}
    version = ".".join(alt.SCHEMA_VERSION[1:].split(".")[:2])
    drawn = vl_convert.vegalite_to_svg(spec, vl_version=version)
    # groups without a label would be announced without a name
    drawn = re.sub(r' (?:role="graphics-[a-z]+"|aria-roledescription="[^"]*")', "", drawn)
    return drawn.replace("<svg", f"<svg{svg.label_svg(title)}", 1)


def compute(frame: pl.DataFrame, expression: pl.Expr) -> Any:
    """Return the only value of an expression, with its own type."""
    return frame.select(expression).item()


def compute_weighted_mean(column: str) -> pl.Expr:
    """Return the mean of a column over all states."""
    return pl.col(column).dot("states") / pl.col("states").sum()


def name_lines(column: str, colours: dict[str, str]) -> alt.Color:
    """Return an encoding that gives each line, named in a column, its colour."""
    scale = alt.Scale(domain=[*colours], range=[*colours.values()])
    return alt.Color(f"{column}:N", title=None, scale=scale, legend=alt.Legend(columns=5))


def draw_lines(frame: pl.DataFrame, y: alt.Y, color: alt.Color, **encoded: Any) -> Any:
    """Draw lines over the distance."""
    lines = alt.Chart(frame).mark_line().encode(x=DISTANCE, y=y, color=color, **encoded)
    return lines.properties(width=WIDTH, height=HEIGHT)


def draw_columns(frame: pl.DataFrame, y: alt.Y, colours: dict[str, str]) -> Any:
    """Draw each of some columns as a line over the distance."""
    long = frame.unpivot([*colours], index="distance", variable_name="line")
    return draw_lines(long, y, name_lines("line", colours))


GOALS = name_lines("goal", {"corner": BLUE, "centre": AMBER, "edge": GREEN})

# ---- the 8-puzzle --------------------------------------------------------------------------------


def draw_distances(rows: pl.LazyFrame) -> TitledChart:
    """Draw the states of the 8-puzzle by their distance to each goal."""
    frame = rows.select("goal", "distance", "states").sort("distance").collect()
    is_half = pl.col("states").cum_sum() >= pl.col("states").sum() / 2
    half = compute(frame.filter(is_half), pl.col("distance").min())
    most = compute(frame, pl.col("distance").max())
    bars = alt.Chart(frame).mark_bar()
    bars = bars.encode(
        x=alt.X("distance:O", axis=FIVES),
        y=alt.Y("states:Q", axis=COUNTS),
        color=GOALS.legend(None),
        row=alt.Row("goal:N", title=None, sort=["corner", "centre", "edge"]),
    )
    title = f"Half of the 8-puzzle’s states are within {half} moves, all within {most}"
    return title, bars.properties(width=WIDTH, height=80)


def draw_heuristics(rows: pl.LazyFrame) -> TitledChart:
    """Draw the mean of each heuristic by the true distance."""
    means = rows.group_by("distance").agg(pl.col("manhattan", "misplaced").mean())
    frame = means.with_columns(pl.col("distance").alias("true distance")).sort("distance").collect()
    last = frame.row(-1, named=True)
    title = (
        f"At {last['distance']} moves, Manhattan distance says {last['manhattan']:.0f} on average "
        f"and misplaced tiles say {last['misplaced']:.0f}"
    )
    y = alt.Y("value:Q", title="mean of the heuristic")
    lines = {"true distance": INK, "manhattan": BLUE, "misplaced": AMBER}
    return title, draw_columns(frame, y, lines)


def draw_random_moves(rows: pl.LazyFrame) -> TitledChart:
    """Draw the share of moves that lead nearer to the goal, by distance."""
    # a blank in a corner has two moves, in the centre four, elsewhere three
    is_corner = pl.col("blank").is_in([0, 2, 6, 8])
    moves = pl.when(is_corner).then(2).when(pl.col("blank") == 4).then(4).otherwise(3)
    share = pl.col("best_moves").str.len_chars() / moves
    groups = rows.filter(pl.col("distance") > 0).group_by("goal", "distance")
    frame = groups.agg(states=pl.len(), share=share.mean()).sort("goal", "distance").collect()
    title = (
        "A random move in the 8-puzzle leads nearer to the goal "
        f"{compute(frame, compute_weighted_mean('share')):.0%} of the time"
    )
    percent = alt.Axis(format="%", tickCount=5)
    y = alt.Y("share:Q", title="moves that help", axis=percent, scale=alt.Scale(domain=[0, 1]))
    return title, draw_lines(frame, y, GOALS)


def draw_solutions(rows: pl.LazyFrame) -> TitledChart:
    """Draw the number of shortest solutions by distance."""
    number = pl.col("solutions")
    groups = rows.group_by("distance").agg(
        states=pl.len(), most=number.max(), mean=number.mean(), median=number.median()
    )
    frame = groups.sort("distance").collect()
    mean, most = compute(frame, compute_weighted_mean("mean")), compute(frame, pl.col("most").max())
    title = f"A state of the 8-puzzle has {mean:.0f} shortest solutions on average, {most} at most"
    ticks = alt.Axis(values=[1, 2, 5, 10, 20, 50, 100])
    scale = alt.Scale(type="log", nice=False)
    y = alt.Y("value:Q", title="shortest solutions", scale=scale, axis=ticks)
    return title, draw_columns(frame, y, {"most": MUTED, "mean": BLUE, "median": AMBER})


# ---- Senet ---------------------------------------------------------------------------------------


def draw_plies(rows: pl.LazyFrame) -> TitledChart:
    """Draw the positions of Senet by the fewest plies that reach them."""
    frame = rows.select("distance", "states").sort("distance").collect()
    reached = frame.drop_nulls()
    unreachable = compute(frame.remove(pl.col("distance") >= 0), pl.col("states").sum())
    most = compute(reached, pl.col("distance").max())
    bars = alt.Chart(reached).mark_bar(color=BLUE)
    bars = bars.encode(
        x=alt.X("distance:O", title="fewest plies"),
        y=alt.Y("states:Q", title="positions", axis=COUNTS),
    )
    title = f"Senet’s positions are reached within {most} plies, {unreachable:,} are unreachable"
    return title, bars.properties(width=WIDTH, height=HEIGHT)


def draw_squares(rows: pl.LazyFrame) -> TitledChart:
    """Draw where the pieces of Senet stand, by plies."""
    shares = [
        (pl.col("position").str.slice(square - 1, 1) == piece).mean().alias(f"{piece} {square}")
        for piece in "AB"
        for square in range(1, 16)
    ]
    plies = rows.drop_nulls("plies").group_by("plies").agg(shares)
    frame = (
        plies.unpivot(index="plies", value_name="share")
        .with_columns(
            piece=pl.lit("pieces of ") + pl.col("variable").str.head(1),
            square=pl.col("variable").str.slice(2).cast(pl.Int8),
        )
        .sort("piece", "plies", "square")
        .collect()
    )
    last = frame.filter(pl.col("plies") == pl.col("plies").max())
    share = last.filter(pl.col("square") > 10)["share"].sum() / 10  # five pieces of each side
    quarters = "indexof([0.25, 0.5, 0.75], datum.value) < 0 ? '' : format(datum.value, '.0%')"
    legend = alt.Legend(title="share of the positions", labelExpr=quarters)
    cells = alt.Chart(frame).mark_rect()
    cells = cells.encode(
        x=alt.X("square:O"),
        y=alt.Y("plies:O", title="fewest plies"),
        color=alt.Color("share:Q", scale=SHARE, legend=legend),
        row=alt.Row("piece:N", title=None),
    )
    title = (
        f"At {last['plies'][0]} plies, {share:.0%} of Senet’s pieces stand on the last five squares"
    )
    return title, cells.properties(width=WIDTH, height=alt.Step(13))


# ---- the knight's tour, and the boards -----------------------------------------------------------


def draw_starts(rows: pl.LazyFrame) -> TitledChart:
    """Draw the number of tours from each square of three boards."""
    start = pl.col("start").cast(pl.String)
    frame = (
        rows.filter(pl.col("board").is_in(["5x5", "6x6", "8x8"]))
        .select("board", "tours", start, file=start.str.head(1), rank=start.str.slice(1))
        .with_columns(share=pl.col("tours") / pl.col("tours").max().over("board"))
        .sort("board", "start")
        .collect()
    )
    largest = frame.filter(pl.col("board") == pl.col("board").max())
    fewest = largest.row(largest["tours"].arg_min(), named=True)
    most = largest.row(largest["tours"].arg_max(), named=True)
    plain = alt.Axis(title=None, domain=False, ticks=False)
    cells = alt.Chart().encode(
        x=alt.X("file:O", axis=plain), y=alt.Y("rank:O", axis=plain, sort="descending")
    )
    colour = alt.Color("share:Q", legend=None, scale=SHARE)
    numbers = alt.condition("datum.share < 0.625", alt.value(INK), alt.value(svg.ON_HIGH))
    text = cells.mark_text(fontSize=11).encode(
        text=alt.Text("tours:Q", format=".3~s"), color=numbers
    )
    layers = alt.layer(cells.mark_rect().encode(color=colour), text, data=frame)
    boards = layers.properties(width=alt.Step(36), height=alt.Step(30))
    boards = boards.facet(row=alt.Row("board:N", title=None))
    title = (
        f"{most['tours']:,} tours of {most['board']} start on {most['start']}, "
        f"{fewest['tours']:,} on {fewest['start']}"
    )
    return title, boards.resolve_scale(x="independent", y="independent")


def draw_boards(rows: pl.LazyFrame) -> TitledChart:
    """Draw the states of the sliding boards that are built, by distance: a line for each goal."""
    size = pl.col("states").sum().over("board", "goal")
    columns = rows.select("board", "goal", "distance", "states")
    frame = columns.sort(size, "board", "goal", "distance").collect()
    boards = frame["board"].unique(maintain_order=True)
    most = compute(frame.filter(board=boards[-1]), pl.col("distance").max())
    colours = dict(zip(boards, cycle([BLUE, AMBER, GREEN, INK, MUTED])))
    powers = alt.Axis(format=",d", values=[10**power for power in range(13)])
    y = alt.Y("states:Q", scale=alt.Scale(type="log", nice=False), axis=powers)
    title = f"The farthest states of {boards[-1]}, the largest board built, need {most} moves"
    return title, draw_lines(frame, y, name_lines("board", colours), detail="goal:N")


class Chart(NamedTuple):
    """A drawing with its rows: those of `tables`, or the counts of states of the puzzle `counts`.

    The rows of several tables are concatenated; unbuilt tables are left out.
    """

    draw: Callable[[pl.LazyFrame], TitledChart]
    tables: tuple[str, ...] = ()
    counts: str = ""


EIGHT = ("eight", "eight_edge")
CHARTS = (
    Chart(draw_distances, counts="eight"),
    Chart(draw_heuristics, EIGHT),
    Chart(draw_random_moves, EIGHT),
    Chart(draw_solutions, EIGHT),
    Chart(draw_plies, counts="senet"),
    Chart(draw_squares, ("senet",)),
    Chart(draw_starts, ("knight_counts", "knight_counts_8x8")),
    Chart(draw_boards, counts="sliding"),
)
"""All charts, in the order of the page."""
