"""The figure of the heuristics' cost: the states that A* must expand with each of them."""

from __future__ import annotations

import altair as alt
import polars as pl

from queries.charts import draw_named_lines
from queries.figure import Drawing, Figure
from queries.svg import INK, MUTED

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


FIGURE = Figure(
    "eight-searches",
    "What the heuristics save a search, by distance",
    compare_searches,
    _find_cost,
    _describe_cost,
    _draw_cost,
)
