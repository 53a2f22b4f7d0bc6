"""A sliding board's tables as a Python object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queries.answer_types import (
    BoardAnswer,
)
from queries.sliding.reader import BoardReader
from queries.typed_tables import Default, WalkedTable, get_or

if TYPE_CHECKING:
    from queries.answer_frames import Frame


class BoardTable(WalkedTable):
    """A sliding board."""

    _reader: BoardReader

    def probe(self, state: str, goal: str | None = None) -> BoardAnswer:
        """The answer for a state: to the blank in the last corner, or to a goal."""
        return BoardAnswer(*self._reader.answer_briefly(state, goal))

    def get(
        self, state: str, default: Default | None = None, *, goal: str | None = None
    ) -> BoardAnswer | Default | None:
        """`probe`, or the default where it raises; what is no goal raises here too."""
        self._normalize_goal(goal)
        return get_or(default, lambda: self.probe(state, goal))

    def annotate(self, frame: Frame, column: str = "state", *, prefix: str = "") -> Frame:
        """A polars frame with goal, distance and best_moves for a column of states."""
        return self._annotate(frame, column, prefix, {})
