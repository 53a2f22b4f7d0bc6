"""The proof of the table that counts tours by board and start square, and second counts of tours.

Its counts are compared with the tables that list tours, with second counts and with published
totals. Each board gets one verdict on the counts of all its squares: a total that agrees shows
nothing about the count of a single square.

Tours are counted again path by path, or by the walker of `tour_walker`, start by start, where there
are too many paths to follow. Published numbers have a source each, and none is ever put into a
table: a second count proves that a list is complete, and these confirm it. A board without a second
count has nothing but these, and then its verdict is *published*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numpy.typing import ArrayLike

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

Known = tuple[int, str] | None
"""A published number and its source, or None."""
Counts = Mapping[str, ArrayLike]
"""Columns and their values, one for each square of a board or the same for all."""

SEQUENCES = {
    3: ("A118067", 1, (0, 0, 0, 16, 0, 0, 104, 792, 1120, 6096, 21344, 114496)),
    4: ("A079137", 2, (0, 0, 8, 0, 82, 744, 6378, 31088, 189688, 1213112)),
    5: ("A083386", 2, (0, 0, 0, 82, 864, 18784, 622868, 18061054, 264895640, 7886117822)),
}
"""Tours of k x n boards, n = 1, 2, ..., by k: OEIS sequence, factor to directed tours, terms."""

SQUARES = (1, 0, 0, 0, 1728, 6637920, 165575218320, 19591828170979904)
"""Directed tours of n x n boards, n = 1, 2, ... (OEIS A165134)."""

TOTALS = {
    (short, long): (directed * count, f"OEIS {name}")
    for short, (name, directed, terms) in SEQUENCES.items()
    for long, count in enumerate(terms, start=1)
} | {(side, side): (count, "OEIS A165134") for side, count in enumerate(SQUARES, start=1)}
"""Directed tours by short and long side, each with its source."""

CLOSED = {
    (6, 6): (9862, "OEIS A001230"),
    (8, 8): (13267364410532, "OEIS A001230"),
    (5, 6): (8, "OEIS A175881"),
    (6, 7): (1067638, "OEIS A175881"),
    (6, 8): (55488142, "OEIS A175881"),
    (6, 9): (3374967940, "OEIS A175881"),
    (6, 10): (239187240144, "OEIS A175881"),
    (5, 8): (44202, "OEIS A383661"),
    (5, 10): (13311268, "OEIS A383661"),
    (3, 4): (0, "OEIS A070030"),
    (3, 6): (0, "OEIS A070030"),
    (3, 8): (0, "OEIS A070030"),
    (3, 10): (16, "OEIS A070030"),
    (3, 12): (176, "OEIS A070030"),
}
"""Closed tours by short and long side, a tour and its reverse as one, each with its source."""

HOW_WALKED = "every square or its image was counted again, path by path"
HOW_SWEPT = "every square or its image was counted again, by a second sweep, start by start"
HOW_SWEPT_CLOSED = "closed tours were counted again, by a second sweep"
COUNTED_AGAIN = "counts match an independent recount, path by path"
SWEPT_AGAIN = "counts match a second sweep, start by start and without mirror images"


def find_known_total(board: KnightBoard) -> Known:
    """Return the known number of directed tours of a board, and its source."""
    short, long = sorted((board.files, board.ranks))
    # a board of one row has no jumps; on two rows a knight reaches only every second file
    none = (0, "none on one or two rows") if short <= 2 else None
    return TOTALS.get((short, long), none)


def find_known_closed(board: KnightBoard) -> Known:
    """Return the known number of directed closed tours from each square, and its source."""
    short, long = sorted((board.files, board.ranks))
    if board.squares % 2:
        return 0, "none on an odd number of squares"
    if short <= 2:
        return 0, "none on one or two rows"
    if short == 4:
        return 0, "none on four rows: A. Schwenk, Mathematics Magazine 64, 1991"
    count, source = CLOSED.get((short, long), (0, ""))
    # each closed tour has two directions, and starts at any square
    return (2 * count, source) if source else None


def recount_tours(board: KnightBoard) -> dict[str, Array]:
    """Count the tours and the closed tours from each square.

    Of squares that are mirror images of each other, only one is counted.
    """
    least = [min(board.find_images(square)) for square in range(board.squares)]
    squares, image_of = np.unique(least, return_inverse=True)
    near = list_jumps(board)
    counts = np.array(
        [*run_in_threads(count_tours_from, [(near, square) for square in squares.tolist()])]
    )
    return dict(zip(("tours", "closed"), counts[image_of].T, strict=True))


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
    ways = near[here] & free
    for square in range(len(near)):
        if not ways >> square & 1:
            continue
        remaining = free ^ (1 << square)
        # only neighbours of the square that the path leaves have lost a free neighbour
        next_lonely, has_stranded = lonely & remaining, False
        for other in range(len(near)):
            if ways & remaining & (1 << other):
                beside = near[other] & remaining
                if not beside & (beside - 1):
                    next_lonely |= 1 << other
                has_stranded |= not beside
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
        squares = [_turn_sideways(board, square)[1] for square in squares]
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
        # a table with one tour for each pair of squares counts none
        lists = {
            n: table
            for n in self._boards
            if (table := earlier.get(f"{TOURS_PREFIX}{n}")) and table.result
        }

        def list_counts(name: str) -> Counts:
            counts: Counts = lists[name].result
            return counts if name in self._counted else {"closed": counts["closed"]}

        if lists:
            text = "the tours and closed tours are as many as in the board's own table"
            self._prove(f"on {', '.join(lists)}: {text}", [*lists], list_counts)
        return {
            name: f"every square or its image was compared with {TOURS_PREFIX}{name}, "
            "which is proved"
            for name, table in lists.items()
            if table.is_proved
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
        candidates = {
            name: name in counted
            for name, board in boards.items()
            if name not in proved
            and (board.files <= board.ranks or _turn_sideways(board)[0] not in boards)
        }
        small = [
            name
            for name, is_open in candidates.items()
            if is_open and boards[name].squares <= limits.walked_squares
        ]
        text = f"on {len(small)} boards that no table lists: {COUNTED_AGAIN}"
        self._prove(text, small, lambda name: recount_tours(boards[name]))
        swept = [
            name
            for name, is_open in candidates.items()
            if name not in small and limits.can_sweep(boards[name], is_open=is_open)
        ]
        if swept:
            self._prove(
                f"on {', '.join(swept)}: {SWEPT_AGAIN}",
                swept,
                lambda name: recount_by_sweep(boards[name], is_open=candidates[name]),
            )
        return dict.fromkeys(small, HOW_WALKED) | {
            name: HOW_SWEPT if candidates[name] else HOW_SWEPT_CLOSED for name in swept
        }

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


def _turn_sideways(board: KnightBoard, square: int = 0) -> tuple[str, int]:
    """Return the name of a board turned sideways, and the new number of one of its squares."""
    rank, file = divmod(square, board.files)
    return f"{board.ranks}x{board.files}", rank + board.ranks * file


def _format_sources(known: Mapping[str, tuple[int, str]]) -> str:
    return "; ".join(sorted({source for _, source in known.values()}))
