"""The Python interface to a sliding board's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from queries.typed_tables import GoalTable

if TYPE_CHECKING:
    import polars as pl

    from queries.answer_frames import Frame, Keys


class BoardTable(GoalTable):
    """The tables of a sliding board; the default goal is the blank in the last corner."""

    @overload
    def annotate(
        self, frame: Keys, column: str = "state", *, prefix: str = "", goal: str | None = None
    ) -> pl.DataFrame: ...
    @overload
    def annotate(
        self, frame: Frame, column: str = "state", *, prefix: str = "", goal: str | None = None
    ) -> Frame: ...
    def annotate(
        self, frame: Any, column: str = "state", *, prefix: str = "", goal: str | None = None
    ) -> Any:
        """Add goal, distance and best_moves to a frame, for a column of states."""
        return self._annotate(frame, column, prefix, self._make_query(goal))
