"""The 8-puzzle's figures of heuristics, how often each value occurs and what a search costs.

Also what all its figures share: axes, and panels, one for each goal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import polars as pl

from queries.figure import (
    Drawing,
    Figure,
    Panels,
    add_bands,
    color_by_band,
    compute,
    draw_named_lines,
)
from queries.svg import INK, MUTED, SERIES
from tablebase.puzzles.eight import PUZZLE

GOALS = list(PUZZLE.goals)
GOAL_COLOURS = dict(zip(GOALS, SERIES, strict=True))

PANEL = 205
BOUNDS = [3, 10, 30, 100, 300, 1000, 3000]
FIVES = alt.Axis(values=list(range(0, 32, 5)))
DISTANCE = alt.X("distance:O", title="distance", axis=FIVES)
TO_31 = alt.X(
    "distance:Q", title="distance", axis=FIVES, scale=alt.Scale(domain=[0, 31], nice=False)
)
BEYOND_31 = alt.X(
    "distance:Q", title="distance", axis=FIVES, scale=alt.Scale(domain=[0, 40], nice=False)
)
"""An axis with room for the names of lines."""


def weigh(column: str) -> pl.Expr:
    """Return the mean of a column over all states."""
    return (pl.col(column) * pl.col("states")).sum() / pl.col("states").sum()


MEAN = weigh("distance")


def format_each(frame: pl.DataFrame, template: str) -> str:
    """Fill a template for each goal's row, in the order of the goals."""
    rows = {row["goal"]: row for row in frame.to_dicts()}
    return ", ".join(template.format(**rows[goal]) for goal in GOALS)


def draw_panels(
    frame: pl.DataFrame, high: int, draw: Callable[[pl.DataFrame, str], Drawing]
) -> Panels:
    """Draw one chart for each goal, from its rows and its name."""
    return {
        goal: draw(frame.filter(pl.col("goal") == goal), goal).properties(
            title=goal, width=PANEL, height=high
        )
        for goal in GOALS
    }


def draw_bands(frame: pl.DataFrame, high: int, **encoded: Any) -> Panels:
    """Draw a heat map of the states for each goal; the last one has the legend."""
    banded = add_bands(frame, "states", BOUNDS)

    def draw(rows: pl.DataFrame, goal: str) -> Drawing:
        color = color_by_band("states", BOUNDS)
        if goal != GOALS[-1]:
            color = color.legend(None)
        return alt.Chart(rows).mark_rect().encode(**encoded, color=color)

    return draw_panels(banded, high, draw)


def stack_panels(rows: list[Panels]) -> Panels:
    """Place the panels of each goal one below the other."""
    return {goal: alt.vconcat(*(row[goal] for row in rows)) for goal in GOALS}


def count_heuristics(eight: pl.LazyFrame, eight_edge: pl.LazyFrame) -> pl.DataFrame:
    return (
        pl.concat([eight, eight_edge])
        .unpivot(["manhattan", "misplaced"], index=["goal", "distance"])
        .group_by("goal", "distance", pl.col("variable").alias("heuristic"), "value")
        .len("states")
        .sort("goal", "heuristic", "distance", "value")
        .collect()
    )


def _draw_heuristics(frame: pl.DataFrame) -> Panels:
    rows = []
    for heuristic, high, step in (("manhattan", 210, 4), ("misplaced", 130, 2)):
        ticks = alt.Axis(values=list(range(0, 25, step)))
        panels = draw_bands(
            frame.filter(pl.col("heuristic") == heuristic),
            high,
            x=DISTANCE,
            y=alt.Y("value:O", sort="descending", title=heuristic, axis=ticks),
        )
        rows.append(panels)
    return stack_panels(rows)


def _find_heuristics(frame: pl.DataFrame) -> str:
    manhattan = frame.filter(pl.col("heuristic") == "manhattan").with_columns(
        exact=pl.col("value") == pl.col("distance")
    )
    return (
        "No heuristic says more than the distance; "
        f"Manhattan is exact for {compute(manhattan, weigh('exact')):.1%} of the states"
    )


