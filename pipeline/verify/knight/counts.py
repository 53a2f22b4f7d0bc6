"""The table of how many tours begin where: compared with the tables that list them, and more.

Each board gets a verdict on all its numbers, those of every square: a total that agrees says
nothing of the squares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from pipeline.verify.knight.recount import COUNTED_AGAIN, recount_tours
from pipeline.verify.knight.recount_sweep import SWEPT_AGAIN, recount_by_sweep
from pipeline.verify.knight.references import find_known_closed, find_known_total
from pipeline.verify.manifest_checks import ListedTable, read_rows
from pipeline.verify.verdicts import Grade, Outcome, Seen, Verdict
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.count_recipe import TourCounts
from tablebase.puzzles.knight.definition import TOURS_PREFIX

MAX_WALKED_SQUARES = 36
"""Squares of the largest boards whose tours are counted again path by path."""
MAX_SWEPT_SIDE = 4
"""The longest short side of larger ones that are swept again: others have too many states."""
SWEPT_BOTH_WAYS = "4x5"
"""A board that is swept along both sides."""

Counts = Mapping[str, ArrayLike]
"""What columns hold at a board's squares."""
COLUMNS = ("board", "files", "ranks", "start", "tours", "closed")


def prove_counts(listed: ListedTable, earlier: Seen) -> Outcome:
    """Prove the table of counts, given what the tables of tours were seen to list.

    Its result: how many tours, where they were counted, and closed tours begin at each square of
    each board.
    """
    proof = _Proof(listed)
    proof.prove_rows()
    proof.prove_symmetry()
    proved = proof.compare_with_lists(earlier)
    proof.prove_totals()
    recounted = proof.recount_boards([*proved])
    proof.check_unproved()
    listed.note_missing_proofs(COLUMNS)
    return Outcome(tuple(proof.make_verdicts(proved, recounted)), proof.list_counts())


