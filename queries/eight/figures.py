"""The 8-puzzle's figures: distances to its three layouts, heuristics, solutions, the hardest."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from queries.board_svg import draw_boards
from queries.charts import (
    add_bands,
    color_by_band,
    color_lines,
    draw_board_map,
    format_labels,
    make_even_bounds,
    place_side_by_side,
)
from queries.figure import Drawing, Figure, Section
from queries.svg import AMBER, BLUE, MUTED, SERIES
from tablebase.puzzles.eight import PUZZLE

GOALS = list(PUZZLE.layouts)
BY_GOAL = alt.Scale(domain=GOALS, range=SERIES)

PANEL = 270
SHOWN = 12
BOUNDS = [3, 10, 30, 100, 300, 1000, 3000]
FIVES = alt.Axis(values=list(range(0, 32, 5)))
DISTANCE = alt.X("distance:O", title="distance", axis=FIVES)
TO_31 = alt.X(
    "distance:Q", title="distance", axis=FIVES, scale=alt.Scale(domain=[0, 31], nice=False)
)
MEAN = (pl.col("distance") * pl.col("states")).sum() / pl.col("states").sum()


# ---- queries: a page shows the source of these functions ---------------------------------------


def summarize_distances(eight: pl.LazyFrame, eight_edge: pl.LazyFrame) -> pl.DataFrame:
    return (
        pl.concat([eight, eight_edge])
        .group_by("goal", "distance")
        .agg(
            pl.len().alias("states"),
            pl.col("solutions").mean().alias("mean"),
            pl.col("solutions").median().alias("median"),
            pl.col("solutions").max().alias("most"),
            (pl.col("distance") - pl.col("manhattan")).mean().alias("manhattan"),
            (pl.col("distance") - pl.col("misplaced")).mean().alias("misplaced"),
        )
        .sort("goal", "distance")
        .collect()
    )


def count_by_blank(eight: pl.LazyFrame, eight_edge: pl.LazyFrame) -> pl.DataFrame:
    return (
        pl.concat([eight, eight_edge])
        .group_by("goal", "blank", "distance")
        .len("states")
        .sort("goal", "blank", "distance")
        .collect()
    )


def count_heuristics(eight: pl.LazyFrame, eight_edge: pl.LazyFrame) -> pl.DataFrame:
    return (
        pl.concat([eight, eight_edge])
        .unpivot(["manhattan", "misplaced"], index=["goal", "distance"])
        .group_by("goal", "distance", pl.col("variable").alias("heuristic"), "value")
        .len("states")
        .sort("goal", "heuristic", "distance", "value")
        .collect()
    )


def list_hardest(eight: pl.LazyFrame, eight_edge: pl.LazyFrame) -> pl.DataFrame:
    return (
        pl.concat([eight, eight_edge])
        .filter(pl.col("distance") == pl.col("distance").max().over("goal"))
        .select("goal", "distance", "state", "solutions", "best_moves")
        .sort("goal", "state")
        .collect()
    )


# ---- descriptions and drawings of the answers ---------------------------------------------------


def _format_each(frame: pl.DataFrame, template: str) -> str:
    """Fill a template for each layout's row, in the order of the layouts."""
    rows = {row["goal"]: row for row in frame.to_dicts()}
    return ", ".join(template.format(**rows[goal]) for goal in GOALS)


def _draw_panels(marks: Drawing, high: int, **encoded: Any) -> Drawing:
    """Draw one chart for each layout, side by side."""
    panel = marks.encode(**encoded).properties(width=PANEL, height=high)
    return panel.facet(column=alt.Column("goal:N", sort=GOALS, title=None))


def _describe_distances(frame: pl.DataFrame) -> str:
    per_goal = frame.group_by("goal").agg(MEAN.alias("mean_distance"), pl.col("distance").max())
    means = _format_each(per_goal, "{mean_distance:.2f} to {goal}")
    furthest = _format_each(per_goal, "{distance} ({goal})")
    return (
        f"Every layout is reached by {frame['states'].sum() // 3:,} states. The mean distance is "
        f"{means}; the furthest state is {furthest} moves away."
    )


def _draw_distances(frame: pl.DataFrame) -> Drawing:
    return _draw_panels(
        alt.Chart(frame).mark_bar(),
        190,
        x=DISTANCE,
        y=alt.Y("states:Q", title="states", axis=alt.Axis(format=",d", tickCount=5)),
        color=alt.Color("goal:N", scale=BY_GOAL, legend=None),
    )


