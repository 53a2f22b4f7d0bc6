"""The figures of patterns: how their bounds compare with the true distances of a board."""

from __future__ import annotations

from collections.abc import Iterable

import altair as alt
import polars as pl

from queries.charts import draw_named_lines
from queries.figure import Drawing, Figure, Section, compute
from queries.svg import INK, MUTED
from tablebase.puzzles.fifteen.bounds import find_bounds_board

MANHATTAN = "manhattan"


def measure_bounds(bounds: pl.LazyFrame) -> pl.DataFrame:
    short = pl.col("distance") - pl.col("bound")
    return (
        bounds.group_by("partition", "distance")
        .agg(
            pl.col("states").sum(),
            ((short * pl.col("states")).sum() / pl.col("states").sum()).alias("mean_error"),
            pl.col("states").filter(short == 0).sum().alias("exact_states"),
        )
        .sort("partition", "distance")
        .collect()
    )


def _summarize(frame: pl.DataFrame) -> pl.DataFrame:
    """Return each partition with its mean shortfall and its share of exact bounds."""
    states = pl.col("states").sum()
    return frame.group_by("partition", maintain_order=True).agg(
        ((pl.col("mean_error") * pl.col("states")).sum() / states).alias("mean_error"),
        (pl.col("exact_states").sum() / states).alias("exact_share"),
    )


def _find_bounds(frame: pl.DataFrame) -> str:
    means = dict(_summarize(frame).select("partition", "mean_error").rows())
    best = min(means, key=lambda name: means[name])
    return (
        f"The bound of {best} is {means[best]:.1f} moves too low, "
        f"that of Manhattan {means[MANHATTAN]:.1f}"
    )


def _describe_bounds(frame: pl.DataFrame) -> str:
    summary = _summarize(frame).to_dicts()
    parts = (
        f"{row['partition']} {row['mean_error']:.2f} moves, exact for {row['exact_share']:.1%}"
        for row in summary
    )
    states = compute(frame.filter(partition=MANHATTAN), pl.col("states").sum())
    return (
        "How far the sum of the patterns' distances is below the true distance, on average over "
        f"all {states:,} states, by distance. No bound exceeds the distance. Over all states: "
        f"{'; '.join(parts)}."
    )


def _draw_bounds(frame: pl.DataFrame) -> Drawing:
    names = frame["partition"].cast(pl.String).unique(maintain_order=True).to_list()
    wide = frame.with_columns(pl.col("partition").cast(pl.String)).pivot(
        on="partition", index="distance", values="mean_error"
    )
    last = compute(frame, pl.col("distance").max())
    x = alt.X(
        "distance:Q",
        title="distance",
        axis=alt.Axis(values=list(range(0, last + 1, 5))),
        scale=alt.Scale(domain=[0, last + 14], nice=False),
    )
    scale = alt.Scale(domain=[0, compute(frame, pl.col("mean_error").max()) + 1])
    colours = dict.fromkeys(names, MUTED) | {names[-1]: INK}
    lines = draw_named_lines(wide.sort("distance"), x, "mean of distance - bound", scale, colours)
    return lines.properties(width=640, height=260)


def make_board_sections(published: Iterable[str]) -> list[Section]:
    """List the section of each board whose bounds are published."""
    boards = {name: board for name in published if (board := find_bounds_board(name))}
    return [
        Section(
            f"Patterns on {board}",
            "A pattern database has the fewest moves of some tiles from every placement; a "
            "partition of all tiles adds up to a bound, named by the numbers of tiles. Manhattan "
            "is the partition with a pattern for each tile.",
            Figure(
                f"patterns-{board}",
                "How far the bounds fall short, by distance",
                measure_bounds,
                _find_bounds,
                _describe_bounds,
                _draw_bounds,
                (name,),
            ),
        )
        for name, board in boards.items()
    ]
