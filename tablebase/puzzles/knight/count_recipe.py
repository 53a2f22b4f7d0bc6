"""Which boards' tours are counted, as a recipe, and what counting them takes."""

from __future__ import annotations

from tablebase.errors import BadRequest
from tablebase.puzzle import Recipe
from tablebase.puzzles.knight.board import Board

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Sides = tuple[int, int]

MEASURED = {
    False: {
        3: (26, 364), 4: (26, 5_262), 5: (14, 228_936), 6: (12, 6_774_595), 7: (8, 14_736_773),
        8: (8, 335_484_807),
    },
    True: {
        3: (26, 65), 4: (26, 533), 5: (18, 39_100), 6: (14, 1_017_017), 7: (10, 12_345_976),
        8: (8, 16_759_503),
    },
}  # fmt: skip
"""Of all tours, and of closed ones, by a board's shorter side: the longest other side for which
they are counted, and the most states that a layer of such a board was seen to have.
"""
BYTES = 40
"""What a state of the largest layer was seen to take, nearly."""
FIRST, MORE = 20_000_000, 20
"""So many of the states take so many more bytes."""
LEAST = 400_000_000
"""Bytes that the smallest board takes."""


WIDEST = 7
"""The shorter side of the largest boards whose open tours are numbered."""


class TourCounts(Recipe):
    """The number of tours from each square of each board; of some boards only of closed ones."""

    __slots__ = ("boards", "closed")
    search = "tour counts"

    def __init__(self, boards: Iterable[Sides], closed: Iterable[Sides] = ()) -> None:
        whole = {*boards}
        self.closed = frozenset(closed) - whole
        self.boards = tuple(sorted(whole | self.closed))

    def parameters(self) -> dict[str, object]:
        return {
            "search": self.search,
            "boards": [f"{files}x{ranks}" for files, ranks in self.boards],
            "closed": [f"{files}x{ranks}" for files, ranks in sorted(self.closed)],
        }

    def together(self, more: TourCounts) -> TourCounts:
        """The boards of both."""
        whole = {*self.boards} - self.closed, {*more.boards} - more.closed
        return TourCounts(whole[0] | whole[1], self.closed | more.closed)


def numbering(board: Sides, *, closed: bool) -> int:
    """The bytes of memory that numbering a board's tours takes: no state stands for its image."""
    if not closed and min(board) > WIDEST:
        name, hint = f"{board[0]}x{board[1]}", f"The largest board is {WIDEST}x{WIDEST + 1}"
        raise BadRequest(f"{name} has too many open tours to number", hint)
    times = 2 if closed else 2.2  # all packed layers stay at hand, and open tours have more
    return LEAST + int(times * (counting(board, closed=closed) - LEAST))


def counting(board: Sides, *, closed: bool) -> int:
    """The bytes of memory that counting a board's tours takes; BadRequest where it is too large."""
    (short, long), name = sorted(board), f"{board[0]}x{board[1]}"
    if short < 3:
        raise BadRequest(f"{name} has no tours to count", "It needs three files and ranks")
    longest, states = MEASURED[closed].get(short, (0, 0))
    if long > longest:
        largest = [(side, most) for side, (most, _) in MEASURED[closed].items()]
        sides = ", ".join(f"{max(of)}x{min(of)}" for of in largest)  # there are more files
        tours, hint = f"{'closed ' * closed}tours", f"The largest boards are {sides}"
        has_closed = Board(*board).has_closed_tours()
        if not closed and has_closed and long <= MEASURED[True].get(short, (0,))[0]:
            hint = "Closed tours alone can be counted: add --closed"
        raise BadRequest(f"{name} has too many {tours} to count", hint)
    return LEAST + BYTES * states + MORE * min(states, FIRST)
