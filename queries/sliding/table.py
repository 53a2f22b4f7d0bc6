"""The Python interface to a sliding board's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queries.typed_tables import GoalTable

if TYPE_CHECKING:
    from queries.answer_frames import Frame


class BoardTable(GoalTable):
    """The tables of a sliding board; the default goal is the blank in the last corner."""

    def annotate(self, frame: Frame, column: str = "state", *, prefix: str = "") -> Frame:
        """Add goal, distance and best_moves to a polars frame, for a column of states."""
        return self._annotate(frame, column, prefix, self._make_query())
