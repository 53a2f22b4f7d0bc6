"""The proof of the table that counts tours by board and start square.

Its counts are compared with the tables that list tours, with second counts and with published
totals. Each board gets one verdict on the counts of all its squares: a total that agrees shows
nothing about the count of a single square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from pipeline.verify.claims import Proof, PublishedTable, Seen, TableVerdict, Verdict
from pipeline.verify.files import read_rows
from pipeline.verify.knight.recounts import (
    COUNTED_AGAIN,
    SWEPT_AGAIN,
    find_known_closed,
    find_known_total,
    recount_by_sweep,
    recount_tours,
)
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import TOURS_PREFIX, TourCounts


class CountLimits(NamedTuple):
    """The sizes of boards whose tours are counted a second time."""

    walked_squares: int = 36
    """The number of squares of the largest boards whose tours are recounted path by path."""
    swept_side: int = 4
    """The longest short side of larger boards that are recounted by a sweep.

    A sweep of a wider board has too many states.
    """
    swept_both_ways: str = "4x5"
    """A board that is recounted by a sweep along each of its sides."""


LIMITS = CountLimits()
Counts = Mapping[str, ArrayLike]
"""Columns and their values, one for each square of a board or the same for all."""
COLUMNS = ("board", "files", "ranks", "start", "tours", "closed")


def prove_counts(published: PublishedTable, earlier: Seen, limits: CountLimits = LIMITS) -> Proof:
    """Prove the table of counts, given the proofs of the tables that list tours.

    The proof's result has, for each board and each start square, the number of closed tours and,
    if it was counted, that of all tours.
    """
    proof = _Proof(published, limits)
    proof.prove_rows()
    proof.prove_symmetry()
    proved = proof.compare_with_lists(earlier)
    proof.prove_totals()
    recounted = proof.recount_boards([*proved])
    proof.check_unproved()
    published.note_missing_proofs(COLUMNS)
    return Proof(tuple(proof.make_verdicts(proved, recounted)), proof.list_counts())


class _Proof:
    """The proof of the table of counts, with its rows by board."""

    def __init__(self, published: PublishedTable, limits: CountLimits) -> None:
        recipe = published.definition.recipe
        assert isinstance(recipe, TourCounts)
        self._published, self._rows, self._closed = published, read_rows(published), recipe.closed
        self._limits = limits
        self._boards = {f"{c}x{r}": KnightBoard(c, r) for c, r in recipe.boards}
        self._squares = [
            (board, at) for board in self._boards.values() for at in range(board.squares)
        ]
        self._row_of = {(str(board), at): row for row, (board, at) in enumerate(self._squares)}
        # all boards but those of which only closed tours are counted
        self._counted = [
            name
            for name, board in self._boards.items()
            if (board.files, board.ranks) not in recipe.closed
        ]
        boards = self._boards
        self._totals = {n: known for n in self._counted if (known := find_known_total(boards[n]))}
        self._closed_totals = {
            n: known for n, board in boards.items() if (known := find_known_closed(board))
        }

    def _prove(self, text: str, names: list[str], counts: Callable[[str], Counts]) -> None:
        """Prove that some boards' rows have the counts that a function returns for a board."""
        squares = sum(self._boards[name].squares for name in names)
        with self._published.begin_claim(text, squares) as check:
            for name in names:
                at = self._row_of[name, 0] + np.arange(self._boards[name].squares)
                for column, expected in counts(name).items():
                    self._rows.require_column(check, column, np.broadcast_to(expected, len(at)), at)

    def prove_rows(self) -> None:
        """Prove that every square has one row, with a null only where tours are not counted."""
        rows, squares = self._rows, self._squares
        text = f"there is one row for every square of {len(self._boards)} boards, in order"
        with self._published.begin_claim(text) as check:
            check.require_equal("rows", len(rows), len(squares))
            descriptions = [
                (str(board), board.files, board.ranks, board.name_square(at))
                for board, at in squares
            ]
            for name, *expected in zip(COLUMNS[:4], *descriptions, strict=True):
                rows.require_column(check, name, expected)
            nulls = [(board.files, board.ranks) in self._closed for board, _ in squares]
            rows.require_column(
                check, "a null in tours:", nulls, found=rows.column("tours").is_null()
            )

    def prove_symmetry(self) -> None:
        """Prove that squares which a symmetry exchanges have equal counts."""
        rows, row_of, squares = self._rows, self._row_of, self._squares
        text = (
            "mirrored squares have equally many tours, also on the board turned sideways; all "
            "squares of a board have equally many closed tours, which visit them all"
        )
        with self._published.begin_claim(text) as check:
            sideways = [
                row_of.get(_turn_sideways(*square), row) for row, square in enumerate(squares)
            ]
            least = [row_of[str(board), min(board.find_images(at))] for board, at in squares]
            first = [row_of[str(board), 0] for board, _ in squares]
            for column, images in (("tours", (least, sideways)), ("closed", (first, sideways))):
                for image in images:
                    rows.require_column(check, column, rows.column(column).take(pa.array(image)))

    def compare_with_lists(self, earlier: Seen) -> dict[str, str]:
        """Prove the boards that have a table of all tours.

        Return, for each board whose table is itself proved, the text for its verdict.
        """
        lists = {
            n: earlier[table] for n in self._boards if (table := f"{TOURS_PREFIX}{n}") in earlier
        }
        if lists:
            text = "the tours and closed tours are as many as in the board's own table"
            text = f"on {', '.join(lists)}: {text}"
            self._prove(text, [*lists], lambda name: lists[name].result)
        return {
            name: f"every square or its image was compared with {TOURS_PREFIX}{name}, "
            "which is proved"
            for name, table in lists.items()
            if table.shows(least=Verdict.PROVED)
        }

    def prove_totals(self) -> None:
        """Compare the boards' totals with the published ones."""
        totals, closed = self._totals, self._closed_totals
        text = (
            f"the totals of {len(totals)} boards match published totals ({_format_sources(totals)})"
        )
        squares = sum(self._boards[name].squares for name in totals)
        with self._published.begin_claim(text, squares) as check:
            for name, (known, _) in totals.items():
                tours = self._read_board("tours", name)
                check.require_equal(f"tours of {name}:", sum(tours), known)
        text = f"the closed tours of {len(closed)} boards match published totals"
        text = f"{text} ({_format_sources(closed)})"
        self._prove(text, [*closed], lambda name: {"closed": closed[name][0]})

    def recount_boards(self, proved: list[str]) -> dict[str, str]:
        """Recount the tours of boards by square; return the text for each board's verdict.

        Boards in `proved` are left out: their proved tables were counted. Of a board and the same
        board turned sideways, which are proved to have equal counts, only one is recounted.
        """
        boards, counted, limits = self._boards, self._counted, self._limits
        candidates = [
            board
            for name, board in boards.items()
            if name in counted
            and name not in proved
            and (board.files <= board.ranks or _turn_sideways(board)[0] not in counted)
        ]
        small = [str(board) for board in candidates if board.squares <= limits.walked_squares]
        text = f"on {len(small)} boards that no table lists: {COUNTED_AGAIN}"
        self._prove(text, small, lambda name: recount_tours(boards[name]))
        how_by_board = dict.fromkeys(
            small, "every square or its image was counted again, path by path"
        )
        larger = [board for board in candidates if board.squares > limits.walked_squares]
        for by_files, order in ((False, "rank after rank"), (True, "file after file")):
            narrow = [board for board in larger if (board.files > board.ranks) == by_files]
            swept = [
                str(board) for board in narrow if min(board.files, board.ranks) <= limits.swept_side
            ]
            names = [*swept, *(name for name in counted if name == limits.swept_both_ways)]
            text = f"on {', '.join(names)}: {SWEPT_AGAIN}, {order}"
            self._prove(text, names, partial(_recount_by_sweep, boards, by_files))
            for name in swept:
                how_by_board[name] = (
                    "every square or its image was counted again, by a sweep over the whole board"
                )
        return how_by_board

    def check_unproved(self) -> None:
        """Prove, on boards without a second count, that closed tours are no more than all tours."""
        rows, limits = self._rows, self._limits
        counted_once = [
            name
            for name, board in self._boards.items()
            if board.squares > limits.walked_squares
            and (name not in self._counted or min(board.files, board.ranks) > limits.swept_side)
        ]
        if counted_once:
            text = "counted only once: no more tours are closed than there are"
            with self._published.begin_claim(f"on {', '.join(counted_once)}, {text}") as check:
                tours = rows.read_numbers("tours", null=np.iinfo(np.int64).max)
                closed = rows.read_numbers("closed")
                rows.require_none(
                    check,
                    closed > tours,
                    lambda row: (f"{closed[row]} closed tours", f"at most {tours[row]}"),
                )

    def make_verdicts(
        self, proved: Mapping[str, str], recounted: Mapping[str, str]
    ) -> Iterable[TableVerdict]:
        """Return the strongest verdict that holds for each board."""
        for name, board in self._boards.items():
            # a board and the same board turned sideways were proved to have the same counts
            images = [name, _turn_sideways(board)[0]]
            for verdict, how_by_board in ((Verdict.PROVED, proved), (Verdict.RECOUNTED, recounted)):
                if how := [how_by_board[image] for image in images if image in how_by_board]:
                    yield self._published.make_verdict(verdict, how[0], name)
                    break
            else:
                yield self._make_total_verdict(name)

    def _make_total_verdict(self, name: str) -> TableVerdict:
        """Return the verdict on a board whose squares have no second count."""
        known = {"closed tours": self._closed_totals.get(name)}
        if name in self._counted:
            known = {"tours": self._totals.get(name), **known}
        parts = [
            f"{kind} are as many as published ({total[1]})"
            if total
            else f"{kind} were only counted once"
            for kind, total in known.items()
        ]
        if known.get("tours"):
            parts.append("the number of each square was only counted once")
        verdict = Verdict.PUBLISHED if all(known.values()) else Verdict.INTACT
        return self._published.make_verdict(verdict, "; ".join(parts), name)

    def list_counts(self) -> dict[str, dict[str, list[int]]]:
        """Return the counted columns of each board, square by square."""
        return {
            name: {
                column: self._read_board(column, name)
                for column in ("tours", "closed")
                if column == "closed" or name in self._counted
            }
            for name in self._boards
        }

    def _read_board(self, column: str, name: str) -> list[int]:
        numbers = self._rows.read_numbers(column)[self._row_of[name, 0] :]
        counts: list[int] = numbers[: self._boards[name].squares].tolist()
        return counts


def _recount_by_sweep(boards: Mapping[str, KnightBoard], by_files: bool, name: str) -> Counts:
    return recount_by_sweep(boards[name], by_files=by_files)


def _turn_sideways(board: KnightBoard, square: int = 0) -> tuple[str, int]:
    """Return the name of a board turned sideways, and the new number of one of its squares."""
    rank, file = divmod(square, board.files)
    return f"{board.ranks}x{board.files}", rank + board.ranks * file


def _format_sources(known: Mapping[str, tuple[int, str]]) -> str:
    return "; ".join(sorted({source for _, source in known.values()}))
