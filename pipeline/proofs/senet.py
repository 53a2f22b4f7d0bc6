"""The proof of Senet's table: every position's plies, lines and smallest line, as joins.

A position has plies of two parities: after an even number A moves, after an odd one B. The moves of
all positions are made by a second rule book, for many positions at once, and joined with the
positions that they lead to. The plies of a position are one more than the least of those before it;
the moves from there are its last ones. From the opening on, ply by ply, its shortest lines are as
many as those of the positions before it together, and the smallest is a minimum of texts: a digit
for each throw, then one for each starting square.

A side's pieces are a set of squares as bits: bit 0 is square 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import factorial

import polars as pl

from puzzle_tablebase.jit import Array
from puzzle_tablebase.notation.senet import OPENING, SQUARES
from puzzle_tablebase.pipeline.proofs.claims import (
    Claim,
    Difference,
    ListedTable,
    Proof,
    Prover,
    compare,
    compare_records,
    estimate_joins,
    find_rows,
    require_ascending,
    require_equal,
)
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, Verdict
from puzzle_tablebase.schema import UNREACHABLE

HOW = (
    "all shortest lines from the opening were played again; every column and record follows from "
    "them"
)
COLUMNS = ("position", "plies", "plies_even", "plies_odd", "dice", "moves", "lines")
FIELDS = ("plies_even", "last_even", "plies_odd", "last_odd", "lines")
PLIES = ("plies_even", "plies_odd")
PIECES = 5
THROWS = range(1, 6)


def prove_senet(listed: ListedTable) -> Proof:
    """Prove the table of all positions."""
    rows = listed.scan_rows().collect().lazy().with_columns(pl.col("plies", *PLIES).cast(pl.Int16))
    count = factorial(SQUARES) // factorial(PIECES) ** 2 // factorial(SQUARES - 2 * PIECES)
    text = f"the rows are all {count:,} arrangements, each once, in notation order"
    yield Claim(text, find_bad_positions(rows, count))

    positions = add_sets(rows.select("row", "position", *PLIES)).collect().lazy()
    text = (
        "the opening has 0; plies_even and plies_odd are one more than the smallest value of a "
        "predecessor, and null where no predecessor has one"
    )
    steps = [list_steps(positions, side).collect().lazy() for side in range(2)]
    yield Claim(text, find_bad_plies(positions, steps))

    text = "plies is the smaller of the two, or null if both are null"
    yield Claim(text, compare(rows, plies=pl.min_horizontal(*PLIES)))

    last_steps = pl.concat(step.filter(pl.col("plies") == pl.col("near") + 1) for step in steps)
    lines = play_lines(positions, last_steps)
    shortest = rows.join(lines, on=["row", "plies"], how="left")
    text = (
        "lines is the number of shortest lines, summed over predecessors from the opening on; "
        "null where plies is null"
    )
    yield Claim(text, compare(shortest, "lines"))

    text = (
        "dice and moves are legal ply by ply and lead to the position in that many plies, and no "
        "other shortest line has smaller dice, or the same dice and smaller squares; null where "
        "plies is null"
    )
    yield Claim(text, compare(shortest, "dice", "moves"))

    text = (
        "each record matches its row: plies_even, plies_odd and lines, and the last move of the "
        f"smallest line of each parity; {UNREACHABLE} and 0 where there is none"
    )
    yield listed.claim_records(text, compare_records(listed, [make_records(rows, lines)]))
    return Proved(Verdict.PROVED, HOW, COLUMNS, FIELDS)


def find_bad_positions(rows: pl.LazyFrame, count: int) -> Iterator[Difference]:
    """Yield rows that are not all positions in notation order."""
    yield from require_equal("rows", rows.select(pl.len()).collect().item(), count)
    position, numbers = pl.col("position"), {"A": PIECES, "B": PIECES, ".": SQUARES - 2 * PIECES}
    counts = (
        position.str.count_matches(mark, literal=True) == number for mark, number in numbers.items()
    )
    has_all = pl.all_horizontal(position.str.len_bytes() == SQUARES, *counts)
    expected = pl.lit(f"{SQUARES} squares: five A, five B and five empty")
    yield from find_rows(rows, ~has_all, position, expected)
    yield from require_ascending(rows, "position", "position")


def add_sets(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add the sets of squares of both sides to positions, and a number of both together."""
    position = pl.col("position")
    sets = {
        side: pl.sum_horizontal(
            (position.str.slice(at, 1) == side).cast(pl.Int32) * (1 << at) for at in range(SQUARES)
        )
        for side in "AB"
    }
    return rows.with_columns(**sets).with_columns(pieces=number_pieces(pl.col("A"), pl.col("B")))


