"""The table of how many tours begin where: held against the tables that list them, and more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from pipeline.verify.claims import Rows, Said, Seen
from pipeline.verify.knight.recount import COUNTED_AGAIN, recounted
from pipeline.verify.knight.references import known_closed, known_total
from pipeline.verify.knight.tours import Counted
from pipeline.verify.listed import Listed, read_rows
from tablebase.puzzle import TourCounts
from tablebase.puzzles.knight import Board


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
        self._squares = [
            (board, square) for board in self._boards for square in range(board.squares)
        ]
        self._row_of = {(str(b), square): row for row, (b, square) in enumerate(self._squares)}
        self._numbers = {name: rows.numbers(name) for name in ("tours", "closed")}

    def prove(self, listing: Mapping[str, Counted]) -> None:
        self._check_squares()
        self._check_symmetry()
        boards = [board for board in self._boards if str(board) in listing]
        if boards:
            named = ", ".join(map(str, boards))
            self._check(
                f"on {named}: the tours and closed tours are as many as in the board's own table",
                boards,
                lambda board: zip(
                    listing[str(board)].by_start, listing[str(board)].closed_by_start, strict=True
                ),
            )
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
        self._check(text, boards, recounted)

    def _check(
        self,
        text: str,
        boards: list[Board],
        counts: Callable[[Board], Iterable[tuple[int | None, int]]],
    ) -> None:
        """Claim that the boards' squares have so many tours and closed ones; None: any number."""
        with self._proof.claim(text, sum(board.squares for board in boards)) as fact:
            for board in boards:
                begin = self._row_of[str(board), 0]
                for name, wanted in zip(
                    self._numbers, zip(*counts(board), strict=True), strict=True
                ):
                    rows = begin + np.arange(board.squares)
                    have = self._numbers[name][rows]
                    expected = have if None in wanted else np.array(wanted)
                    self._rows.equal(fact, name, have, expected, rows)

    def _check_squares(self) -> None:
        text = f"there is one row for every square of {len(self._boards)} boards, in order"
        with self._proof.claim(text) as fact:
            squares = [(str(b), b.files, b.ranks, b.name(square)) for b, square in self._squares]
            columns = (
                self._rows.column(name).to_pylist() for name in ("board", "files", "ranks", "start")
            )
            found = list(zip(*columns, strict=True))

            def said(row: int) -> Said:
                return " ".join(map(str, found[row])), " ".join(map(str, squares[row]))

            wrong = np.array([*map(tuple.__ne__, found, squares)], dtype=np.bool_)
            self._rows.none(fact, wrong, said)
            fact.same(len(found), len(squares), "{} rows")

    def _check_symmetry(self) -> None:
        text = (
            "mirrored squares have equally many tours, also on the board turned sideways; all "
            "squares of a board have equally many closed tours, which visit them all"
        )
        row_of = self._row_of
        least = [row_of[str(board), min(board.turned(at))] for board, at in self._squares]
        first = [row_of[str(board), 0] for board, _ in self._squares]
        lying = [
            row_of.get(
                (_sideways(board), at // board.files + board.ranks * (at % board.files)), row
            )
            for row, (board, at) in enumerate(self._squares)
        ]
        with self._proof.claim(text) as fact:
            for name, column, others in (
                ("tours", self._numbers["tours"], (least, lying)),
                ("closed", self._numbers["closed"], (first, lying)),
            ):
                for other in others:
                    self._rows.equal(fact, name, column, column[other])

    def _check_published(self) -> None:
        totals = [(board, known) for board in self._boards if (known := known_total(board))]
        text = f"the totals of {len(totals)} boards match published totals ({_sources(totals)})"
        with self._proof.claim(text, sum(board.squares for board, _ in totals)) as fact:
            for board, (published, _) in totals:
                begin = self._row_of[str(board), 0]
                tours = int(self._numbers["tours"][begin : begin + board.squares].sum())
                fact.same(tours, published, f"{board}: {{:,}} tours")
        closed = [(board, known) for board in self._boards if (known := known_closed(board))]
        text = (
            f"the closed tours of {len(closed)} boards match published totals ({_sources(closed)})"
        )
        counts = {
            str(board): [(None, published)] * board.squares for board, (published, _) in closed
        }
        self._check(text, [board for board, _ in closed], lambda board: counts[str(board)])


def _sideways(board: Board) -> str:
    return str(Board(board.ranks, board.files))


def _sources(known: list[tuple[Board, tuple[int, str]]]) -> str:
    return "; ".join(sorted({source for _, (_, source) in known}))