class _Proof:
    """The rows of the table by board, and what is proved of them."""

    def __init__(self, listed: ListedTable) -> None:
        recipe = listed.definition.recipe
        assert isinstance(recipe, TourCounts)
        self._listed, self._rows, self._closed = listed, read_rows(listed), recipe.closed
        self._boards = {f"{c}x{r}": KnightBoard(c, r) for c, r in recipe.boards}
        self._squares = [
            (board, at) for board in self._boards.values() for at in range(board.squares)
        ]
        self._row_of = {(str(board), at): row for row, (board, at) in enumerate(self._squares)}
        # all but those of which only closed tours are counted
        self._counted = [
            name for name, of in self._boards.items() if (of.files, of.ranks) not in recipe.closed
        ]
        boards = self._boards
        self._totals = {n: known for n in self._counted if (known := find_known_total(boards[n]))}
        self._cycles = {
            n: known for n, board in boards.items() if (known := find_known_closed(board))
        }

    def _prove(self, text: str, names: list[str], counts: Callable[[str], Counts]) -> None:
        squares = sum(self._boards[name].squares for name in names)
        with self._listed.begin_claim(text, squares) as check:
            for name in names:
                at = self._row_of[name, 0] + np.arange(self._boards[name].squares)
                for column, expected in counts(name).items():
                    self._rows.require_column(check, column, np.broadcast_to(expected, len(at)), at)

    def prove_rows(self) -> None:
        rows, squares = self._rows, self._squares
        text = f"there is one row for every square of {len(self._boards)} boards, in order"
        with self._listed.begin_claim(text) as check:
            check.require_equal("rows", len(rows), len(squares))
            told = [
                (str(board), board.files, board.ranks, board.name_square(at))
                for board, at in squares
            ]
            for name, *expected in zip(("board", "files", "ranks", "start"), *told, strict=True):
                rows.require_column(check, name, expected)
            nulls = [(board.files, board.ranks) in self._closed for board, _ in squares]
            rows.require_column(
                check, "a null in tours:", nulls, found=rows.column("tours").is_null()
            )

    def prove_symmetry(self) -> None:
        rows, row_of, squares = self._rows, self._row_of, self._squares
        text = (
            "mirrored squares have equally many tours, also on the board turned sideways; all "
            "squares of a board have equally many closed tours, which visit them all"
        )
        with self._listed.begin_claim(text) as check:
            lying = [row_of.get(_turn_sideways(*square), row) for row, square in enumerate(squares)]
            least = [row_of[str(board), min(board.find_images(at))] for board, at in squares]
            first = [row_of[str(board), 0] for board, _ in squares]
            for column, others in (("tours", (least, lying)), ("closed", (first, lying))):
                for other in others:
                    rows.require_column(check, column, rows.column(column).take(pa.array(other)))

    def compare_with_lists(self, earlier: Seen) -> dict[str, str]:
        """Prove the boards with a table of all tours; returns how, if that table is proved."""
        listing = {
            n: earlier[table] for n in self._boards if (table := f"{TOURS_PREFIX}{n}") in earlier
        }
        if listing:
            text = "the tours and closed tours are as many as in the board's own table"
            text = f"on {', '.join(listing)}: {text}"
            self._prove(text, [*listing], lambda name: listing[name].result)
        return {
            name: f"every square or its image was compared with {TOURS_PREFIX}{name}, "
            "which is proved"
            for name, table in listing.items()
            if table.shows(least=Grade.PROVED)
        }

    def prove_totals(self) -> None:
        totals, closed = self._totals, self._cycles
        text = (
            f"the totals of {len(totals)} boards match published totals ({_format_sources(totals)})"
        )
        squares = sum(self._boards[name].squares for name in totals)
        with self._listed.begin_claim(text, squares) as check:
            for name, (published, _) in totals.items():
                tours = self._read_board("tours", name)
                check.require_equal(f"tours of {name}:", sum(tours), published)
        text = f"the closed tours of {len(closed)} boards match published totals"
        text = f"{text} ({_format_sources(closed)})"
        self._prove(text, [*closed], lambda name: {"closed": closed[name][0]})

    def recount_boards(self, listing: list[str]) -> dict[str, str]:
        """Count the tours of boards once more, by square; returns how, board by board.

        Those of boards with a proved table were counted as listed; of a board and the same on its
        side, proved to have the same counts, one is counted.
        """
        boards, counted = self._boards, self._counted
        again = [
            board
            for name, board in boards.items()
            if name in counted
            and name not in listing
            and (board.files <= board.ranks or _turn_sideways(board)[0] not in counted)
        ]
        walked = [str(board) for board in again if board.squares <= MAX_WALKED_SQUARES]
        text = f"on {len(walked)} boards that no table lists: {COUNTED_AGAIN}"
        self._prove(text, walked, lambda name: recount_tours(boards[name]))
        how = dict.fromkeys(walked, "every square or its image was counted again, path by path")
        more = [board for board in again if board.squares > MAX_WALKED_SQUARES]
        for by_files, way in ((False, "rank after rank"), (True, "file after file")):
            narrow = [board for board in more if (board.files > board.ranks) == by_files]
            swept = [
                str(board) for board in narrow if min(board.files, board.ranks) <= MAX_SWEPT_SIDE
            ]
            of_both = [name for name in counted if name == SWEPT_BOTH_WAYS]
            text = f"on {', '.join([*swept, *of_both])}: {SWEPT_AGAIN}, {way}"
            self._prove(text, [*swept, *of_both], partial(_recount_by_sweep, boards, by_files))
            for name in swept:
                how[name] = (
                    "every square or its image was counted again, by a sweep over the whole board"
                )
        return how

    def check_unproved(self) -> None:
        rows = self._rows
        alone = [
            name
            for name, board in self._boards.items()
            if board.squares > MAX_WALKED_SQUARES
            and (name not in self._counted or min(board.files, board.ranks) > MAX_SWEPT_SIDE)
        ]
        if alone:
            text = "counted only once: no more tours are closed than there are"
            with self._listed.begin_claim(f"on {', '.join(alone)}, {text}") as check:
                tours = rows.read_numbers("tours", null=np.iinfo(np.int64).max)
                closed_ones = rows.read_numbers("closed")
                rows.require_none(
                    check,
                    closed_ones > tours,
                    lambda row: (f"{closed_ones[row]} closed tours", f"at most {tours[row]}"),
                )

    def make_verdicts(
        self, proved: Mapping[str, str], again: Mapping[str, str]
    ) -> Iterable[Verdict]:
        """Return the strongest verdict that holds for each board."""
        for name, board in self._boards.items():
            # the rows of both were seen to be the same
            images = [name, _turn_sideways(board)[0]]
            for grade, ways in ((Grade.PROVED, proved), (Grade.RECOUNTED, again)):
                if how := [ways[of] for of in images if of in ways]:
                    yield self._listed.make_verdict(grade, how[0], name)
                    break
            else:
                yield self._make_total_verdict(name)

    def _make_total_verdict(self, name: str) -> Verdict:
        """Return the verdict on a board whose squares were counted once."""
        known = {"closed tours": self._cycles.get(name)}
        if name in self._counted:
            known = {"tours": self._totals.get(name), **known}
        parts = [
            f"{kind} are as many as published ({of[1]})" if of else f"{kind} were only counted once"
            for kind, of in known.items()
        ]
        if known.get("tours"):
            parts.append("the number of each square was only counted once")
        grade = Grade.PUBLISHED if all(known.values()) else Grade.INTACT
        return self._listed.make_verdict(grade, "; ".join(parts), name)

    def list_counts(self) -> dict[str, dict[str, list[int]]]:
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
        found: list[int] = numbers[: self._boards[name].squares].tolist()
        return found


def _recount_by_sweep(boards: Mapping[str, KnightBoard], by_files: bool, name: str) -> Counts:
    return recount_by_sweep(boards[name], by_files=by_files)


def _turn_sideways(board: KnightBoard, square: int = 0) -> tuple[str, int]:
    """The board on its side, and where a square of it comes to lie."""
    rank, file = divmod(square, board.files)
    return f"{board.ranks}x{board.files}", rank + board.ranks * file


def _format_sources(known: Mapping[str, tuple[int, str]]) -> str:
    return "; ".join(sorted({source for _, source in known.values()}))
