"""The Python interface to the 15-puzzle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queries.answer_types import FifteenAnswer
from queries.fifteen.reader import FifteenReader
from queries.typed_tables import Default, PuzzleTable, get_or, make_answer

if TYPE_CHECKING:
    from queries.answer_frames import Frame
    from queries.query_options import OptionValues


class FifteenTable(PuzzleTable):
    """The tables of the 15-puzzle's patterns, and the searches that they lead."""

    _reader: FifteenReader

    def solve(
        self, state: str, goal: str | None = None, *, time_limit: float | None = None
    ) -> FifteenAnswer:
        """Return a shortest solution; the default goal has the blank in the last corner.

        After `time_limit` seconds it raises Undecided, which has what is known.
        """
        options = self._make_options(goal)
        if time_limit is not None:
            options["time_limit"] = str(time_limit)
        options = self._reader.normalize_options(options)
        return make_answer(FifteenAnswer, self._reader.probe(state, options))

    def bound(self, state: str, goal: str | None = None) -> int:
        """Return a number of moves that no solution is shorter than, from the tables alone."""
        return self._reader.compute_bound(state, self._make_options(goal))

    def get(
        self, state: str, default: Default | None = None, *, goal: str | None = None
    ) -> FifteenAnswer | Default | None:
        """Return the answer of `solve`, or the default where it raises; a bad goal raises."""
        self._make_options(goal)
        return get_or(default, lambda: self.solve(state, goal))

    def annotate(self, frame: Frame, column: str = "state", *, prefix: str = "") -> Frame:
        """Add goal, distance, bound, positions and solution to a polars frame of states."""
        return self._annotate(frame, column, prefix, {})

    def _make_options(self, goal: str | None) -> OptionValues:
        return {} if goal is None else self._reader.normalize_options({"goal": goal})
