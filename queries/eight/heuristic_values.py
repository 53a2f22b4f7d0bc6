"""The figure of the heuristics' values: how many states have each of them, at each distance."""

from __future__ import annotations

import altair as alt
import polars as pl

from queries.eight.panels import DISTANCE, draw_bands, format_each, stack_panels, weigh
from queries.figure import Figure, Panels, compute


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


FIGURE = Figure(
    "eight-heuristics",
    "Heuristics and true distance",
    count_heuristics,
    _find_heuristics,
    _describe_heuristics,
    _draw_heuristics,
)
