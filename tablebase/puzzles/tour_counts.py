"""Which boards' tours are counted, as a recipe, and what counting them takes."""

from __future__ import annotations

from tablebase.errors import BadRequest
from tablebase.puzzle import Recipe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Sides = tuple[int, int]

WITHIN = {False: (7, 70), True: (8, 80)}
"""The longest short side and the most squares of a board whose tours can be counted, and of one
whose closed tours can: more states, or more tours, than there is room for.
"""
COSTS = {
    False: ((1, 1 << 28), (1, 1 << 28), (1, 1 << 28), (5, 1 << 29), (180, 3 << 30)),
    True: ((1, 1 << 28), (1, 1 << 28), (1, 1 << 28), (1, 1 << 28), (10, 1 << 29), (900, 6 << 30)),
}
"""Seconds and bytes for a board of three by three, of four by four, and so on."""


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


class Cost:
    """What counting the tours of a board takes: about so many seconds, and bytes of memory."""

    __slots__ = ("memory", "seconds")

    def __init__(self, seconds: float, memory: int) -> None:
        self.seconds = seconds
        self.memory = memory

    def __str__(self) -> str:
        time = f"{self.seconds / 60:.0f} minutes" if self.seconds > 90 else "a minute"
        return f"about {time} and {self.memory / 1e9:.1f} GB of memory"


def counting(board: Sides, *, closed: bool) -> Cost:
    """What it takes to count a board's tours; BadRequest where that cannot be done."""
    short, squares = min(board), board[0] * board[1]
    most_short, most_squares = WITHIN[closed]
    name = f"{board[0]}x{board[1]}"
    if short < 3:
        raise BadRequest(f"{name} has no tours to count", "It needs three files and ranks")
    if short > most_short or squares > most_squares:
        hint = f"A board may have {most_squares} squares, its shorter side {most_short}"
        raise BadRequest(f"{name} has too many {'closed ' * closed}tours to count", hint)
    seconds, memory = COSTS[closed][short - 3]
    return Cost(seconds * squares / short**2, memory)
