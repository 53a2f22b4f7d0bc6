"""The 8-puzzle's figures: distances to its three goals, heuristics, solutions, the hardest."""

from __future__ import annotations

import altair as alt
import polars as pl

from queries.boards.heuristic_figures import (
    BEYOND_31,
    DISTANCE,
    GOAL_COLOURS,
    GOALS,
    HEURISTIC_VALUES,
    MEAN,
    SEARCH_COST,
    TO_31,
    draw_bands,
    draw_panels,
    format_each,
    weigh,
)
from queries.figure import (
    Drawing,
    Figure,
    Panels,
    Section,
    compute,
    draw_board_map,
    draw_named_lines,
    format_labels,
    make_even_bounds,
)
from queries.pictures import draw_boards
from queries.svg import INK, MUTED

SHOWN = 12
FEW = 10
"""Marks that stand for fewer states say for how many."""
HEURISTICS = {"manhattan": INK, "misplaced": MUTED}
ERRORS = {name: f"mean_{name}_error" for name in HEURISTICS}
"""The column of each heuristic's mean error."""


# ---- queries: a page shows the source of these functions ---------------------------------------


def summarize_distances(eight: pl.LazyFrame, eight_edge: pl.LazyFrame) -> pl.DataFrame:
    return (
        pl.concat([eight, eight_edge])
        .group_by("goal", "distance")
        .agg(
            pl.len().alias("states"),
            pl.col("solutions").mean().alias("mean_solutions"),
            pl.col("solutions").median().alias("median_solutions"),
            pl.col("solutions").max().alias("max_solutions"),
            (pl.col("distance") - pl.col("manhattan")).mean().alias("mean_manhattan_error"),
            (pl.col("distance") - pl.col("misplaced")).mean().alias("mean_misplaced_error"),
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


def measure_random_moves(eight: pl.LazyFrame, eight_edge: pl.LazyFrame) -> pl.DataFrame:
    # a blank in a corner has two moves, in the centre four, elsewhere three
    is_corner = pl.col("blank").is_in([0, 2, 6, 8])
    moves = pl.when(is_corner).then(2).when(pl.col("blank") == 4).then(4).otherwise(3)
    twelfths = pl.col("best_moves").str.len_chars() * (12 // moves)  # sums of these are exact
    return (
        pl.concat([eight, eight_edge])
        .filter(pl.col("distance") > 0)
        .group_by("goal", "distance")
        .agg(
            pl.len().alias("states"),
            (twelfths.sum() / (12 * pl.len())).alias("share"),
        )
        .sort("goal", "distance")
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


def _describe_distances(frame: pl.DataFrame) -> str:
    per_goal = frame.group_by("goal").agg(MEAN.alias("mean_distance"), pl.col("distance").max())
    means = format_each(per_goal, "{mean_distance:.2f} to {goal}")
    furthest = format_each(per_goal, "{distance} ({goal})")
    return (
        f"Every goal is reached by {frame['states'].sum() // 3:,} states. The mean distance is "
        f"{means}; the furthest state is {furthest} moves away."
    )


def _find_distances(frame: pl.DataFrame) -> str:
    within = _share_within(frame).filter(pl.col("share") >= 50).group_by("goal").first()
    half, most = (compute(rows, pl.col("distance").max()) for rows in (within, frame))
    return f"Half of all states are within {half} moves, and none needs more than {most}"


def _draw_distances(frame: pl.DataFrame) -> Panels:
    scale = alt.Scale(domain=[0, compute(frame, pl.col("states").max())])
    y = alt.Y("states:Q", title="states", axis=alt.Axis(format=",d", tickCount=5), scale=scale)

    def draw(rows: pl.DataFrame, goal: str) -> Drawing:
        bars = alt.Chart(rows).mark_bar(color=GOAL_COLOURS[goal]).encode(x=DISTANCE, y=y)
        few = alt.Chart(_list_few(rows)).mark_text(align="left", dx=-3, dy=-6, fontSize=11)
        return bars + few.encode(x=DISTANCE, y=y, text="label:N", color=alt.value(MUTED))

    return draw_panels(frame, 190, draw)


def _list_few(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one label for each run of neighbouring marks that stand for few states, at its first.

    The numbers of such marks in a label of their own each would read as one number.
    """
    return (
        rows.sort("distance")
        .with_columns((pl.col("states") < FEW).rle_id().alias("run"))
        .filter(pl.col("states") < FEW)
        .group_by("run", maintain_order=True)
        .agg(pl.first("distance", "states"), pl.col("states").alias("each"))
        .with_columns(pl.col("each").cast(pl.List(pl.String)).list.join(", ").alias("label"))
        .drop("run", "each")
    )


def _share_within(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the percentage of states within each distance, by goal."""
    share = 100 * pl.col("states").cum_sum() / pl.col("states").sum()
    return frame.sort("goal", "distance").with_columns(share.over("goal").alias("share"))


def _find_within(frame: pl.DataFrame) -> str:
    nine = _share_within(frame).filter(pl.col("share") >= 90).group_by("goal").first()
    most = compute(nine, pl.col("distance").max())
    near = compute(_share_within(frame).filter(pl.col("distance") == 10), pl.col("share").max())
    return f"{most} moves solve nine states in ten; 10 moves solve {near:.1f}%"


def _describe_within(frame: pl.DataFrame) -> str:
    within = _share_within(frame)
    half = within.filter(pl.col("share") >= 50).group_by("goal").first()
    return (
        "The share of states that are solved within so many moves. Half of them: within "
        f"{format_each(half, '{distance} ({goal})')} moves."
    )


def _draw_within(frame: pl.DataFrame) -> Drawing:
    wide = _share_within(frame).pivot(on="goal", index="distance", values="share")
    scale = alt.Scale(domain=[0, 100])
    lines = draw_named_lines(wide.sort("distance"), BEYOND_31, "% of states", scale, GOAL_COLOURS)
    return lines.properties(width=560, height=240)


def _find_random_moves(frame: pl.DataFrame) -> str:
    return f"A random move is right {compute(frame, weigh('share')):.0%} of the time"


def _describe_random_moves(frame: pl.DataFrame) -> str:
    farthest = frame.filter(pl.col("distance") == pl.col("distance").max().over("goal"))
    shares = farthest.with_columns(pl.col("share") * 100)
    return (
        "The mean share of a state's moves that lead nearer to the goal. From the farthest "
        f"states: {format_each(shares, '{share:.0f}% ({goal}, distance {distance})')}."
    )


def _draw_random_moves(frame: pl.DataFrame) -> Panels:
    percent = frame.with_columns(pl.col("share") * 100)
    y = alt.Y("share:Q", title="% of the moves", scale=alt.Scale(domain=[0, 100]))

    def draw(rows: pl.DataFrame, goal: str) -> Drawing:
        colour = GOAL_COLOURS[goal]
        points = alt.OverlayMarkDef(color=colour, size=18)
        line = alt.Chart(rows).mark_line(strokeWidth=2, color=colour, point=points)
        last = rows.filter(pl.col("distance") == pl.col("distance").max())
        label = f"{last['states'][0]} states"
        few = alt.Chart(last).mark_text(dx=-6, dy=-8, fontSize=11, align="right", color=MUTED)
        return line.encode(x=TO_31, y=y) + few.encode(x=TO_31, y=y, text=alt.value(label))

    return draw_panels(percent, 180, draw)


def _find_mean(frame: pl.DataFrame) -> str:
    means = frame.group_by("goal", "blank").agg(MEAN.alias("mean"))
    most = means.group_by("goal").agg(pl.col("mean").max() - pl.col("mean").min())["mean"].max()
    centre = means.filter(pl.col("mean") == pl.col("mean").min().over("goal"))["blank"]
    if not isinstance(most, float) or most >= 1 or not (centre == 4).all():
        return "The blank's cell changes the mean distance"
    return "A gap in the centre makes it easier, by less than one move"


def _draw_mean_boards(frame: pl.DataFrame) -> Panels:
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
    return {
        goal: draw_board_map(
            cells.filter(pl.col("goal") == goal), "mean", goal, 56, bounds, with_names=False
        )
        for goal in GOALS
    }


def _draw_by_blank(frame: pl.DataFrame) -> Panels:
    names = ["top left", "top", "top right", "left", "centre", "right",
             "bottom left", "bottom", "bottom right"]  # fmt: skip
    blank_name = pl.col("blank").replace_strict(dict(enumerate(names)), return_dtype=pl.String)
    return draw_bands(
        frame.with_columns(blank_name),
        9 * 19,
        x=DISTANCE,
        y=alt.Y("blank:O", sort=names, title="blank at"),
    )


def _draw_errors(frame: pl.DataFrame) -> Panels:
    scale = alt.Scale(domain=[0, compute(frame, pl.col("mean_misplaced_error").max())])
    title = "mean of distance - heuristic"

    def draw(rows: pl.DataFrame, goal: str) -> Drawing:
        lines = rows.select("distance", **ERRORS)
        return draw_named_lines(lines, BEYOND_31, title, scale, HEURISTICS)

    return draw_panels(frame, 180, draw)


def _find_errors(frame: pl.DataFrame) -> str:
    last = frame.filter(pl.col("distance") == 30)
    manhattan, misplaced = (compute(last, weigh(column)) for column in ERRORS.values())
    return (
        f"At 30 moves Manhattan is {manhattan:.0f} moves too low, "
        f"misplaced tiles are {misplaced:.0f} too low"
    )


def _describe_errors(frame: pl.DataFrame) -> str:
    last = frame.filter(pl.col("distance") == 30)
    return (
        "How far each heuristic is below the true distance, on average. At 30 moves Manhattan "
        f"is too low by {format_each(last, '{mean_manhattan_error:.1f} ({goal})')}, "
        f"misplaced tiles by {format_each(last, '{mean_misplaced_error:.1f} ({goal})')}."
    )


def _draw_solutions(frame: pl.DataFrame) -> Panels:
    scale = alt.Scale(type="log", domain=[1, compute(frame, pl.col("max_solutions").max())])
    ticks = alt.Axis(values=[1, 2, 5, 10, 20, 50, 100])
    kinds = {"most": MUTED, "mean": INK, "median": MUTED}

    def draw(rows: pl.DataFrame, goal: str) -> Drawing:
        lines = rows.select(
            "distance", most="max_solutions", mean="mean_solutions", median="median_solutions"
        )
        return draw_named_lines(lines, BEYOND_31, "shortest solutions", scale, kinds, ticks)

    return draw_panels(frame, 180, draw)


def _find_solutions(frame: pl.DataFrame) -> str:
    mean = compute(frame, weigh("mean_solutions"))
    most = compute(frame, pl.col("max_solutions").max())
    return f"A state has {mean:.0f} shortest solutions on average, and {most} at most"


def _describe_solutions(frame: pl.DataFrame) -> str:
    top = frame.sort("max_solutions").group_by("goal").last()
    return (
        "The number of different shortest solutions of a state. "
        f"The maximum is {format_each(top, '{max_solutions} at distance {distance} ({goal})')}."
    )


def _draw_hardest(frame: pl.DataFrame) -> str:
    states, heads = [], []
    # corner and edge have two each, so that these come first and the rows are full
    for goal in ("corner", "edge", "centre"):
        for row in frame.filter(pl.col("goal") == goal).head(SHOWN).to_dicts():
            states.append(row["state"])
            heads.append(f"{goal}, {row['distance']}")
    return draw_boards("", states, heads, width=3)


def _describe_hardest(frame: pl.DataFrame) -> str:
    per_goal = frame.group_by("goal").agg(pl.len().alias("states"), pl.col("distance").first())
    return (
        "The states furthest from each goal: "
        f"{format_each(per_goal, '{states} at {distance} moves from {goal}')}. "
        f"At most {SHOWN} of each are drawn, the first in notation order."
    )


SECTION = Section(
    "The 8-puzzle",
    "Distances count moves to a goal: corner is 123456780, centre 123804765, edge 123456708. "
    "Every state reaches corner or centre, never both.",
    Figure(
        "eight-distances",
        "States at each distance",
        summarize_distances,
        _find_distances,
        _describe_distances,
        _draw_distances,
    ),
    Figure(
        "eight-within",
        "States solved within n moves",
        summarize_distances,
        _find_within,
        _describe_within,
        _draw_within,
    ),
    Figure(
        "eight-random",
        "How often a random move is right, by distance",
        measure_random_moves,
        _find_random_moves,
        _describe_random_moves,
        _draw_random_moves,
    ),
    Figure(
        "eight-blank-mean",
        "Mean distance by cell of the blank",
        count_by_blank,
        _find_mean,
        lambda _: "Each cell shows the mean distance of the states with the blank in that cell.",
        _draw_mean_boards,
    ),
    Figure(
        "eight-blank",
        "Distances by cell of the blank",
        count_by_blank,
        lambda _: "The blank's cell decides whether the distance is even or odd",
        lambda _: "So each row has states only at every other distance.",
        _draw_by_blank,
    ),
    HEURISTIC_VALUES,
    Figure(
        "eight-errors",
        "Mean error of the heuristics",
        summarize_distances,
        _find_errors,
        _describe_errors,
        _draw_errors,
    ),
    SEARCH_COST,
    Figure(
        "eight-solutions",
        "Shortest solutions",
        summarize_distances,
        _find_solutions,
        _describe_solutions,
        _draw_solutions,
    ),
    Figure(
        "eight-hardest",
        "The hardest states",
        list_hardest,
        lambda frame: f"{frame.height} states are farther from their goal than all others",
        _describe_hardest,
        _draw_hardest,
    ),
)
