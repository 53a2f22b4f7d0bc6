"""Senet's figures: positions and lines by plies, where the pieces stand, what is never reached."""

from __future__ import annotations

import altair as alt
import polars as pl

from puzzle_tablebase.queries.figure import (
    Section,
    Shown,
    add_bands,
    color_by_band,
    compute,
    draw_named_lines,
)
from puzzle_tablebase.queries.svg import AMBER, BLUE, INK, MUTED, draw_strips

SHARES = [5, 10, 20, 30, 40, 60, 80]
NUMBERS = ("nothing beyond the gap", "one piece there", "two", "three", "four", "five")
VIEWS = {"plies": "whoever moves", "plies_even": "A to move (even)", "plies_odd": "B to move (odd)"}


# ---- queries: a page shows the source of these functions ---------------------------------------


def count_by_plies(senet: pl.LazyFrame) -> pl.DataFrame:
    return (
        senet.unpivot(["plies", "plies_even", "plies_odd"])
        .group_by("variable", pl.col("value").alias("plies"))
        .len("positions")
        .sort("variable", "plies", nulls_last=True)
        .collect()
    )


def summarize_lines(senet: pl.LazyFrame) -> pl.DataFrame:
    return (
        senet.drop_nulls("plies")
        .group_by("plies")
        .agg(
            pl.col("lines").min().alias("min_lines"),
            pl.col("lines").median().alias("median_lines"),
            pl.col("lines").mean().alias("mean_lines"),
            pl.col("lines").max().alias("max_lines"),
        )
        .sort("plies")
        .collect()
    )


def compute_square_shares(senet: pl.LazyFrame) -> pl.DataFrame:
    holds = [
        (pl.col("position").str.slice(square - 1, 1) == piece).mean().alias(f"{piece} {square}")
        for piece in "AB"
        for square in range(1, 16)
    ]
    return (
        senet.drop_nulls("plies")
        .group_by("plies")
        .agg(holds)
        .unpivot(index="plies", value_name="share")
        .with_columns(
            pl.col("variable").str.slice(0, 1).alias("piece"),
            pl.col("variable").str.slice(2).cast(pl.UInt8).alias("square"),
        )
        .select("piece", "plies", "square", "share")
        .sort("piece", "plies", "square")
        .collect()
    )


def list_unreachable(senet: pl.LazyFrame) -> pl.DataFrame:
    # from square 1 pieces without a gap, then four or five empty squares, then one colour at most
    shape = r"^[AB]{5,10}\.{4,5}([.A]*|[.B]*)$"
    return (
        senet.select("position", pl.col("plies").is_null().alias("never"))
        .with_columns(
            pl.col("position").str.contains(shape).alias("shape"),
            pl.col("position")
            .str.extract(r"^[AB]+\.{4,5}(.*)$")
            .str.count_matches("[AB]")
            .alias("beyond"),
        )
        .filter(pl.col("never") | pl.col("shape"))
        .sort("position")
        .collect()
    )


# ---- what the figures show ----------------------------------------------------------------------


SECTION = Section(
    "Senet",
    "Fifteen squares, five pieces per side (A is blue, B is amber), throws of 1 to 5. The opening "
    "is ABABABABAB...... The numbers say how soon a position can be reached when both sides choose "
    "their throws. They do not say who wins.",
)


@SECTION.add("senet-plies", "Positions of Senet by plies", count_by_plies)
def _show_plies(frame: pl.DataFrame) -> Shown:
    reached = frame.drop_nulls("plies")
    most = reached.filter(pl.col("variable") == "plies").sort("positions").row(-1, named=True)
    views = reached.group_by("variable")
    total = dict(views.agg(pl.col("positions").sum()).rows())
    deepest = dict(views.agg(pl.col("plies").max()).rows())
    finding = (
        f"Every position that can be reached is reached within {deepest['plies']} plies; "
        f"{most['plies']} is the most frequent number"
    )
    text = (
        f"{total['plies']:,} positions are reached, the last after {deepest['plies']} plies: "
        f"{total['plies_even']:,} with A to move (within {deepest['plies_even']} plies) and "
        f"{total['plies_odd']:,} with B to move (within {deepest['plies_odd']}). "
        "Positions with A to move are blue, those with B to move are amber."
    )
    bars = reached.with_columns(
        pl.col("variable").replace_strict(VIEWS),
        (pl.col("plies") % 2).replace_strict({0: "even", 1: "odd"}).alias("parity"),
    )
    axis = alt.Axis(format=",d", tickCount=5)
    scale = alt.Scale(domain=[0, compute(bars, pl.col("positions").max())])
    plies = [*range(deepest["plies"] + 1)]
    ticks = alt.Axis(values=plies[::2])
    sides = alt.Scale(domain=["even", "odd"], range=[BLUE, AMBER])
    panels = {
        view: alt.Chart(bars.filter(pl.col("variable") == view))
        .mark_bar()
        .encode(
            x=alt.X("plies:O", title="fewest plies", axis=ticks, scale=alt.Scale(domain=plies)),
            y=alt.Y("positions:Q", title="positions", axis=axis, scale=scale),
            color=alt.Color("parity:N", legend=None, scale=sides),
        )
        .properties(title=view, width=205, height=190)
        for view in VIEWS.values()
    }
    return finding, text, panels


