"""The proof of the table that counts tours by board and start square.

Every square of a board is counted again: path by path, or by the walker of `tour_walker` where
there are too many paths to follow. A board with a proved list of its tours is compared with the
list. Each board gets one verdict on the counts of all its squares. A board that is too large to be
counted again is *intact*, except 8x8: its totals have a published source, and its verdict is
*published*. A published total says nothing about the count of a single square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.notation.knight import TOURS_PREFIX, ChessBoard, parse_sides
from puzzle_tablebase.pipeline.parallel import run_in_threads
from puzzle_tablebase.pipeline.proofs.bits import count_trailing_zeros
from puzzle_tablebase.pipeline.proofs.claims import (
    Claim,
    Difference,
    ListedTable,
    Proof,
    Prover,
    compare,
    require_equal,
)
from puzzle_tablebase.pipeline.proofs.knight_rules import Squares, find_jumps, list_jumps
from puzzle_tablebase.pipeline.proofs.tour_walker import HalfBoard, walk
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, Verdict
from puzzle_tablebase.resources import PROCESS_BYTES
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tour_sizes import estimate_sweep_bytes

Counts = Mapping[str, ArrayLike]
"""Columns and their values, one for each square of a board or the same for all."""

PUBLISHED_BOARD = "8x8"
PUBLISHED_TOURS = 19_591_828_170_979_904
"""Directed tours of 8x8 (OEIS A165134)."""
PUBLISHED_CLOSED = {
    (8, 8): 2 * 13_267_364_410_532,
    (8, 9): 2 * 7_112_881_119_092_574,
    (8, 10): 2 * 4_235_482_818_156_697_040,
}
"""Directed closed tours from each square, by the board's sides, the shorter one first (OEIS A001230
and A193055 count both directions as one)."""

WALKED_SQUARES = 36
"""Squares of the largest boards whose tours are recounted path by path."""
SWEPT_SIDE = 5
"""The longest short side of larger boards that are recounted by a sweep, whatever the other."""
SWEPT_SQUARES, CLOSED_SQUARES = 49, 64
"""Squares of the largest other boards that are swept again: whose tours, and closed ones alone."""

COLUMNS = ("board", "files", "ranks", "start", "tours", "closed")
COUNTED_AGAIN = "counts match an independent recount, path by path"
CLAIMS = {
    "list": "on {names}: the tours and closed tours are as many as in the board's own table",
    "walk": f"on {{count}} boards that no table lists: {COUNTED_AGAIN}",
    "sweep": "on {names}: counts match a second sweep, start by start",
    "totals": "the totals of {names} match published totals (OEIS A165134, A001230, A193055)",
}
"""What is claimed of boards, by the way in which they are counted again."""
HOW_SWEPT = "every square or its image was counted again, by a second sweep, start by start"
HOW_PUBLISHED = (
    "tours are as many as published (OEIS A165134); closed tours are as many as published "
    "(OEIS A001230); the number of each square was only counted once"
)
COUNTED_ONCE = "tours and closed tours were only counted once"
HOWS = {
    "list": (Verdict.PROVED, f"every square was compared with {TOURS_PREFIX}{{}}, which is proved"),
    "walk": (Verdict.RECOUNTED, "every square was counted again, path by path"),
    "sweep": (Verdict.RECOUNTED, HOW_SWEPT),
    "totals": (Verdict.PUBLISHED, HOW_PUBLISHED),
    "": (Verdict.INTACT, COUNTED_ONCE),
}
CLOSED_HOWS = HOWS | {
    "sweep": (Verdict.RECOUNTED, "closed tours were counted again, by a second sweep"),
    "totals": (Verdict.PUBLISHED, "closed tours are as many as published (OEIS A193055)"),
    "": (Verdict.INTACT, "closed tours were only counted once"),
}
"""The verdict on a board by the way, and on one of which closed tours alone are counted."""


def recount_pairs(board: ChessBoard) -> Array:
    """Count the tours from each square to each: a row for each start."""
    near = list_jumps(board.files, board.ranks)
    counts = run_in_threads(count_tours_from, [(near, start) for start in range(board.squares)])
    return np.array([*counts])


def recount_tours(board: ChessBoard) -> dict[str, Array]:
    """Count the tours and the closed tours from each square."""
    counts, jumps = recount_pairs(board), find_jumps(board.files, board.ranks)
    return {"tours": counts.sum(axis=1), "closed": (counts * jumps).sum(axis=1)}


def count_tours_from(near: Squares, start: int) -> Array:
    """Count the tours from a square to each by following every path.

    Row s of `near` has a bit for each square that a knight can jump to from s.
    """
    free = (1 << len(near)) - 1 - (1 << start)
    lonely = 0
    for square, beside in enumerate((near & free).tolist()):
        lonely |= (beside & (beside - 1) == 0) << square
    counts = np.zeros(len(near), dtype=np.int64)
    _count_onward(near, start, free, lonely, counts)
    return counts


@compiled
def _count_onward(near: Squares, here: int, free: int, lonely: int, counts: Array) -> None:
    """Count the ways to continue a path from its last square over all free squares, by the end.

    `lonely` has the free squares with at most one free neighbour. A path is abandoned if a free
    square that is not its next one has no free neighbour, or if two such squares have only one:
    a square like that can only be the tour's end.
    """
    if not free:
        counts[here] += 1
        return
    ways = choices = near[here] & free
    while choices:
        square = count_trailing_zeros(choices)
        choices &= choices - 1
        remaining = free ^ (1 << square)
        # only neighbours of the square that the path leaves have lost a free neighbour
        next_lonely, has_stranded, losers = lonely & remaining, False, ways & remaining
        while losers:
            beside = near[count_trailing_zeros(losers)] & remaining
            if not beside & (beside - 1):
                next_lonely |= losers & -losers
            has_stranded |= not beside
            losers &= losers - 1
        ends = next_lonely & ~near[square]
        if not remaining or (not has_stranded and not ends & (ends - 1)):
            _count_onward(near, square, remaining, next_lonely, counts)


def recount_by_sweep(board: ChessBoard, *, is_open: bool = True) -> Counts:
    """Count the closed tours from each square and, if `is_open`, all tours, by the walker."""
    # a closed tour has two directions
    closed = 2 * walk(HalfBoard(board, is_open=False))[None]
    if not is_open:
        return {"closed": closed}
    half = HalfBoard(board, is_open=True)
    totals, squares = walk(half), [*range(board.squares)]
    if board.files > board.ranks:
        squares = [at // board.files + board.ranks * (at % board.files) for at in squares]
    tours = [totals[half.find_start(at)] if half.ends[at] else 0 for at in squares]
    return {"tours": tours, "closed": closed}


def prove_counts(listed: ListedTable, proved: Mapping[str, ListedTable] | None = None) -> Proof:
    """Prove the table of counts; lists of tours that are proved already count their boards."""
    proved = proved or {}
    boards, closed = list_boards(listed.definition)
    rows = listed.scan_rows().collect()
    text = f"there is one row for every square of {len(boards)} boards, in order"
    yield Claim(text, compare_squares(rows, boards, closed))

    ways = {
        name: choose_way(board, is_open=name not in closed, proved=proved)
        for name, board in boards.items()
    }

    def count_again(name: str) -> Counts:
        board, is_open = boards[name], name not in closed
        if ways[name] == "sweep":
            return recount_by_sweep(board, is_open=is_open)
        if ways[name] == "walk":
            return recount_tours(board)
        counts = count_listed(proved[f"{TOURS_PREFIX}{name}"], board)
        return counts if is_open else {"closed": counts["closed"]}

    for way, text in CLAIMS.items():
        if names := [name for name in boards if ways[name] == way]:
            found = (
                compare_boards(rows, names, count_again)
                if way != "totals"
                else compare_totals(rows, [boards[name] for name in names])
            )
            yield Claim(text.format(names=", ".join(names), count=len(names)), found)
    verdicts: dict[str | None, tuple[Verdict, str]] = {}
    for name, way in ways.items():
        verdict, how = (CLOSED_HOWS if name in closed else HOWS)[way]
        verdicts[name] = verdict, how.format(name)
    return Proved(Verdict.INTACT, COUNTED_ONCE, COLUMNS, boards=verdicts)


def compare_squares(
    rows: pl.DataFrame, boards: Mapping[str, ChessBoard], closed: set[str]
) -> Iterator[Difference]:
    """Yield a row that is not that of the next square, or has a null where tours are counted."""
    squares = [
        (name, board.files, board.ranks, board.name_square(at), name in closed)
        for name, board in boards.items()
        for at in range(board.squares)
    ]
    yield from require_equal("rows", len(rows), len(squares))
    names = *COLUMNS[:4], "a null in tours:"
    expected = pl.DataFrame(squares, [f"{name}, expected" for name in names], orient="row")
    found = rows.with_columns(pl.col("tours").is_null().alias(names[-1]))
    yield from compare(pl.concat([found, expected], how="horizontal").lazy(), *names)


def compare_boards(
    rows: pl.DataFrame, names: Iterable[str], count: Callable[[str], Counts]
) -> Iterator[Difference | int]:
    """Yield the first square of some boards whose numbers are not those that `count` finds."""
    done = 0
    for name in names:
        squares, counts = rows.filter(pl.col("board") == name), count(name)
        expected = [
            pl.Series(f"{each}, expected", np.broadcast_to(values, len(squares)))
            for each, values in counts.items()
        ]
        yield from compare(squares.with_columns(expected).lazy(), *counts)
        done += len(squares)
        yield done


def compare_totals(rows: pl.DataFrame, boards: Iterable[ChessBoard]) -> Iterator[Difference]:
    """Yield the difference between boards' totals and the published ones."""
    for board in boards:
        squares = rows.filter(pl.col("board") == str(board))
        if str(board) == PUBLISHED_BOARD:
            yield from require_equal(f"tours of {board}:", squares["tours"].sum(), PUBLISHED_TOURS)
        yield from compare(squares.lazy(), closed=pl.lit(PUBLISHED_CLOSED[board.sorted_sides]))