def number_pieces(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Return a different number for each different position."""
    return (a | b * (1 << SQUARES)).cast(pl.Int32)


def list_steps(positions: pl.LazyFrame, side: int) -> pl.LazyFrame:
    """List the moves of one side from every position with that side to move.

    A move goes from the row `before`, with `near` plies, to the row `row`, with its plies of the
    other parity. Its label is the throw and the starting square, as in the index.
    """
    mover, other = "AB" if side == 0 else "BA"
    own, theirs = pl.col(mover), pl.col(other)
    to_move = positions.filter(pl.col(PLIES[side]).is_not_null())
    # a piece may land on an empty square, or on an opponent's piece without another beside it
    guarded = (theirs * 2) | (theirs // 2)
    landing = ~(own | theirs) | (theirs & ~guarded)
    moves = []
    for throw in THROWS:
        for start in range(1, SQUARES - throw + 1):
            here, goal = 1 << (start - 1), 1 << (start + throw - 1)
            swaps = (theirs & goal) != 0
            after = {
                mover: own ^ (here | goal),
                other: pl.when(swaps).then(theirs ^ (here | goal)).otherwise(theirs),
            }
            moved = to_move.filter((own & here != 0) & (landing & goal != 0)).select(
                before="row",
                near=PLIES[side],
                label=pl.lit(throw << 4 | start, pl.UInt8),
                swaps=swaps,
                pieces=number_pieces(after["A"], after["B"]),
            )
            moves.append(moved)
    reached = positions.select("row", "pieces", plies=PLIES[1 - side])
    return pl.concat(moves).join(reached, on="pieces").drop("pieces")


def find_bad_plies(positions: pl.LazyFrame, steps: list[pl.LazyFrame]) -> Iterator[Difference]:
    """Yield a row whose plies are not one more than the least of its predecessors'."""
    for name, to_here in zip(PLIES, reversed(steps), strict=True):
        least = to_here.group_by("row").agg(expected=pl.col("near").min() + 1)
        expected = pl.col("expected")
        if name == PLIES[0]:
            expected = pl.when(pl.col("position") == OPENING).then(0).otherwise(expected)
        yield from compare(positions.join(least, on="row", how="left"), **{name: expected})


def play_lines(positions: pl.LazyFrame, last_steps: pl.LazyFrame) -> pl.LazyFrame:
    """Return, for each row and number of plies, the shortest lines and the smallest of them.

    The columns are `row`, `plies`, the number of lines, and the texts and the last move of the
    smallest.
    """
    dice, starts, text = pl.col("dice"), pl.col("starts"), pl.col("moves, expected")
    throw, start = pl.col("label") // 16, pl.col("label") % 16
    sign = pl.when("swaps").then(pl.lit("x")).otherwise(pl.lit("-"))
    move = pl.format("{}{}{}", start, sign, start + throw)
    square = start.replace_strict(
        {at: f"{at:x}" for at in range(1, SQUARES + 1)}, return_dtype=pl.String
    )
    opening = positions.filter(pl.col("position") == OPENING).select(
        "row",
        pl.lit(0, pl.Int16).alias("plies"),
        pl.lit(1, pl.Int64).alias("lines, expected"),
        *(pl.lit("").alias(name) for name in ("dice", "starts", "moves, expected")),
        pl.lit(0, pl.UInt8).alias("last"),
    )
    layers = [opening.collect()]
    for (ply,), steps in sorted(last_steps.collect().partition_by("plies", as_dict=True).items()):
        before = layers[-1].lazy().rename({"row": "before"}).drop("plies", "last")
        played = (
            steps.lazy()
            .join(before, on="before")
            .with_columns(line=dice + throw.cast(pl.String) + starts + square)
        )
        least = played.group_by("row").agg(pl.col("lines, expected").sum(), pl.col("line").min())
        smallest = (
            played.drop("lines, expected")
            .join(least, on=["row", "line"])
            .select(
                "row",
                pl.lit(ply, pl.Int16).alias("plies"),
                "lines, expected",
                dice=pl.col("line").str.slice(0, ply),
                starts=pl.col("line").str.slice(ply),
                **{"moves, expected": text + ("" if ply == 1 else " ") + move},
                last="label",
            )
        )
        layers.append(smallest.collect())
    return pl.concat(layers).lazy().drop("starts").rename({"dice": "dice, expected"})


def make_records(rows: pl.LazyFrame, lines: pl.LazyFrame) -> dict[str, Array]:
    """Return the expected value of each index field."""
    fields = rows.select("row", "plies", *PLIES)
    for name, parity in zip(("last_even", "last_odd"), PLIES, strict=True):
        last = lines.select("row", pl.col("last").alias(name), pl.col("plies").alias(parity))
        fields = fields.join(last, on=["row", parity], how="left")
    numbers = lines.select("row", "plies", pl.col("lines, expected").alias("lines"))
    known = fields.join(numbers, on=["row", "plies"], how="left").sort("row").collect()
    filled = known.with_columns(pl.col(PLIES).fill_null(UNREACHABLE)).fill_null(0)
    return {name: filled[name].to_numpy() for name in FIELDS}


SENET = Prover(prove_senet, estimate_joins)
