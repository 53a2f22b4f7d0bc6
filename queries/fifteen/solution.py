"""The state of a search for a shortest solution, which different searches continue."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class SearchPaused(Exception):
    """The end of a search that its caller stopped before it had found a solution."""


class PlainSearchOver(Exception):
    """The end of a search in plain Python, which would take too long."""


class SearchState:
    """The state of a search: no solution is shorter than `limit`; it took so many positions.

    `pause` is called now and then, and may raise SearchPaused.
    """

    __slots__ = ("limit", "pause", "positions")

    def __init__(self, limit: int, pause: Callable[[], None]) -> None:
        self.limit = limit
        self.pause = pause
        self.positions = 0
