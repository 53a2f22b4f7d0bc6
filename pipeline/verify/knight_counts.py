"""The proof of the table that counts tours by board and start square.

Every square of a board is counted again: path by path, or by the walker of `tour_walker` where
there are too many paths to follow. A board with a proved list of its tours is compared with the
list. Each board gets one verdict on the counts of all its squares. A board that is too large to be
counted again is *intact*, except 8x8: its totals have a published source, and its verdict is
*published*. A published total says nothing about the count of a single square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from puzzle_tablebase.frontier.compiled import find_lowest
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.tasks import run_in_threads
from puzzle_tablebase.pipeline.verify.claims import (
    Proof,
    PublishedTable,
    Seen,
    TableVerdict,
    Verdict,
)
from puzzle_tablebase.pipeline.verify.files import read_rows
from puzzle_tablebase.pipeline.verify.tour_walker import HalfBoard, walk
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import TOURS_PREFIX, TourCounts

Counts = Mapping[str, ArrayLike]
"""Columns and their values, one for each square of a board or the same for all."""

PUBLISHED_BOARD = "8x8"
PUBLISHED_TOURS = 19_591_828_170_979_904
"""Directed tours of 8x8 (OEIS A165134)."""
PUBLISHED_CLOSED = 2 * 13_267_364_410_532
"""Directed closed tours of 8x8 from each square (OEIS A001230 counts both directions as one)."""

HOW_LISTED = "every square was compared with {}, which is proved"
HOW_WALKED = "every square was counted again, path by path"
HOW_SWEPT = "every square or its image was counted again, by a second sweep, start by start"
HOW_SWEPT_CLOSED = "closed tours were counted again, by a second sweep"
HOW_PUBLISHED = (
    "tours are as many as published (OEIS A165134); closed tours are as many as published "
    "(OEIS A001230); the number of each square was only counted once"
)
HOW_COUNTED = "tours and closed tours were only counted once"
HOW_CLOSED = "closed tours were only counted once"
COUNTED_AGAIN = "counts match an independent recount, path by path"
SWEPT_AGAIN = "counts match a second sweep, start by start"


def recount_tours(board: KnightBoard) -> dict[str, Array]:
    """Count the tours and the closed tours from each square."""
    near = list_jumps(board)
    counts = [*run_in_threads(count_tours_from, [(near, at) for at in range(board.squares)])]
    return dict(zip(("tours", "closed"), np.array(counts).T, strict=True))


def list_jumps(board: KnightBoard) -> npt.NDArray[np.int64]:
    """Return, for each square, the squares that a knight can jump to, as bits."""
    squares = np.arange(board.squares)
    ranks, files = np.divmod(squares, board.files)
    far = np.subtract.outer(files, files) * np.subtract.outer(ranks, ranks)
    near: npt.NDArray[np.int64] = (abs(far) == 2) @ (1 << squares)
    return near


def count_tours_from(near: npt.NDArray[np.int64], start: int) -> tuple[int, int]:
    """Count the tours and the closed tours from a square by following every path.

    Row s of `near` has a bit for each square that a knight can jump to from s.
    """
    free = (1 << len(near)) - 1 - (1 << start)
    lonely = 0
    for square, beside in enumerate((near & free).tolist()):
        lonely |= (beside & (beside - 1) == 0) << square
    return _count_onward(near, start, start, free, lonely)


@compiled
def _count_onward(
    near: npt.NDArray[np.int64], start: int, here: int, free: int, lonely: int
) -> tuple[int, int]:
    """Count the ways to continue a path from its last square over all free squares.

    `lonely` has the free squares with at most one free neighbour. A path is abandoned if a free
    square that is not its next one has no free neighbour, or if two such squares have only one:
    a square like that can only be the tour's end.
    """
    if not free:
        return 1, near[here] >> start & 1
    tours = closed = 0
    ways = choices = near[here] & free
    while choices:
        square = find_lowest(choices)
        choices &= choices - 1
        remaining = free ^ (1 << square)
        # only neighbours of the square that the path leaves have lost a free neighbour
        next_lonely, has_stranded, losers = lonely & remaining, False, ways & remaining
        while losers:
            beside = near[find_lowest(losers)] & remaining
            if not beside & (beside - 1):
                next_lonely |= losers & -losers
            has_stranded |= not beside
            losers &= losers - 1
        ends = next_lonely & ~near[square]
        if not remaining or (not has_stranded and not ends & (ends - 1)):
            new_tours, new_closed = _count_onward(near, start, square, remaining, next_lonely)
            tours, closed = tours + new_tours, closed + new_closed
    return tours, closed


def recount_by_sweep(board: KnightBoard, *, is_open: bool = True) -> Counts:
    """Count the closed tours from each square and, if `is_open`, all tours, by the walker."""
    upright = KnightBoard(*sorted((board.files, board.ranks)))
    # a closed tour has two directions
    closed = 2 * walk(HalfBoard(upright, is_open=False))[None]
    if not is_open:
        return {"closed": closed}
    half = HalfBoard(upright, is_open=True)
    totals, squares = walk(half), [*range(board.squares)]
    if board.files > board.ranks:
        squares = [at // board.files + board.ranks * (at % board.files) for at in squares]
    tours = [totals[half.find_turn(at)] if half.ends[at] else 0 for at in squares]
    return {"tours": tours, "closed": closed}


class CountLimits(NamedTuple):
    """The sizes of boards whose tours are counted a second time."""

    walked_squares: int = 36
    """The number of squares of the largest boards whose tours are recounted path by path."""
    swept_side: int = 5
    """The longest short side of larger boards that are recounted by a sweep, whatever the other."""
    swept_squares: int = 49
    """The number of squares of the largest other boards whose tours are swept again."""
    closed_squares: int = 64
    """The number of squares of the largest boards of which closed tours alone are swept again."""

    def can_sweep(self, board: KnightBoard, *, is_open: bool) -> bool:
        """Return whether a board is recounted by a sweep."""
        largest = self.swept_squares if is_open else self.closed_squares
        return min(board.files, board.ranks) <= self.swept_side or board.squares <= largest


LIMITS = CountLimits()
COLUMNS = ("board", "files", "ranks", "start", "tours", "closed")


def prove_counts(published: PublishedTable, earlier: Seen, limits: CountLimits = LIMITS) -> Proof:
    """Prove the table of counts, given the proofs of the tables that list tours."""
    proof = _Proof(published)
    proof.prove_rows()
    verdicts = proof.compare_with_lists(earlier)
    verdicts |= proof.recount_boards([*verdicts], limits)
    if PUBLISHED_BOARD not in verdicts:
        verdicts |= proof.compare_totals()
    published.note_missing_proofs(COLUMNS)
    return Proof(tuple(proof.list_verdicts(verdicts)))


class _Proof:
    """The proof of the table of counts, with its rows by board."""

    def __init__(self, published: PublishedTable) -> None:
        recipe = published.definition.recipe
        assert isinstance(recipe, TourCounts)
        self._published, self._rows = published, read_rows(published)
        self._boards = {f"{c}x{r}": KnightBoard(c, r) for c, r in recipe.boards}
        # the boards of which only closed tours are counted
        self._closed = {f"{c}x{r}" for c, r in recipe.closed}
        self._squares = [
            (name, at) for name, board in self._boards.items() for at in range(board.squares)
        ]

    def _prove(self, text: str, names: list[str], counts: Callable[[str], Counts]) -> None:
        """Prove that some boards' rows have the counts that a function returns for a board."""
        squares = sum(self._boards[name].squares for name in names)
        with self._published.begin_claim(text, squares) as check:
            for name in names:
                at = self._find_rows(name)
                for column, expected in counts(name).items():
                    self._rows.require_column(check, column, np.broadcast_to(expected, len(at)), at)

    def _find_rows(self, name: str) -> npt.NDArray[np.int64]:
        """Return the numbers of a board's rows."""
        return self._squares.index((name, 0)) + np.arange(self._boards[name].squares)

    def prove_rows(self) -> None:
        """Prove that every square has one row, with a null only where tours are not counted."""
        rows, boards = self._rows, self._boards
        text = f"there is one row for every square of {len(boards)} boards, in order"
        with self._published.begin_claim(text) as check:
            check.require_equal("rows", len(rows), len(self._squares))
            descriptions = [
                (name, boards[name].files, boards[name].ranks, boards[name].name_square(at))
                for name, at in self._squares
            ]
            for name, *expected in zip(COLUMNS[:4], *descriptions, strict=True):
                rows.require_column(check, name, expected)
            nulls = [name in self._closed for name, _ in self._squares]
            rows.require_column(
                check, "a null in tours:", nulls, found=rows.column("tours").is_null()
            )

    def compare_with_lists(self, earlier: Seen) -> dict[str, TableVerdict]:
        """Prove the boards that have a table of all tours.

        Return the verdict for each board whose table is itself proved.
        """
        # a table with one tour for each pair of squares counts none
        lists = {
            name: table
            for name in self._boards
            if (table := earlier.get(f"{TOURS_PREFIX}{name}")) and table.result
        }

        def list_counts(name: str) -> Counts:
            counts: Counts = lists[name].result
            return {"closed": counts["closed"]} if name in self._closed else counts

        if lists:
            text = "the tours and closed tours are as many as in the board's own table"
            self._prove(f"on {', '.join(lists)}: {text}", [*lists], list_counts)
        return {
            name: self._judge(Verdict.PROVED, HOW_LISTED.format(f"{TOURS_PREFIX}{name}"), name)
            for name, table in lists.items()
            if table.is_proved
        }

    def recount_boards(self, proved: list[str], limits: CountLimits) -> dict[str, TableVerdict]:
        """Recount the tours of boards by square; return their verdicts.

        Boards in `proved` are skipped, because their proved tables were counted.
        """
        boards, closed = self._boards, self._closed
        left = [name for name in boards if name not in proved]
        walked = [
            name
            for name in left
            if name not in closed and boards[name].squares <= limits.walked_squares
        ]
        text = f"on {len(walked)} boards that no table lists: {COUNTED_AGAIN}"
        self._prove(text, walked, lambda name: recount_tours(boards[name]))
        swept = [
            name
            for name in left
            if name not in walked and limits.can_sweep(boards[name], is_open=name not in closed)
        ]
        if swept:
            self._prove(
                f"on {', '.join(swept)}: {SWEPT_AGAIN}",
                swept,
                lambda name: recount_by_sweep(boards[name], is_open=name not in closed),
            )
        reasons = dict.fromkeys(walked, HOW_WALKED) | {
            name: HOW_SWEPT_CLOSED if name in closed else HOW_SWEPT for name in swept
        }
        return {name: self._judge(Verdict.RECOUNTED, how, name) for name, how in reasons.items()}

    def compare_totals(self) -> dict[str, TableVerdict]:
        """Compare the totals of 8x8 with published ones if all its tours are counted."""
        name = PUBLISHED_BOARD
        if name not in self._boards or name in self._closed:
            return {}
        text = f"the totals of {name} match published totals (OEIS A165134; OEIS A001230)"
        at = self._find_rows(name)
        with self._published.begin_claim(text, len(at)) as check:
            total = int(self._rows.read_numbers("tours")[at].sum())
            check.require_equal(f"tours of {name}:", total, PUBLISHED_TOURS)
            closed = np.full(len(at), PUBLISHED_CLOSED)
            self._rows.require_column(check, "closed", closed, at)
        return {name: self._judge(Verdict.PUBLISHED, HOW_PUBLISHED, name)}

    def list_verdicts(self, verdicts: Mapping[str, TableVerdict]) -> Iterable[TableVerdict]:
        """Return a verdict for each board: the given one, or *intact*."""
        for name in self._boards:
            how = HOW_CLOSED if name in self._closed else HOW_COUNTED
            yield verdicts.get(name) or self._judge(Verdict.INTACT, how, name)

    def _judge(self, verdict: Verdict, how: str, name: str) -> TableVerdict:
        return self._published.make_verdict(verdict, how, name)
