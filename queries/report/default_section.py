"""The report's default section, for a puzzle with goals that has no section of its own."""

from __future__ import annotations

import polars as pl

from queries.figure import Figure, Section, compute
from queries.svg import draw_histogram
from tablebase.puzzle import GoalPuzzle


def count_by_distance(table: pl.LazyFrame) -> pl.DataFrame:
    return table.group_by("goal", "distance").len("states").sort("goal", "distance").collect()


def _find_distances(frame: pl.DataFrame) -> str:
    return f"No state is farther than {compute(frame, pl.col('distance').max())} moves"


def _describe_distances(frame: pl.DataFrame) -> str:
    furthest = frame.filter(pl.col("distance") == pl.col("distance").max().over("goal"))
    parts = (
        f"{row['states']:,} at distance {row['distance']} from {row['goal']}"
        for row in furthest.to_dicts()
    )
    return f"{frame['states'].sum():,} states; the furthest: {', '.join(parts)}."


def make_section(puzzle: GoalPuzzle) -> Section:
    """Make a section with a histogram of each table."""
    return Section(
        puzzle.title,
        f"The states are numbered in the order of their notation, for example {puzzle.example}.",
        *(
            Figure(
                f"{puzzle.name}-{table.name}",
                f"States by distance: {table.name}",
                count_by_distance,
                _find_distances,
                _describe_distances,
                lambda frame: draw_histogram(frame, bare=True),
                (table.name,),
            )
            for table in puzzle.tables
        ),
    )
