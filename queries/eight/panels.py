"""Axes of the 8-puzzle's figures, and their panels, one for each layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import polars as pl

from queries.charts import add_bands, color_by_band
from queries.figure import Drawing, Panels
from queries.svg import SERIES
from tablebase.puzzles.eight import PUZZLE

GOALS = list(PUZZLE.layouts)
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
    """Fill a template for each layout's row, in the order of the layouts."""
    rows = {row["goal"]: row for row in frame.to_dicts()}
    return ", ".join(template.format(**rows[goal]) for goal in GOALS)


def draw_panels(
    frame: pl.DataFrame, high: int, draw: Callable[[pl.DataFrame, str], Drawing]
) -> Panels:
    """Draw one chart for each layout, from its rows and its name."""
    return {
        goal: draw(frame.filter(pl.col("goal") == goal), goal).properties(
            title=goal, width=PANEL, height=high
        )
        for goal in GOALS
    }


def draw_bands(frame: pl.DataFrame, high: int, **encoded: Any) -> Panels:
    """Draw a heat map of the states for each layout; the last one has the legend."""
    banded = add_bands(frame, "states", BOUNDS)

    def draw(rows: pl.DataFrame, goal: str) -> Drawing:
        color = color_by_band("states", BOUNDS)
        if goal != GOALS[-1]:
            color = color.legend(None)
        return alt.Chart(rows).mark_rect().encode(**encoded, color=color)

    return draw_panels(banded, high, draw)


def stack_panels(rows: list[Panels]) -> Panels:
    """Place the panels of each layout one below the other."""
    return {goal: alt.vconcat(*(row[goal] for row in rows)) for goal in GOALS}
