"""The table of how many tours begin where: held against the tables that list them, and more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from pipeline.verify.claims import Array, Rows, Seen
from pipeline.verify.knight.recount import COUNTED_AGAIN, recounted
from pipeline.verify.knight.references import known_closed, known_total
from pipeline.verify.knight.tours import Counted
from pipeline.verify.listed import Listed, read_rows
from tablebase.puzzles.knight import Board
from tablebase.puzzles.tour_counts import TourCounts


def prove_counts(listed: Listed, seen: Seen) -> None:
    """Prove the table of counts, given what the tables of tours were seen to list."""
    listing = [counted for counted in seen.values() if isinstance(counted, Counted)]
    TourNumbers(listed, read_rows(listed)).prove({str(seen.board): seen for seen in listing})


class TourNumbers:
    """The rows under proof: a number of tours and of closed ones for each square of each board."""

    def __init__(self, listed: Listed, rows: Rows) -> None:
        recipe = listed.known.recipe
        assert isinstance(recipe, TourCounts)
        self._proof = listed.claims()
        self._rows = rows
        self._boards = [Board(*sides) for sides in recipe.boards]
        self._squares = [(board, at) for board in self._boards for at in range(board.squares)]
        self._row_of = {(str(board), at): row for row, (board, at) in enumerate(self._squares)}
        self._tours, self._closed = rows.numbers("tours"), rows.numbers("closed")

    def prove(self, listing: Mapping[str, Counted]) -> None:
        self._check_squares()
        self._check_symmetry()
        boards = [board for board in self._boards if str(board) in listing]
        if boards:
            text = "the tours and closed tours are as many as in the board's own table"
            seen = {name: (of.by_start, of.closed_by_start) for name, of in listing.items()}
            named = ", ".join(map(str, boards))
            self._check(f"on {named}: {text}", boards, lambda board: seen[str(board)])
        self._check_published()
        # the tours of the others were counted as listed
        boards = [
            board
            for board in self._boards
            if str(board) not in listing
            # else the same board on its side is counted, and proved to have the same counts
            and (board.files <= board.ranks or (_sideways(board), 0) not in self._row_of)
        ]
        text = f"on {len(boards)} boards that no table lists: {COUNTED_AGAIN}"
        self._check(text, boards, lambda board: zip(*recounted(board), strict=True))

    def _check(
        self, text: str, boards: list[Board], counts: Callable[[Board], Iterable[Any]]
    ) -> None:
        """Claim that so many tours begin at each square of the boards, and so many closed ones."""
        with self._proof.claim(text, sum(board.squares for board in boards)) as fact:
            for board in boards:
                rows = self._rows_of(board)
                tours, closed = map(np.array, counts(board))
                self._rows.equal(fact, "tours", self._tours[rows], tours, rows)
                self._rows.equal(fact, "closed", self._closed[rows], closed, rows)

    def _rows_of(self, board: Board) -> Array:
        return self._row_of[str(board), 0] + np.arange(board.squares)

    def _check_squares(self) -> None:
        text = f"there is one row for every square of {len(self._boards)} boards, in order"
        with self._proof.claim(text) as fact:
            names = ("board", "files", "ranks", "start")
            columns = (map(str, self._rows.column(name).to_pylist()) for name in names)
            found = [" ".join(row) for row in zip(*columns, strict=True)]
            squares = [f"{b} {b.files} {b.ranks} {b.name(at)}" for b, at in self._squares]
            wrong = np.array([*map(str.__ne__, found, squares)], dtype=np.bool_)
            self._rows.none(fact, wrong, lambda row: (found[row], squares[row]))
            fact.same(len(found), len(squares), "{} rows")

    def _check_symmetry(self) -> None:
        text = (
            "mirrored squares have equally many tours, also on the board turned sideways; all "
            "squares of a board have equally many closed tours, which visit them all"
        )
        row_of, lying = self._row_of, []
        least = [row_of[str(board), min(board.turned(at))] for board, at in self._squares]
        first = [row_of[str(board), 0] for board, _ in self._squares]
        for row, (board, at) in enumerate(self._squares):
            rank, file = divmod(at, board.files)
            lying.append(row_of.get((_sideways(board), rank + board.ranks * file), row))
        with self._proof.claim(text) as fact:
            for other in (least, lying):
                self._rows.equal(fact, "tours", self._tours, self._tours[other])
            for other in (first, lying):
                self._rows.equal(fact, "closed", self._closed, self._closed[other])

    def _check_published(self) -> None:
        totals = [(board, known) for board in self._boards if (known := known_total(board))]
        text = f"the totals of {len(totals)} boards match published totals ({_sources(totals)})"
        with self._proof.claim(text, sum(board.squares for board, _ in totals)) as fact:
            for board, (published, _) in totals:
                tours = int(self._tours[self._rows_of(board)].sum())
                fact.same(tours, published, f"{board}: {{:,}} tours")
        closed = [(board, known) for board in self._boards if (known := known_closed(board))]
        text = f"the closed tours of {len(closed)} boards match published totals"
        counts = {str(board): [published] * board.squares for board, (published, _) in closed}
        self._check(
            f"{text} ({_sources(closed)})",
            [board for board, _ in closed],
            lambda board: (self._tours[self._rows_of(board)], counts[str(board)]),
        )


def _sideways(board: Board) -> str:
    return str(Board(board.ranks, board.files))


def _sources(known: list[tuple[Board, tuple[int, str]]]) -> str:
    return "; ".join(sorted({source for _, (_, source) in known}))