@SECTION.add("senet-lines", "Shortest lines of Senet by plies", summarize_lines)
def _show_lines(frame: pl.DataFrame) -> Shown:
    top = frame.sort("max_lines").row(-1, named=True)
    finding = f"Up to {top['max_lines']:,} shortest lines lead to one position"
    text = (
        "The number of different shortest lines of play to a position, on a logarithmic scale. "
        f"The maximum is {top['max_lines']:,}, to a position at {top['plies']} plies."
    )
    kinds = {"most": MUTED, "mean": INK, "median": MUTED, "fewest": MUTED}
    last = compute(frame, pl.col("plies").max())
    x = alt.X(
        "plies:Q",
        title="fewest plies",
        axis=alt.Axis(values=[*range(last + 1)]),
        scale=alt.Scale(domain=[0, last + 2], nice=False),
    )
    scale = alt.Scale(type="log", domain=[1, 10**10], nice=False)
    ticks = alt.Axis(values=[10**power for power in range(10)], format=",d")
    named = frame.select(
        "plies", most="max_lines", mean="mean_lines", median="median_lines", fewest="min_lines"
    )
    lines = draw_named_lines(named, x, "shortest lines", scale, kinds, ticks)
    return finding, text, lines.properties(width=760, height=250)


@SECTION.add("senet-squares", "Where the pieces of Senet are", compute_square_shares)
def _show_squares(frame: pl.DataFrame) -> Shown:
    plies = compute(frame, pl.col("plies").max())
    last = frame.filter(pl.col("plies") == plies, pl.col("square") > 10)
    finding = (
        f"At the most plies, {last['share'].sum() / 10:.0%} of the pieces stand on the last "
        "five squares"
    )
    text = (
        "The share of positions, at each number of plies, with a piece of A or of B on a square: "
        f"from the opening at the top to the last positions at {plies} plies."
    )
    percentages = add_bands(frame.with_columns(pl.col("share") * 100), "share", SHARES)
    panels = {}
    for piece in "AB":
        color = color_by_band("% of positions", SHARES)
        panels[piece] = (
            alt.Chart(percentages.filter(pl.col("piece") == piece))
            .mark_rect()
            .encode(
                x=alt.X("square:O", title="square"),
                y=alt.Y("plies:O", title="fewest plies"),
                color=color if piece == "B" else color.legend(None),
            )
            .properties(title=f"Pieces of {piece}", width=15 * 17, height=16 * 19)
        )
    return finding, text, panels


@SECTION.add("senet-never", "Positions of Senet that are never reached", list_unreachable)
def _show_unreachable(frame: pl.DataFrame) -> Shown:
    finding = f"{frame['never'].sum()} arrangements are never reached by any line of play"
    lost = frame.filter("never")
    drawing = draw_strips(lost["position"].to_list())
    if not lost["shape"].all():
        return finding, f"{finding}.", drawing
    beyond = frame.group_by("beyond").agg(pl.len().alias("all"), pl.col("never").sum())
    swapped = set(lost["position"].str.replace_many(["A", "B"], ["B", "A"]))
    symmetric = len(swapped & set(lost["position"]))
    parts = [
        f"{row['never']} of the {row['all']} with {NUMBERS[row['beyond']]}"
        for row in beyond.filter(pl.col("never") > 0).sort("beyond").to_dicts()
    ]
    text = (
        f"All {lost.height} have one shape: the pieces fill the first squares without a gap, then "
        "four or five squares are empty, and all pieces beyond have one colour. "
        f"{frame.height:,} arrangements have this shape; never reached are "
        f"{', '.join(parts)}. For {symmetric} of the {lost.height} the arrangement with the "
        "colours swapped is never reached either."
    )
    return finding, text, drawing
