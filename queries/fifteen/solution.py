"""The state of a search for a shortest solution, and the searches' common parts."""

from __future__ import annotations

from tablebase.errors import TablebaseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class TimeOver(Exception):  # noqa: N818  it is no error: the caller answers with what is known
    """The end of a search by its time limit."""


class SearchState:
    """The state of a search: no solution is shorter than `limit`, after so many positions."""

    __slots__ = ("limit", "pause", "positions")

    def __init__(self, limit: int, pause: Callable[[], None]) -> None:
        self.limit = limit
        self.positions = 0
        self.pause = pause
        """A function that is called now and then, and may end the search by raising an error."""
