"""The table of how many tours begin where: held against the tables that list them, and more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from pipeline.verify.claims import Seen
from pipeline.verify.knight.recount import COUNTED_AGAIN, recounted
from pipeline.verify.knight.references import known_closed, known_total
from pipeline.verify.knight.resweep import SWEPT_AGAIN, sweep
from pipeline.verify.listed import Listed, read_rows
from tablebase.puzzles.knight import TOURS
from tablebase.puzzles.knight_board import Board
from tablebase.puzzles.tour_counts import TourCounts

WALKED = 36
"""Squares of the largest boards whose tours are counted again path by path."""
SWEPT = 4
"""The longest short side of larger ones that are swept again: others have too many states."""
BOTH_WAYS = "4x5"
"""A board that is swept along both sides."""

Counts = Mapping[str, ArrayLike]
"""What columns hold at a board's squares."""


def prove_counts(listed: Listed, seen: Seen) -> dict[str, dict[str, list[int]]]:
    """Prove the table of counts, given what the tables of tours were seen to list.

    Returns how many tours, where they were counted, and closed tours begin at each square of each
    board.
    """
    recipe = listed.known.recipe
    assert isinstance(recipe, TourCounts)
    rows, boards = read_rows(listed), {f"{c}x{r}": Board(c, r) for c, r in recipe.boards}
    squares = [(board, at) for board in boards.values() for at in range(board.squares)]
    row_of = {(str(board), at): row for row, (board, at) in enumerate(squares)}
    # all but those of which only closed tours are counted
    counted = [name for name, of in boards.items() if (of.files, of.ranks) not in recipe.closed]

    def prove(text: str, names: list[str], counts: Callable[[str], Counts]) -> None:
        with listed.claim(text, sum(boards[name].squares for name in names)) as fact:
            for name in names:
                at = row_of[name, 0] + np.arange(boards[name].squares)
                for column, expected in counts(name).items():
                    rows.equal(fact, column, np.broadcast_to(expected, len(at)), at)

    text = f"there is one row for every square of {len(boards)} boards, in order"
    with listed.claim(text) as fact:
        fact.same("rows", len(rows), len(squares))
        told = [(str(board), board.files, board.ranks, board.name(at)) for board, at in squares]
        for name, *expected in zip(("board", "files", "ranks", "start"), *told, strict=True):
            rows.equal(fact, name, expected)
        nulls = [(board.files, board.ranks) in recipe.closed for board, _ in squares]
        rows.equal(fact, "a null in tours:", nulls, found=rows.column("tours").is_null())
    text = (
        "mirrored squares have equally many tours, also on the board turned sideways; all "
        "squares of a board have equally many closed tours, which visit them all"
    )
    with listed.claim(text) as fact:
        lying = [row_of.get(_sideways(*square), row) for row, square in enumerate(squares)]
        least = [row_of[str(board), min(board.turned(at))] for board, at in squares]
        first = [row_of[str(board), 0] for board, _ in squares]
        for column, others in (("tours", (least, lying)), ("closed", (first, lying))):
            for other in others:
                rows.equal(fact, column, rows.column(column).take(pa.array(other)))

    listing = {name: found for name in boards if (found := seen.get(f"{TOURS}{name}"))}
    if listing:
        text = "the tours and closed tours are as many as in the board's own table"
        prove(f"on {', '.join(listing)}: {text}", [*listing], listing.__getitem__)

    totals = {name: known for name in counted if (known := known_total(boards[name]))}
    text = f"the totals of {len(totals)} boards match published totals ({_sources(totals)})"
    with listed.claim(text, sum(boards[name].squares for name in totals)) as fact:
        for name, (published, _) in totals.items():
            tours = rows.numbers("tours")[row_of[name, 0] :][: boards[name].squares]
            fact.same(f"tours of {name}:", int(tours.sum()), published)
    closed = {name: known for name, board in boards.items() if (known := known_closed(board))}
    text = f"the closed tours of {len(closed)} boards match published totals ({_sources(closed)})"
    prove(text, [*closed], lambda name: {"closed": closed[name][0]})

    # the tours of boards with a table were counted as listed; of a board and the same on its
    # side, proved to have the same counts, one is counted
    again = [
        board
        for name, board in boards.items()
        if name in counted
        and name not in listing
        and (board.files <= board.ranks or _sideways(board)[0] not in counted)
    ]
    walked = [str(board) for board in again if board.squares <= WALKED]
    text = f"on {len(walked)} boards that no table lists: {COUNTED_AGAIN}"
    prove(text, walked, lambda name: recounted(boards[name]))
    more = [board for board in again if board.squares > WALKED]
    for by_files, way in ((False, "rank after rank"), (True, "file after file")):
        narrow = [board for board in more if (board.files > board.ranks) == by_files]
        swept = [str(board) for board in narrow if min(board.files, board.ranks) <= SWEPT]
        swept += [name for name in counted if name == BOTH_WAYS]
        text = f"on {', '.join(swept)}: {SWEPT_AGAIN}, {way}"
        prove(text, swept, partial(_swept, boards, by_files))
    alone = [
        name
        for name, board in boards.items()
        if board.squares > WALKED and (name not in counted or min(board.files, board.ranks) > SWEPT)
    ]
    if alone:
        text = f"on {', '.join(alone)}, counted only once: no more tours are closed than there are"
        with listed.claim(text) as fact:
            tours = rows.numbers("tours", null=np.iinfo(np.int64).max)
            closed_ones = rows.numbers("closed")
            rows.none(
                fact,
                closed_ones > tours,
                lambda row: (f"{closed_ones[row]} closed tours", f"at most {tours[row]}"),
            )
    found = {name: rows.numbers(name, null=0).tolist() for name in ("tours", "closed")}
    return {
        str(board): {
            name: some[row_of[str(board), 0] :][: board.squares]
            for name, some in found.items()
            if name == "closed" or str(board) in counted
        }
        for board in boards.values()
    }


def _swept(boards: Mapping[str, Board], by_files: bool, name: str) -> Counts:
    return sweep(boards[name], by_files=by_files)


def _sideways(board: Board, square: int = 0) -> tuple[str, int]:
    """The board on its side, and where a square of it comes to lie."""
    rank, file = divmod(square, board.files)
    return f"{board.ranks}x{board.files}", rank + board.ranks * file


def _sources(known: Mapping[str, tuple[int, str]]) -> str:
    return "; ".join(sorted({source for _, source in known.values()}))
