"""The table of how many tours begin where: held against the tables that list them, and more."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from pipeline.verify.claims import Seen
from pipeline.verify.knight.recount import COUNTED_AGAIN, recounted
from pipeline.verify.knight.references import known_closed, known_total
from pipeline.verify.knight.tours import Counted
from pipeline.verify.listed import Listed, read_rows
from tablebase.puzzles.knight import Board, TourCounts

Counts = Mapping[str, ArrayLike]
"""What columns hold at a board's squares."""


def prove_counts(listed: Listed, seen: Seen) -> None:
    """Prove the table of counts, given what the tables of tours were seen to list."""
    recipe = listed.known.recipe
    assert isinstance(recipe, TourCounts)
    rows, boards = read_rows(listed), {f"{c}x{r}": Board(c, r) for c, r in recipe.boards}
    squares = [(board, at) for board in boards.values() for at in range(board.squares)]
    row_of = {(str(board), at): row for row, (board, at) in enumerate(squares)}

    def prove(text: str, names: list[str], counts: Callable[[str], Counts]) -> None:
        with listed.claim(text, sum(boards[name].squares for name in names)) as fact:
            for name in names:
                at = row_of[name, 0] + np.arange(boards[name].squares)
                for column, expected in counts(name).items():
                    rows.equal(fact, column, np.broadcast_to(expected, len(at)), at)

    text = f"there is one row for every square of {len(boards)} boards, in order"
    with listed.claim(text) as fact:
        fact.same("rows", len(rows), len(squares))
        rows.equal(fact, "board", [str(board) for board, _ in squares])
        rows.equal(fact, "files", [board.files for board, _ in squares])
        rows.equal(fact, "ranks", [board.ranks for board, _ in squares])
        rows.equal(fact, "start", [board.name(at) for board, at in squares])
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

    listing = {
        str(counted.board): counted for counted in seen.values() if isinstance(counted, Counted)
    }
    if named := [name for name in boards if name in listing]:
        text = "the tours and closed tours are as many as in the board's own table"
        prove(f"on {', '.join(named)}: {text}", named, lambda name: listing[name].counts)

    totals = {name: known for name, board in boards.items() if (known := known_total(board))}
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
        name
        for name, board in boards.items()
        if name not in listing
        and (board.files <= board.ranks or f"{board.ranks}x{board.files}" not in boards)
    ]
    text = f"on {len(again)} boards that no table lists: {COUNTED_AGAIN}"
    prove(text, again, lambda name: recounted(boards[name]))


def _sideways(board: Board, square: int) -> tuple[str, int]:
    """The board on its side, and where a square of it comes to lie."""
    rank, file = divmod(square, board.files)
    return f"{board.ranks}x{board.files}", rank + board.ranks * file


def _sources(known: Mapping[str, tuple[int, str]]) -> str:
    return "; ".join(sorted({source for _, source in known.values()}))
