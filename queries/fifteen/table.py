"""The Python interface to the 15-puzzle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from queries.fifteen.reader import FifteenQuery, FifteenReader
from queries.fifteen.solution_answer import FifteenSolution
from queries.typed_tables import Default, PuzzleTable, get_or

if TYPE_CHECKING:
    import polars as pl

    from queries.answer_frames import Frame, Keys


class FifteenTable(PuzzleTable):
    """The tables of the 15-puzzle's patterns, and the searches that they lead."""

    _reader: FifteenReader

    def solve(
        self, state: str, goal: str | None = None, *, time_limit: float | None = None
    ) -> FifteenSolution:
        """Return a shortest solution; the default goal has the blank in the last corner.

        After `time_limit` seconds it raises Undecided, which has what is known.
        """
        return self._make_query(goal, time_limit).solve(state)

    def bound(self, state: str, goal: str | None = None) -> int:
        """Return a number of moves that no solution is shorter than, from the tables alone."""
        return self._make_query(goal).compute_bound(state)

    def get(
        self, state: str, default: Default | None = None, *, goal: str | None = None
    ) -> FifteenSolution | Default | None:
        """Return the answer of `solve`, or the default where it raises; a bad goal raises."""
        self._make_query(goal)
        return get_or(default, lambda: self.solve(state, goal))

    @overload
    def annotate(
        self,
        frame: Keys,
        column: str = "state",
        *,
        prefix: str = "",
        goal: str | None = None,
        time_limit: float | None = None,
    ) -> pl.DataFrame: ...
    @overload
    def annotate(
        self,
        frame: Frame,
        column: str = "state",
        *,
        prefix: str = "",
        goal: str | None = None,
        time_limit: float | None = None,
    ) -> Frame: ...
    def annotate(
        self,
        frame: Any,
        column: str = "state",
        *,
        prefix: str = "",
        goal: str | None = None,
        time_limit: float | None = None,
    ) -> Any:
        """Add goal, distance, bound, positions and solution to a frame, for a column of states.

        A state gets nulls if it cannot reach the goal, or if its search takes longer than
        `time_limit` seconds.
        """
        return self._annotate(frame, column, prefix, self._make_query(goal, time_limit))

    def _make_query(self, goal: str | None = None, time_limit: float | None = None) -> FifteenQuery:
        return FifteenQuery(self._reader, goal, time_limit=time_limit)
