"""Senet's figures: positions and lines by plies, where the pieces stand, what is never reached."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from queries.charts import add_bands, color_by_band, color_lines
from queries.figure import Drawing, Figure, Section
from queries.senet.svg import draw_strips
from queries.svg import AMBER, BLUE, GREEN, MUTED

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
            pl.col("lines").min().alias("fewest"),
            pl.col("lines").median().alias("median"),
            pl.col("lines").mean().alias("mean"),
            pl.col("lines").max().alias("most"),
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


# ---- descriptions and drawings of the answers ---------------------------------------------------


def _describe_plies(frame: pl.DataFrame) -> str:
    views = frame.drop_nulls("plies").group_by("variable")
    total = dict(views.agg(pl.col("positions").sum()).rows())
    deepest = dict(views.agg(pl.col("plies").max()).rows())
    return (
        f"{total['plies']:,} positions are reached, the last after {deepest['plies']} plies: "
        f"{total['plies_even']:,} with A to move (within {deepest['plies_even']} plies) and "
        f"{total['plies_odd']:,} with B to move (within {deepest['plies_odd']}). "
        "Even and odd plies have different colours."
    )


def _draw_plies(frame: pl.DataFrame) -> Drawing:
    reached = frame.drop_nulls("plies").with_columns(
        pl.col("variable").replace_strict(VIEWS),
        (pl.col("plies") % 2).replace_strict({0: "even", 1: "odd"}).alias("parity"),
    )
    return (
        alt.Chart(reached)
        .mark_bar()
        .encode(
            x=alt.X("plies:O", title="fewest plies", axis=alt.Axis(values=list(range(0, 17, 2)))),
            y=alt.Y("positions:Q", title="positions", axis=alt.Axis(format=",d", tickCount=5)),
            color=alt.Color("parity:N", legend=None,
                            scale=alt.Scale(domain=["even", "odd"], range=[BLUE, AMBER])),
        )
        .properties(width=270, height=190)
        .facet(column=alt.Column("variable:N", sort=list(VIEWS.values()), title=None))
    )  # fmt: skip


def _describe_lines(frame: pl.DataFrame) -> str:
    top = frame.sort("most").tail(1).to_dicts()[0]
    return (
        "The number of different shortest lines of play to a position, on a logarithmic scale. "
        f"The maximum is {top['most']:,}, to a position at {top['plies']} plies."
    )


def _draw_lines(frame: pl.DataFrame) -> Drawing:
    kinds = {"most": GREEN, "mean": BLUE, "median": AMBER, "fewest": MUTED}
    powers = [10**power for power in range(10)]
    long = frame.unpivot(list(kinds), index="plies")
    return (
        alt.Chart(long)
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=22))
        .encode(
            x=alt.X("plies:O", title="fewest plies"),
            y=alt.Y(
                "value:Q",
                title="shortest lines",
                scale=alt.Scale(type="log", domain=[1, 10**10], nice=False),
                axis=alt.Axis(values=powers, format=",d"),
            ),
            color=color_lines("variable", kinds),
        )
        .properties(width=840, height=250)
    )


def _draw_squares(frame: pl.DataFrame) -> Drawing:
    percentages = add_bands(frame.with_columns(pl.col("share") * 100), "share", SHARES)
    return (
        alt.Chart(percentages)
        .mark_rect()
        .encode(
            x=alt.X("square:O", title="square"),
            y=alt.Y("plies:O", title="fewest plies"),
            color=color_by_band("% of positions", SHARES),
        )
        .properties(width=400, height=16 * 19)
        .facet(column=alt.Column("piece:N", title=None))
    )


def _describe_squares(frame: pl.DataFrame) -> str:
    plies: Any = frame["plies"].max()
    return (
        "The share of positions, at each number of plies, with a piece of A or of B on a square: "
        f"from the opening at the top to the last positions at {plies} plies."
    )


def _describe_unreachable(frame: pl.DataFrame) -> str:
    lost = frame.filter("never")
    if not lost["shape"].all():
        return f"{lost.height} arrangements are never reached by any line of play."
    beyond = frame.group_by("beyond").agg(pl.len().alias("all"), pl.col("never").sum())
    swapped = set(lost["position"].str.replace_many(["A", "B"], ["B", "A"]))
    symmetric = len(swapped & set(lost["position"]))
    parts = [
        f"{row['never']} of the {row['all']} with {NUMBERS[row['beyond']]}"
        for row in beyond.filter(pl.col("never") > 0).sort("beyond").to_dicts()
    ]
    return (
        f"All {lost.height} have one shape: the pieces fill the first squares without a gap, then "
        "four or five squares are empty, and all pieces beyond have one colour. "
        f"{frame.height:,} arrangements have this shape; never reached are "
        f"{', '.join(parts)}. For {symmetric} of the {lost.height} the arrangement with the "
        "colours swapped is never reached either."
    )


def _draw_unreachable(frame: pl.DataFrame) -> str:
    positions = frame.filter("never")["position"].to_list()
    return draw_strips("Every arrangement that is never reached", positions)


SECTION = Section(
    "Senet",
    "Fifteen squares, five pieces per side (A is blue, B is amber), throws of 1 to 5. The opening "
    "is ABABABABAB.....",
    Figure("senet-plies", "Positions by plies", count_by_plies, _describe_plies, _draw_plies),
    Figure("senet-lines", "Shortest lines by plies", summarize_lines, _describe_lines, _draw_lines),
    Figure(
        "senet-squares",
        "Where the pieces are",
        compute_square_shares,
        _describe_squares,
        _draw_squares,
    ),
    Figure(
        "senet-never",
        "Positions that are never reached",
        list_unreachable,
        _describe_unreachable,
        _draw_unreachable,
    ),
)