def count_listed(tours: ListedTable, board: ChessBoard) -> dict[str, Array]:
    """Count the listed tours, and the closed ones, from each square of a board."""
    squares = pl.DataFrame({"start": board.name_squares()})
    counts = (
        tours.scan_rows("start", "closed")
        .group_by("start")
        .agg(tours=pl.len(), closed=pl.col("closed").sum())
        .collect()
    )
    every = squares.join(counts, on="start", how="left", maintain_order="left").fill_null(0)
    return {name: every[name].cast(pl.Int64).to_numpy() for name in ("tours", "closed")}


def choose_way(
    board: ChessBoard, *, is_open: bool, proved: Mapping[str, ListedTable] | None = None
) -> str:
    """Choose how a board is counted again, a key of `CLAIMS`; "" if it is too large."""
    tours = (proved or {}).get(f"{TOURS_PREFIX}{board}")
    if tours and tours.definition.recipe.kind == "tour_list":
        return "list"
    if is_open and board.squares <= WALKED_SQUARES:
        return "walk"
    largest = SWEPT_SQUARES if is_open else CLOSED_SQUARES
    if board.squares <= largest or board.sorted_sides[0] <= SWEPT_SIDE:
        return "sweep"
    is_published = (
        str(board) == PUBLISHED_BOARD if is_open else board.sorted_sides in PUBLISHED_CLOSED
    )
    return "totals" if is_published else ""


def list_boards(table: Table) -> tuple[dict[str, ChessBoard], set[str]]:
    """Return the boards of a table of counts by name, and those with closed tours alone."""
    names, closed = (table.recipe.parameters[each] for each in ("boards", "closed"))
    return {name: ChessBoard(*parse_sides(name)) for name in names}, {*closed}


def estimate_memory(table: Table) -> int:
    """Estimate the bytes for the largest sweep; boards that are not swept need few."""
    boards, closed = list_boards(table)
    swept = (
        estimate_sweep_bytes(board, closed=name in closed)
        for name, board in boards.items()
        if choose_way(board, is_open=name not in closed) == "sweep"
    )
    return PROCESS_BYTES + max(swept, default=0)


TOUR_COUNTS = Prover(prove_counts, estimate_memory, rests_on_proved=True)
