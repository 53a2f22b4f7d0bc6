"""What the report shows of a puzzle with goals that has no section of its own."""

from __future__ import annotations

import polars as pl

from queries.figure import Figure, Section
from queries.svg import histogram_svg
from tablebase.puzzle import GoalPuzzle


def by_distance(table: pl.LazyFrame) -> pl.DataFrame:
    return table.group_by("goal", "distance").len("states").sort("goal", "distance").collect()


def _text(frame: pl.DataFrame) -> str:
    furthest = frame.filter(pl.col("distance") == pl.col("distance").max().over("goal"))
    said = (
        f"{row['states']:,} at distance {row['distance']} from {row['goal']}"
        for row in furthest.to_dicts()
    )
    return f"{frame['states'].sum():,} states; the furthest: {', '.join(said)}."


def section(asked: GoalPuzzle) -> Section:
    """A histogram of each table."""
    return Section(
        asked.title,
        f"The states are numbered in the order of their notation, for example {asked.example}.",
        *(
            Figure(
                f"{asked.name}-{table.name}",
                f"States by distance: {table.name}",
                by_distance,
                _text,
                histogram_svg,
                (table.name,),
            )
            for table in asked.tables
        ),
    )
