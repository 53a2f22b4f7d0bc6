"""The Python interface to a sliding board's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queries.answer_types import (
    BoardAnswer,
)
from queries.sliding.reader import BoardReader
from queries.typed_tables import Default, PathTable, get_or

if TYPE_CHECKING:
    from queries.answer_frames import Frame


class BoardTable(PathTable):
    """The tables of a sliding board."""

    _reader: BoardReader

    def probe(self, state: str, goal: str | None = None) -> BoardAnswer:
        """Return the answer for a state and a goal; the default is the blank in the last corner."""
        return BoardAnswer(*self._reader.answer_briefly(state, goal))

    def get(
        self, state: str, default: Default | None = None, *, goal: str | None = None
    ) -> BoardAnswer | Default | None:
        """Return the answer of `probe`, or the default where it raises; a bad goal raises."""
        self._normalize_goal(goal)
        return get_or(default, lambda: self.probe(state, goal))

    def annotate(self, frame: Frame, column: str = "state", *, prefix: str = "") -> Frame:
        """Add goal, distance and best_moves to a polars frame, for a column of states."""
        return self._annotate(frame, column, prefix, {})