def _draw_mean_boards(frame: pl.DataFrame) -> Drawing:
    cells = (
        frame.group_by("goal", "blank")
        .agg(MEAN.alias("mean"))
        .with_columns(
            (pl.col("blank") % 3 + 1).alias("file"),
            (3 - pl.col("blank") // 3).alias("rank"),
            format_labels("mean", "{:.2f}"),
        )
        .sort("goal", "blank")
    )
    bounds = make_even_bounds(cells["mean"])
    boards = []
    for goal in GOALS:
        goal_cells = cells.filter(pl.col("goal") == goal)
        boards.append(draw_board_map(goal_cells, "mean", goal, 56, bounds, with_names=False))
    return place_side_by_side(boards)


def _draw_by_blank(frame: pl.DataFrame) -> Drawing:
    names = ["top left", "top", "top right", "left", "centre", "right",
             "bottom left", "bottom", "bottom right"]  # fmt: skip
    blank_name = pl.col("blank").replace_strict(dict(enumerate(names)), return_dtype=pl.String)
    frame = add_bands(frame, "states", BOUNDS).with_columns(blank_name)
    return _draw_panels(
        alt.Chart(frame).mark_rect(),
        9 * 19,
        x=DISTANCE,
        y=alt.Y("blank:O", sort=names, title="blank at"),
        color=color_by_band("states", BOUNDS),
    )


def _draw_heuristics(frame: pl.DataFrame) -> Drawing:
    rows = []
    frame = add_bands(frame, "states", BOUNDS)
    for heuristic, high, step in (("manhattan", 210, 4), ("misplaced", 130, 2)):
        ticks = alt.Axis(values=list(range(0, 25, step)))
        chart = _draw_panels(
            alt.Chart(frame.filter(pl.col("heuristic") == heuristic)).mark_rect(),
            high,
            x=DISTANCE,
            y=alt.Y("value:O", sort="descending", title=heuristic, axis=ticks),
            color=color_by_band("states", BOUNDS),
        )
        rows.append(chart)
    return alt.vconcat(*rows)


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
        f"{_format_each(exact, '{exact:,} states ({goal})')}."
    )


def _draw_errors(frame: pl.DataFrame) -> Drawing:
    long = frame.unpivot(["manhattan", "misplaced"], index=["goal", "distance"])
    return _draw_panels(
        alt.Chart(long).mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=18)),
        180,
        x=TO_31,
        y=alt.Y("value:Q", title="mean of distance - heuristic", axis=alt.Axis(tickCount=5)),
        color=color_lines("variable", {"manhattan": BLUE, "misplaced": AMBER}),
    )


def _describe_errors(frame: pl.DataFrame) -> str:
    last = frame.filter(pl.col("distance") == 30)
    return (
        "How far each heuristic is below the true distance, on average. At 30 moves Manhattan "
        f"is too low by {_format_each(last, '{manhattan:.1f} ({goal})')}, "
        f"misplaced tiles by {_format_each(last, '{misplaced:.1f} ({goal})')}."
    )


def _draw_solutions(frame: pl.DataFrame) -> Drawing:
    long = frame.unpivot(["most", "mean", "median"], index=["goal", "distance"])
    ticks = alt.Axis(values=[1, 2, 5, 10, 20, 50, 100])
    return _draw_panels(
        alt.Chart(long).mark_line(strokeWidth=2),
        180,
        x=TO_31,
        y=alt.Y("value:Q", title="shortest solutions", scale=alt.Scale(type="log"), axis=ticks),
        color=color_lines("variable", {"most": MUTED, "mean": BLUE, "median": AMBER}),
    )


def _describe_solutions(frame: pl.DataFrame) -> str:
    top = frame.sort("most").group_by("goal").last()
    return (
        "The number of different shortest solutions of a state. "
        f"The maximum is {_format_each(top, '{most} at distance {distance} ({goal})')}."
    )


def _draw_hardest(frame: pl.DataFrame) -> str:
    states, heads = [], []
    # corner and edge have two each, so that these come first and the rows are full
    for goal in ("corner", "edge", "centre"):
        for row in frame.filter(pl.col("goal") == goal).head(SHOWN).to_dicts():
            states.append(row["state"])
            heads.append(f"{goal}, {row['distance']}")
    return draw_boards("The hardest states", states, heads, width=3, bare=True)


def _describe_hardest(frame: pl.DataFrame) -> str:
    per_goal = frame.group_by("goal").agg(pl.len().alias("states"), pl.col("distance").first())
    return (
        "The states furthest from each layout: "
        f"{_format_each(per_goal, '{states} at {distance} moves from {goal}')}. "
        f"At most {SHOWN} of each are drawn, the first in notation order."
    )


SECTION = Section(
    "The 8-puzzle",
    "Distances count moves to a layout: corner is 123456780, centre 123804765, edge 123456708. "
    "Every state reaches corner or centre, never both.",
    Figure(
        "eight-distances", "Distances", summarize_distances, _describe_distances, _draw_distances
    ),
    Figure(
        "eight-blank-mean",
        "Mean distance by cell of the blank",
        count_by_blank,
        lambda _: "Each cell shows the mean distance of the states with the blank in that cell.",
        _draw_mean_boards,
    ),
    Figure(
        "eight-blank",
        "Distances by cell of the blank",
        count_by_blank,
        lambda _: (
            "The blank's cell decides whether the distance is even or odd, so each row has "
            "values only at every other distance."
        ),
        _draw_by_blank,
    ),
    Figure(
        "eight-heuristics",
        "Heuristics and true distance",
        count_heuristics,
        _describe_heuristics,
        _draw_heuristics,
    ),
    Figure(
        "eight-errors",
        "Mean error of the heuristics",
        summarize_distances,
        _describe_errors,
        _draw_errors,
    ),
    Figure(
        "eight-solutions",
        "Shortest solutions",
        summarize_distances,
        _describe_solutions,
        _draw_solutions,
    ),
    Figure("eight-hardest", "The hardest states", list_hardest, _describe_hardest, _draw_hardest),
)
