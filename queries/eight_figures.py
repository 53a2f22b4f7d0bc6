"""The 8-puzzle's figures: distances to its three goals, heuristics, solutions, the hardest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import polars as pl

from puzzle_tablebase.puzzles.eight import PUZZLE
from puzzle_tablebase.queries.figure import (
    Drawing,
    Panels,
    Section,
    Shown,
    add_bands,
    color_by_band,
    compute,
    draw_board_map,
    draw_named_lines,
    format_labels,
    make_even_bounds,
)
from puzzle_tablebase.queries.svg import INK, MUTED, SERIES, draw_boards

GOALS = list(PUZZLE.goals)
GOAL_COLOURS = dict(zip(GOALS, SERIES, strict=True))

PANEL = 205
BOUNDS = [3, 10, 30, 100, 300, 1000, 3000]
FIVES = alt.Axis(values=list(range(0, 32, 5)))
DISTANCE = alt.X("distance:O", title="distance", axis=FIVES)
TO_31, BEYOND_31 = (
    alt.X("distance:Q", title="distance", axis=FIVES, scale=alt.Scale(domain=[0, most], nice=False))
    for most in (31, 40)
)
"""Axes of distances; the longer one has room for the names of lines."""
SHOWN = 12
FEW = 10
"""Marks that stand for fewer states say for how many."""
HEURISTICS = {"manhattan": INK, "misplaced": MUTED}
SHORTFALLS = {name: f"mean_{name}_shortfall" for name in HEURISTICS}
"""The column of the moves that each heuristic is below the distance, on average."""
SEARCHES = {"breadth first": MUTED, "misplaced": MUTED, "manhattan": INK}
COLUMNS = {name: f"mean_{name.replace(' ', '_')}_states" for name in SEARCHES}
"""The column of the states that each search expands."""


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
            (pl.col("distance") - pl.col("manhattan")).mean().alias("mean_manhattan_shortfall"),
            (pl.col("distance") - pl.col("misplaced")).mean().alias("mean_misplaced_shortfall"),
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
            (twelfths.sum() / (12 * pl.len())).alias("mean_share_nearer"),
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


def count_heuristics(eight: pl.LazyFrame, eight_edge: pl.LazyFrame) -> pl.DataFrame:
    return (
        pl.concat([eight, eight_edge])
        .unpivot(["manhattan", "misplaced"], index=["goal", "distance"])
        .group_by("goal", "distance", pl.col("variable").alias("heuristic"), "value")
        .len("states")
        .sort("goal", "heuristic", "distance", "value")
        .collect()
    )


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


# ---- what the figures share: means, texts, and panels, one for each goal -------------------------


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


# ---- what the figures show ----------------------------------------------------------------------


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


SECTION = Section(
    "The 8-puzzle",
    "Distances count moves to a goal: corner is 123456780, centre 123804765, edge 123456708. "
    "Every state reaches corner or centre, never both.",
)


@SECTION.add("eight-distances", "States of the 8-puzzle at each distance", summarize_distances)
def _show_distances(frame: pl.DataFrame) -> Shown:
    within = _share_within(frame).filter(pl.col("share") >= 50).group_by("goal").first()
    half, most = (compute(rows, pl.col("distance").max()) for rows in (within, frame))
    finding = f"Half of all states are within {half} moves, and none needs more than {most}"
    per_goal = frame.group_by("goal").agg(MEAN.alias("mean_distance"), pl.col("distance").max())
    means = format_each(per_goal, "{mean_distance:.2f} to {goal}")
    furthest = format_each(per_goal, "{distance} ({goal})")
    text = (
        f"Every goal is reached by {frame['states'].sum() // 3:,} states. The mean distance is "
        f"{means}; the furthest state is {furthest} moves away."
    )
    scale = alt.Scale(domain=[0, compute(frame, pl.col("states").max())])
    y = alt.Y("states:Q", title="states", axis=alt.Axis(format=",d", tickCount=5), scale=scale)

    def draw(rows: pl.DataFrame, goal: str) -> Drawing:
        bars = alt.Chart(rows).mark_bar(color=GOAL_COLOURS[goal]).encode(x=DISTANCE, y=y)
        few = alt.Chart(_list_few(rows)).mark_text(align="left", dx=-3, dy=-6, fontSize=11)
        return bars + few.encode(x=DISTANCE, y=y, text="label:N", color=alt.value(MUTED))

    return finding, text, draw_panels(frame, 190, draw)


@SECTION.add("eight-within", "States of the 8-puzzle solved within n moves", summarize_distances)
def _show_within(frame: pl.DataFrame) -> Shown:
    within = _share_within(frame)
    nine = within.filter(pl.col("share") >= 90).group_by("goal").first()
    most = compute(nine, pl.col("distance").max())
    near = compute(within.filter(pl.col("distance") == 10), pl.col("share").max())
    finding = f"{most} moves solve nine states in ten; 10 moves solve {near:.1f}%"
    half = within.filter(pl.col("share") >= 50).group_by("goal").first()
    text = (
        "The share of states that are solved within so many moves. Half of them: within "
        f"{format_each(half, '{distance} ({goal})')} moves."
    )
    wide = within.pivot(on="goal", index="distance", values="share")
    scale = alt.Scale(domain=[0, 100])
    lines = draw_named_lines(wide.sort("distance"), BEYOND_31, "% of states", scale, GOAL_COLOURS)
    return finding, text, lines.properties(width=560, height=240)


@SECTION.add(
    "eight-random",
    "How often a random move of the 8-puzzle is right, by distance",
    measure_random_moves,
)
def _show_random_moves(frame: pl.DataFrame) -> Shown:
    finding = f"A random move is right {compute(frame, weigh('mean_share_nearer')):.0%} of the time"
    percent = frame.with_columns(share=pl.col("mean_share_nearer") * 100)
    farthest = percent.filter(pl.col("distance") == pl.col("distance").max().over("goal"))
    text = (
        "The mean share of a state's moves that lead nearer to the goal. From the farthest "
        f"states: {format_each(farthest, '{share:.0f}% ({goal}, distance {distance})')}."
    )
    y = alt.Y("share:Q", title="% of the moves", scale=alt.Scale(domain=[0, 100]))

    def draw(rows: pl.DataFrame, goal: str) -> Drawing:
        colour = GOAL_COLOURS[goal]
        points = alt.OverlayMarkDef(color=colour, size=18)
        line = alt.Chart(rows).mark_line(strokeWidth=2, color=colour, point=points)
        last = rows.filter(pl.col("distance") == pl.col("distance").max())
        label = f"{last['states'][0]} states"
        few = alt.Chart(last).mark_text(dx=-6, dy=-8, fontSize=11, align="right", color=MUTED)
        return line.encode(x=TO_31, y=y) + few.encode(x=TO_31, y=y, text=alt.value(label))

    return finding, text, draw_panels(percent, 180, draw)


@SECTION.add(
    "eight-blank-mean", "Mean distance in the 8-puzzle by cell of the blank", count_by_blank
)
def _show_mean_boards(frame: pl.DataFrame) -> Shown:
    means = frame.group_by("goal", "blank").agg(MEAN.alias("mean")).sort("goal", "blank")
    finding = "A gap in the centre makes it easier, by less than one move"
    cells = means.with_columns(
        (pl.col("blank") % 3 + 1).alias("file"),
        (3 - pl.col("blank") // 3).alias("rank"),
        format_labels("mean", "{:.2f}"),
    )
    bounds = make_even_bounds(cells["mean"])
    boards = {
        goal: draw_board_map(
            cells.filter(pl.col("goal") == goal), "mean", goal, 56, bounds, with_names=False
        )
        for goal in GOALS
    }
    text = "Each cell shows the mean distance of the states with the blank in that cell."
    return finding, text, boards


@SECTION.add("eight-blank", "Distances in the 8-puzzle by cell of the blank", count_by_blank)
def _show_by_blank(frame: pl.DataFrame) -> Shown:
    names = ["top left", "top", "top right", "left", "centre", "right",
             "bottom left", "bottom", "bottom right"]  # fmt: skip
    blank_name = pl.col("blank").replace_strict(dict(enumerate(names)), return_dtype=pl.String)
    cell = alt.Y("blank:O", sort=names, title="blank at")
    return (
        "The blank's cell decides whether the distance is even or odd",
        "So each row has states only at every other distance.",
        draw_bands(frame.with_columns(blank_name), 9 * 19, x=DISTANCE, y=cell),
    )


@SECTION.add("eight-heuristics", "Heuristics and true distance in the 8-puzzle", count_heuristics)
def _show_heuristics(frame: pl.DataFrame) -> Shown:
    manhattan = frame.filter(pl.col("heuristic") == "manhattan").with_columns(
        exact=pl.col("value") == pl.col("distance")
    )
    finding = (
        "No heuristic says more than the distance; "
        f"Manhattan is exact for {compute(manhattan, weigh('exact')):.1%} of the states"
    )
    exact = manhattan.group_by("goal").agg(pl.col("states").filter("exact").sum().alias("exact"))
    assert frame.select((pl.col("value") <= pl.col("distance")).all()).item()
    text = (
        "The number of states at each distance, for each value of a heuristic. No value exceeds "
        "the distance: neither overestimates. Manhattan is exact for "
        f"{format_each(exact, '{exact:,} states ({goal})')}."
    )
    rows = []
    for heuristic, high, step in (("manhattan", 210, 4), ("misplaced", 130, 2)):
        ticks = alt.Axis(values=list(range(0, 25, step)))
        y = alt.Y("value:O", sort="descending", title=heuristic, axis=ticks)
        states = frame.filter(pl.col("heuristic") == heuristic)
        rows.append(draw_bands(states, high, x=DISTANCE, y=y))
    stacked = {goal: alt.vconcat(*(row[goal] for row in rows)) for goal in GOALS}
    return finding, text, stacked


@SECTION.add(
    "eight-shortfall",
    "How many moves the heuristics of the 8-puzzle fall short, on average",
    summarize_distances,
)
def _show_shortfalls(frame: pl.DataFrame) -> Shown:
    last = frame.filter(pl.col("distance") == 30)
    manhattan, misplaced = (compute(last, weigh(column)) for column in SHORTFALLS.values())
    finding = (
        f"At 30 moves Manhattan is {manhattan:.0f} moves too low, "
        f"misplaced tiles are {misplaced:.0f} too low"
    )
    text = (
        "How far each heuristic is below the true distance, on average. At 30 moves Manhattan "
        f"is too low by {format_each(last, '{mean_manhattan_shortfall:.1f} ({goal})')}, "
        f"misplaced tiles by {format_each(last, '{mean_misplaced_shortfall:.1f} ({goal})')}."
    )
    scale = alt.Scale(domain=[0, compute(frame, pl.col("mean_misplaced_shortfall").max())])
    title = "mean of distance - heuristic"

    def draw(rows: pl.DataFrame, goal: str) -> Drawing:
        lines = rows.select("distance", **SHORTFALLS)
        return draw_named_lines(lines, BEYOND_31, title, scale, HEURISTICS)

    return finding, text, draw_panels(frame, 180, draw)


@SECTION.add(
    "eight-searches",
    "What the heuristics save a search of the 8-puzzle, by distance",
    compare_searches,
)
def _show_cost(frame: pl.DataFrame) -> Shown:
    last = frame.row(-1, named=True)
    blind, misplaced, manhattan = (last[column] for column in COLUMNS.values())
    finding = (
        f"At {last['distance']} moves Manhattan saves {1 - manhattan / blind:.0%} of the search, "
        f"misplaced tiles {1 - misplaced / blind:.0%}"
    )
    text = (
        "The states that A* must expand before it has a shortest solution: those whose distance "
        "from the start and heuristic add up to less than the solution's length. Means of "
        f"{last['starts']} starts at each distance from corner, evenly spaced in notation order "
        f"among those with the blank in the corner. At {last['distance']} moves: "
        f"{blind:,.0f} without a heuristic, {misplaced:,.0f} with "
        f"misplaced tiles, {manhattan:,.0f} with Manhattan."
    )
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
    return finding, text, lines.properties(width=560, height=240)


@SECTION.add("eight-solutions", "Shortest solutions of the 8-puzzle", summarize_distances)
def _show_solutions(frame: pl.DataFrame) -> Shown:
    mean = compute(frame, weigh("mean_solutions"))
    most = compute(frame, pl.col("max_solutions").max())
    finding = f"A state has {mean:.0f} shortest solutions on average, and {most} at most"
    top = frame.sort("max_solutions").group_by("goal").last()
    text = (
        "The number of different shortest solutions of a state. "
        f"The maximum is {format_each(top, '{max_solutions} at distance {distance} ({goal})')}."
    )
    scale = alt.Scale(type="log", domain=[1, most])
    ticks = alt.Axis(values=[1, 2, 5, 10, 20, 50, 100])
    kinds = {"most": MUTED, "mean": INK, "median": MUTED}

    def draw(rows: pl.DataFrame, goal: str) -> Drawing:
        lines = rows.select(
            "distance", most="max_solutions", mean="mean_solutions", median="median_solutions"
        )
        return draw_named_lines(lines, BEYOND_31, "shortest solutions", scale, kinds, ticks)

    return finding, text, draw_panels(frame, 180, draw)


@SECTION.add("eight-hardest", "The hardest states of the 8-puzzle", list_hardest)
def _show_hardest(frame: pl.DataFrame) -> Shown:
    finding = f"{frame.height} states are farther from their goal than all others"
    per_goal = frame.group_by("goal").agg(pl.len().alias("states"), pl.col("distance").first())
    text = (
        "The states furthest from each goal: "
        f"{format_each(per_goal, '{states} at {distance} moves from {goal}')}. "
        f"At most {SHOWN} of each are drawn, the first in notation order."
    )
    states, heads = [], []
    # corner and edge have two each, so that these come first and the rows are full
    for goal in ("corner", "edge", "centre"):
        for row in frame.filter(pl.col("goal") == goal).head(SHOWN).to_dicts():
            states.append(row["state"])
            heads.append(f"{goal}, {row['distance']}")
    return finding, text, draw_boards("", states, heads, width=3)
