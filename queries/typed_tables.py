"""The base classes of the Python interface to a puzzle's tables, with typed answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from queries.goal_reader import GoalAnswer, GoalQuery, GoalReader
from queries.reader import Query, Reader
from queries.table_list import format_html, format_repr
from tablebase.build_errors import MemoryShort
from tablebase.errors import TablebaseError
from tablebase.resources import get_free_memory

if TYPE_CHECKING:
    import polars as pl

    from queries.answer_frames import Frame, Keys


SAMPLE_HINT = "Draw fewer, or use pipeline sample, which writes rows while it draws"
Found = TypeVar("Found")
Default = TypeVar("Default")


class PuzzleTable:
    """The tables of one puzzle."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def __repr__(self) -> str:
        return format_repr(self, self._reader.store, self._reader.puzzle.catalogue)

    def _repr_html_(self) -> str:
        """List the puzzle's published tables for a notebook."""
        return format_html(self, self._reader.store, [self._reader.puzzle.catalogue])

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._reader,)

    def _annotate(self, frame: Any, column: str, prefix: str, query: Query) -> Any:
        from queries.answer_frames import annotate_frame

        added = query.list_added_columns()
        digits = self._reader.key_digits
        return annotate_frame(frame, column, prefix, added, query.annotate_keys, digits)

    def _draw(self, query: Query, size: int, seed: int, replacement: bool) -> pl.DataFrame:
        """Draw a sample with the options of a query; MemoryShort if it is too large for memory."""
        import polars as pl

        from queries.sampling import SampleRequest

        request, frames = SampleRequest(size, seed, replacement).check(), list[pl.DataFrame]()
        for frame in query.draw_samples(request):
            if not frames:
                need = int(frame.estimated_size()) * request.size // len(frame)
                free = get_free_memory()
                if free is not None and need > free:
                    raise MemoryShort(f"A sample of {request.size:,} rows", need, free, SAMPLE_HINT)
            frames.append(frame)
        return pl.concat(frames)


class GoalTable(PuzzleTable):
    """The tables of a puzzle with goals."""

    _reader: GoalReader

    def _make_query(self, goal: str | None = None, distance: int | None = None) -> GoalQuery:
        query = self._reader.make_query(goal=goal, distance=distance)
        assert isinstance(query, GoalQuery)
        return query

    def probe(self, state: str, goal: str | None = None, **flags: bool) -> GoalAnswer:
        """Return the answer for a state and a goal: a layout's name or a state.

        The default goal is the layout that the state reaches. `solution` adds a shortest solution
        and what `query` prints with it, `path` its states, and `solutions` all shortest solutions.
        """
        query = self._reader.make_query(goal=goal, **flags)
        assert isinstance(query, GoalQuery)
        return query.look_up(state)

    def get(
        self, state: str, default: Default | None = None, *, goal: str | None = None
    ) -> GoalAnswer | Default | None:
        """Return the answer of `probe`, or the default where it raises; a bad goal raises."""
        self._make_query(goal)
        return get_or(default, lambda: self.probe(state, goal))

    def solution(self, state: str, goal: str | None = None) -> str:
        """Return the letters of a shortest solution, the first in letter order."""
        return "".join(letter for letter, _ in self._find_path(state, goal)[1:])

    def path(self, state: str, goal: str | None = None) -> list[str]:
        """Return every state on the shortest solution of `solution`, first to last."""
        return [step for _, step in self._find_path(state, goal)]

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
        """Add the goal and the columns of its answers to a frame, for a column of states.

        The columns are goal, distance and best_moves, for the 8-puzzle also solutions. The frame is
        one of polars, pandas or pyarrow, and the result is one too; a LazyFrame stays lazy. A list
        of states becomes a polars frame. Values that are not states get nulls. No column of the
        frame is replaced: `prefix` begins the names of the added columns.
        """
        return self._annotate(frame, column, prefix, self._make_query(goal))

    def sample(
        self,
        size: int,
        seed: int = 0,
        *,
        goal: str | None = None,
        distance: int | None = None,
        replacement: bool = True,
    ) -> pl.DataFrame:
        """Draw a uniform sample of states; the same seed draws the same states.

        With a goal, only states that reach it are drawn; with a distance, only those at it.
        """
        return self._draw(self._make_query(goal, distance), size, seed, replacement)

    def list_hardest(self, goal: str | None = None) -> list[str]:
        """Return all states that are farthest from the goal, or from the layouts they reach."""
        return self._make_query(goal).find_hardest().keys

    def _find_path(self, state: str, goal: str | None) -> list[tuple[str, str]]:
        start, goal_state = self._make_query(goal).parse_ends(state)
        self._reader.find_distance(start, goal_state)
        return self._reader.find_path(start, goal_state)


def get_or(default: Default, probe: Callable[[], Found]) -> Found | Default:
    """Call `probe`; return the default if it raises a TablebaseError."""
    try:
        return probe()
    except TablebaseError:
        return default
