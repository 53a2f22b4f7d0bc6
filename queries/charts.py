"""The report's charts: for each a title with its finding, a query of the tables, and a drawing."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any, NamedTuple

import altair as alt
import polars as pl

from puzzle_tablebase.queries.svg import AMBER, BLUE, GREEN, INK, MUTED, ON_HIGH, RAMP

Shown = tuple[str, Any]
"""A title with a finding, and an Altair chart, whose own types say little."""
Draw = Callable[[pl.LazyFrame], Shown]
"""A function that shows some rows."""


class Chart(NamedTuple):
    """A drawing with its rows: those of `tables`, or the counts of states of the puzzle `counts`.

    The rows of several tables follow each other; those that are not built are left out.
    """

    draw: Draw
    tables: tuple[str, ...]
    counts: str


CHARTS = list[Chart]()
"""All charts, in the order of the page."""


def chart(*tables: str, counts: str = "") -> Callable[[Draw], Draw]:
    """Return a decorator that adds a drawing of these rows to the charts."""

    def add(draw: Draw) -> Draw:
        CHARTS.append(Chart(draw, tables, counts))
        return draw

    return add


# ---- what several charts share -------------------------------------------------------------------

WIDTH, HEIGHT = 300, 190
"""The size of a chart without its axes: a phone shows it at its full size or a little less."""
COUNTS = alt.Axis(format=",d", tickCount=4)
POWERS = alt.Axis(format=",d", values=[10**power for power in range(13)])
PERCENT = alt.Axis(format="%", tickCount=5)
FIVES = alt.Axis(values=[*range(0, 200, 5)])
DISTANCE = alt.X("distance:Q", title="distance", axis=FIVES, scale=alt.Scale(nice=False))
LOG = alt.Scale(type="log", nice=False)
SHARE = alt.Scale(type="quantize", domain=[0, 1], range=RAMP)
"""A scale of colours for shares: a picture on a dark screen replaces each colour by another."""


QUARTERS = alt.Legend(
    labelExpr="indexof([0.25, 0.5, 0.75], datum.value) < 0 ? '' : format(datum.value, '.0%')"
)


def compute(frame: pl.DataFrame, expression: pl.Expr) -> Any:
    """Return the single value of an expression, of its own type."""
    return frame.select(expression).item()


def weigh(column: str) -> pl.Expr:
    """Return the mean of a column over all states."""
    return (pl.col(column) * pl.col("states")).sum() / pl.col("states").sum()


def name_lines(column: str, colours: dict[str, str]) -> alt.Color:
    """Return an encoding that gives each line, named in a column, its colour."""
    scale = alt.Scale(domain=[*colours], range=[*colours.values()])
    return alt.Color(f"{column}:N", title=None, scale=scale, legend=alt.Legend(columns=5))


def draw_lines(frame: pl.DataFrame, y: alt.Y, color: alt.Color, **encoded: Any) -> Any:
    """Draw lines over the distance."""
    lines = alt.Chart(frame).mark_line().encode(x=DISTANCE, y=y, color=color, **encoded)
    return lines.properties(width=WIDTH, height=HEIGHT)


GOALS = name_lines("goal", {"corner": BLUE, "centre": AMBER, "edge": GREEN})


# ---- the 8-puzzle --------------------------------------------------------------------------------


@chart(counts="eight")
def draw_distances(rows: pl.LazyFrame) -> Shown:
    """Draw the states of the 8-puzzle by their distance to each goal."""
    frame = rows.sort("distance").with_columns(below=pl.col("states").cum_sum()).collect()
    total, most = frame["states"].sum(), compute(frame, pl.col("distance").max())
    half = compute(frame, pl.col("distance").filter(pl.col("below") >= total / 2).min())
    bars = (
        alt.Chart(frame.drop("puzzle", "board", "below"))
        .mark_bar()
        .encode(
            x=alt.X("distance:O", title="distance", axis=FIVES),
            y=alt.Y("states:Q", title="states", axis=COUNTS),
            color=GOALS.legend(None),
            row=alt.Row("goal:N", title=None, sort=["corner", "centre", "edge"]),
        )
        .properties(width=WIDTH, height=80)
    )
    return f"Half of the 8-puzzle’s states are within {half} moves, all within {most}", bars


@chart("eight", "eight_edge")
def draw_heuristics(rows: pl.LazyFrame) -> Shown:
    """Draw the mean of each heuristic by the true distance."""
    frame = (
        rows.group_by("distance")
        .agg(pl.col("manhattan", "misplaced").mean())
        .with_columns(pl.col("distance").alias("true distance"))
        .sort("distance")
        .collect()
    )
    last = frame.row(-1, named=True)
    title = (
        f"At {last['distance']} moves, Manhattan distance says {last['manhattan']:.0f} on average "
        f"and misplaced tiles say {last['misplaced']:.0f}"
    )
    lines = {"true distance": INK, "manhattan": BLUE, "misplaced": AMBER}
    long = frame.unpivot([*lines], index="distance", variable_name="line")
    y = alt.Y("value:Q", title="mean of the heuristic")
    return title, draw_lines(long, y, name_lines("line", lines))


@chart("eight", "eight_edge")
def draw_random_moves(rows: pl.LazyFrame) -> Shown:
    """Draw the share of moves that lead nearer to the goal, by distance."""
    # a blank in a corner has two moves, in the centre four, elsewhere three
    is_corner = pl.col("blank").is_in([0, 2, 6, 8])
    moves = pl.when(is_corner).then(2).when(pl.col("blank") == 4).then(4).otherwise(3)
    frame = (
        rows.filter(pl.col("distance") > 0)
        .group_by("goal", "distance")
        .agg(
            pl.len().alias("states"),
            (pl.col("best_moves").str.len_chars() / moves).mean().alias("share"),
        )
        .sort("goal", "distance")
        .collect()
    )
    title = (
        "A random move in the 8-puzzle leads nearer to the goal "
        f"{compute(frame, weigh('share')):.0%} of the time"
    )
    y = alt.Y("share:Q", title="moves that help", axis=PERCENT, scale=alt.Scale(domain=[0, 1]))
    return title, draw_lines(frame, y, GOALS)


@chart("eight", "eight_edge")
def draw_solutions(rows: pl.LazyFrame) -> Shown:
    """Draw the number of shortest solutions by distance."""
    number = pl.col("solutions")
    frame = (
        rows.group_by("distance")
        .agg(
            pl.len().alias("states"),
            number.max().alias("most"),
            number.mean().alias("mean"),
            number.median().alias("median"),
        )
        .sort("distance")
        .collect()
    )
    mean, most = compute(frame, weigh("mean")), compute(frame, pl.col("most").max())
    title = f"A state of the 8-puzzle has {mean:.0f} shortest solutions on average, {most} at most"
    lines = {"most": MUTED, "mean": BLUE, "median": AMBER}
    long = frame.unpivot([*lines], index="distance", variable_name="line")
    ticks = alt.Axis(values=[1, 2, 5, 10, 20, 50, 100])
    y = alt.Y("value:Q", title="shortest solutions", scale=LOG, axis=ticks)
    return title, draw_lines(long, y, name_lines("line", lines))


# ---- Senet ---------------------------------------------------------------------------------------


@chart(counts="senet")
def draw_plies(rows: pl.LazyFrame) -> Shown:
    """Draw the positions of Senet by the fewest plies that reach them."""
    frame = rows.select("distance", "states").sort("distance").collect()
    reached = frame.drop_nulls()
    last = compute(reached, pl.col("distance").max())
    never = compute(frame, pl.col("states").filter(pl.col("distance").is_null()).sum())
    bars = (
        alt.Chart(reached)
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("distance:O", title="fewest plies"),
            y=alt.Y("states:Q", title="positions", axis=COUNTS),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    title = f"Senet’s positions are reached within {last} plies, {never:,} never"
    return title, bars


@chart("senet")
def draw_squares(rows: pl.LazyFrame) -> Shown:
    """Draw where the pieces of Senet stand, by plies."""
    squares = range(1, 16)
    frame = (
        rows.drop_nulls("plies")
        .group_by("plies")
        .agg(
            (pl.col("position").str.slice(square - 1, 1) == piece).mean().alias(f"{piece} {square}")
            for piece in "AB"
            for square in squares
        )
        .unpivot(index="plies", value_name="share")
        .with_columns(
            piece=pl.lit("pieces of ") + pl.col("variable").str.head(1),
            square=pl.col("variable").str.slice(2).cast(pl.Int8),
        )
        .sort("piece", "plies", "square")
        .collect()
    )
    plies = compute(frame, pl.col("plies").max())
    on_last = pl.col("share").filter(pl.col("plies") == plies, pl.col("square") > squares[-6])
    cells = (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            x=alt.X("square:O", title="square"),
            y=alt.Y("plies:O", title="fewest plies"),
            color=alt.Color(
                "share:Q", title="share of the positions", scale=SHARE, legend=QUARTERS
            ),
            row=alt.Row("piece:N", title=None),
        )
        .properties(width=WIDTH, height=alt.Step(13))
    )
    share = compute(frame, on_last.sum()) / 10  # five pieces of each side
    return f"At {plies} plies, {share:.0%} of Senet’s pieces stand on the last five squares", cells


# ---- the knight's tour, and the boards -----------------------------------------------------------


@chart("knight_counts", "knight_counts_8x8")
def draw_starts(rows: pl.LazyFrame) -> Shown:
    """Draw the number of tours from each square of three boards."""
    start = pl.col("start").cast(pl.String)
    frame = (
        rows.filter(pl.col("board").is_in(["5x5", "6x6", "8x8"]))
        .select("board", "tours", start, file=start.str.head(1), rank=start.str.slice(1))
        .with_columns(share=pl.col("tours") / pl.col("tours").max().over("board"))
        .sort("board", "start")
        .collect()
    )
    largest = frame.filter(pl.col("board") == pl.col("board").max()).sort("tours", "start")
    fewest = largest.row(0, named=True)
    most = largest.filter(pl.col("tours") == pl.col("tours").max()).row(0, named=True)
    plain = alt.Axis(title=None, domain=False, ticks=False)
    cells = alt.Chart().encode(
        x=alt.X("file:O", axis=plain), y=alt.Y("rank:O", axis=plain, sort="descending")
    )
    numbers = alt.condition("datum.share < 0.625", alt.value(INK), alt.value(ON_HIGH))
    boards = (
        alt.layer(
            cells.mark_rect().encode(color=alt.Color("share:Q", legend=None, scale=SHARE)),
            cells.mark_text().encode(text=alt.Text("tours:Q", format=".3~s"), color=numbers),
            data=frame,
        )
        .properties(width=alt.Step(36), height=alt.Step(30))
        .facet(row=alt.Row("board:N", title=None))
        .resolve_scale(x="independent", y="independent")
    )
    title = (
        f"{most['tours']:,} tours of {most['board']} start on {most['start']}, "
        f"{fewest['tours']:,} on {fewest['start']}"
    )
    return title, boards


@chart(counts="sliding")
def draw_boards(rows: pl.LazyFrame) -> Shown:
    """Draw the states of the sliding boards that are built, by distance: a line for each goal."""
    frame = (
        rows.select("board", "goal", "distance", "states")
        .with_columns(all=pl.col("states").sum().over("board", "goal"))
        .sort("all", "board", "goal", "distance")
        .collect()
    )
    boards = frame["board"].unique(maintain_order=True)
    most = compute(frame, pl.col("distance").filter(pl.col("board") == boards[-1]).max())
    colours = dict(zip(boards, cycle([BLUE, AMBER, GREEN, INK, MUTED])))
    y = alt.Y("states:Q", title="states", scale=LOG, axis=POWERS)
    lines = draw_lines(frame.drop("all"), y, name_lines("board", colours), detail="goal:N")
    return (
        f"The farthest states of {boards[-1]}, the largest board built, need {most} moves",
        lines,
    )
