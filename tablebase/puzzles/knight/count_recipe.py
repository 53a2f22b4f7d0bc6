"""Which boards' tours are counted, as a recipe, and what counting them takes."""

from __future__ import annotations

from tablebase.errors import BadRequest
from tablebase.puzzle import Recipe
from tablebase.puzzles.knight.board import KnightBoard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Sides = tuple[int, int]

MAX_LAYER_STATES = {
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
BYTES_PER_STATE = 40
"""What a state of the largest layer was seen to take, nearly."""
DENSE_STATES, DENSE_BYTES = 20_000_000, 20
"""So many of the states take so many more bytes."""
MIN_COST = 400_000_000
"""Bytes that the smallest board takes."""


MAX_RANKED_SIDE = 7
"""The shorter side of the largest boards whose open tours are numbered."""


class TourCounts(Recipe):
    """The number of tours from each square of each board; of some boards only of closed ones."""

    __slots__ = ("boards", "closed")
    search = "tour counts"

    def __init__(self, boards: Iterable[Sides], closed: Iterable[Sides] = ()) -> None:
        whole = {*boards}
        self.closed = frozenset(closed) - whole
        self.boards = tuple(sorted(whole | self.closed))

    def list_parameters(self) -> dict[str, object]:
        return {
            "search": self.search,
            "boards": [f"{files}x{ranks}" for files, ranks in self.boards],
            "closed": [f"{files}x{ranks}" for files, ranks in sorted(self.closed)],
        }

    def merge(self, more: TourCounts) -> TourCounts:
        """The boards of both."""
        whole = {*self.boards} - self.closed, {*more.boards} - more.closed
        return TourCounts(whole[0] | whole[1], self.closed | more.closed)


def estimate_rank_cost(board: Sides, *, closed: bool) -> int:
    """The bytes of memory that numbering a board's tours takes: no state stands for its image."""
    if not closed and min(board) > MAX_RANKED_SIDE:
        name, hint = (
            f"{board[0]}x{board[1]}",
            f"The largest board is {MAX_RANKED_SIDE}x{MAX_RANKED_SIDE + 1}",
        )
        raise BadRequest(f"{name} has too many open tours to number", hint)
    times = 2 if closed else 2.2  # all packed layers stay at hand, and open tours have more
    return MIN_COST + int(times * (estimate_count_cost(board, closed=closed) - MIN_COST))


def estimate_count_cost(board: Sides, *, closed: bool) -> int:
    """The bytes of memory that counting a board's tours takes; BadRequest where it is too large."""
    (short, long), name = sorted(board), f"{board[0]}x{board[1]}"
    if short < 3:
        raise BadRequest(f"{name} has no tours to count", "It needs three files and ranks")
    longest, states = MAX_LAYER_STATES[closed].get(short, (0, 0))
    if long > longest:
        largest_sides = [(side, most) for side, (most, _) in MAX_LAYER_STATES[closed].items()]
        # there are more files
        sides = ", ".join(f"{max(side_pair)}x{min(side_pair)}" for side_pair in largest_sides)
        tours, hint = f"{'closed ' * closed}tours", f"The largest boards are {sides}"
        has_closed = KnightBoard(*board).has_closed_tours()
        if not closed and has_closed and long <= MAX_LAYER_STATES[True].get(short, (0,))[0]:
            hint = "Closed tours alone can be counted: add --closed"
        raise BadRequest(f"{name} has too many {tours} to count", hint)
    return MIN_COST + BYTES_PER_STATE * states + DENSE_BYTES * min(states, DENSE_STATES)
