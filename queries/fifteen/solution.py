"""The state of a search, which different searches continue, and the solution that it finds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def search_on() -> None:
    """Do nothing; the pause of a search without a limit."""


class SearchPaused(Exception):
    """The end of a search that its caller stopped before it had found a solution."""


class PlainSearchOver(Exception):
    """The end of a search in plain Python, which would take too long."""


class SearchState:
    """The state of a search: no solution is shorter than `limit`; it took so many positions.

    `bound` is the limit that the search began with. `pause` is called now and then, and may raise
    SearchPaused.
    """

    __slots__ = ("bound", "limit", "pause", "positions")

    def __init__(self, bound: int, pause: Callable[[], None] = search_on) -> None:
        self.bound = self.limit = bound
        self.pause = pause
        self.positions = 0

    def raise_bound(self, bound: int) -> None:
        """Take note that no solution is shorter than this."""
        self.bound = max(self.bound, bound)
        self.limit = max(self.limit, bound)


class FoundSolution:
    """The letters and states of a solution, with the bound and the positions of its search."""

    __slots__ = ("bound", "is_shortest", "letters", "positions", "states")

    def __init__(
        self, states: list[str], letters: str, bound: int, positions: int, *, is_shortest: bool
    ) -> None:
        self.states = states
        self.letters = letters
        self.bound = bound
        self.positions = positions
        self.is_shortest = is_shortest