def _describe_heuristics(frame: pl.DataFrame) -> str:
    exact = (
        frame.filter(pl.col("heuristic") == "manhattan")
        .group_by("goal")
        .agg(pl.col("states").filter(pl.col("value") == pl.col("distance")).sum().alias("exact"))
    )
    assert frame.select((pl.col("value") <= pl.col("distance")).all()).item()
    return (
        "The number of states at each distance, for each value of a heuristic. No value exceeds "
        "the distance: neither overestimates. Manhattan is exact for "
        f"{format_each(exact, '{exact:,} states ({goal})')}."
    )


HEURISTIC_VALUES = Figure(
    "eight-heuristics",
    "Heuristics and true distance",
    count_heuristics,
    _find_heuristics,
    _describe_heuristics,
    _draw_heuristics,
)


SEARCHES = {"breadth first": MUTED, "misplaced": MUTED, "manhattan": INK}
COLUMNS = {name: f"mean_{name.replace(' ', '_')}_states" for name in SEARCHES}
"""The column of the states that each search expands."""


def compare_searches(eight: pl.LazyFrame) -> pl.DataFrame:
    # a state as the sum of its tiles, each times the weight of its cell
    weights = [
        pl.lit(10, pl.Int32).pow(8 - pl.col("state").str.find(tile, literal=True)).alias(tile)
        for tile in "12345678"
    ]
    states = eight.filter(pl.col("goal") == "corner").with_columns(weights).collect()
    numbers, distances = states["state"].cast(pl.Int64), states["distance"]
    # four starts at each of some distances, evenly spaced among those with the blank in the corner
    starts = (
        states.filter(
            pl.col("state").str.ends_with("0"), pl.col("distance").is_in(range(10, 31, 4))
        )
        .group_by("distance", maintain_order=True)
        .agg(pl.col("state").gather(pl.int_range(4) * pl.len() // 4))
        .explode("state")
    )
    searches = []
    for distance, start in starts.select("distance", "state").rows():
        # with the tiles of the start renamed to those of corner, its distances are corner's
        tiles = [pl.col(tile) * (start.index(tile) + 1) for tile in "12345678"]
        renamed = states.select(pl.sum_horizontal(tiles).cast(pl.Int64)).to_series()
        left = distance - distances.gather(numbers.search_sorted(renamed))
        expanded = [(left > bound).sum() for bound in (0, states["misplaced"], states["manhattan"])]
        searches.append((distance, *expanded))
    names = ["mean_breadth_first_states", "mean_misplaced_states", "mean_manhattan_states"]
    return (
        pl.DataFrame(searches, ["distance", *names], orient="row")
        .group_by("distance")
        .agg(pl.len().alias("starts"), pl.col(names).mean())
        .sort("distance")
    )


def _find_cost(frame: pl.DataFrame) -> str:
    last = frame.row(-1, named=True)
    blind, misplaced, manhattan = (last[column] for column in COLUMNS.values())
    return (
        f"At {last['distance']} moves Manhattan saves {1 - manhattan / blind:.0%} of the search, "
        f"misplaced tiles {1 - misplaced / blind:.0%}"
    )


def _describe_cost(frame: pl.DataFrame) -> str:
    last = frame.row(-1, named=True)
    blind, misplaced, manhattan = (last[column] for column in COLUMNS.values())
    return (
        "The states that A* must expand before it has a shortest solution: those whose distance "
        "from the start and heuristic add up to less than the solution's length. Means of "
        f"{last['starts']} starts at each distance from corner, evenly spaced in notation order "
        f"among those with the blank in the corner. At {last['distance']} moves: "
        f"{blind:,.0f} without a heuristic, {misplaced:,.0f} with "
        f"misplaced tiles, {manhattan:,.0f} with Manhattan."
    )


def _draw_cost(frame: pl.DataFrame) -> Drawing:
    x = alt.X(
        "distance:Q",
        title="distance of the start",
        axis=alt.Axis(values=frame["distance"].to_list()),
        scale=alt.Scale(domain=[10, 36], nice=False),
    )
    ticks = alt.Axis(values=[10**power for power in range(6)], format=",d")
    scale = alt.Scale(type="log", domain=[1, 200_000], nice=False)
    lines = draw_named_lines(
        frame.select("distance", **COLUMNS), x, "states expanded", scale, SEARCHES, ticks
    )
    return lines.properties(width=560, height=240)


SEARCH_COST = Figure(
    "eight-searches",
    "What the heuristics save a search, by distance",
    compare_searches,
    _find_cost,
    _describe_cost,
    _draw_cost,
)
