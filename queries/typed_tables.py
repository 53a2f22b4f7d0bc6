"""The base classes of the Python interface to a puzzle's tables, with typed answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from queries.answer_types import (
    GoalAnswer,
)
from queries.facts import Facts
from queries.goal_reader import GoalReader
from queries.reader import Reader
from tablebase.errors import TablebaseError

if TYPE_CHECKING:
    import polars as pl
    from _typeshed import DataclassInstance

    from queries.answer_frames import Frame
    from queries.query_options import OptionValues
    from tablebase.tables.store import Store


Answer = TypeVar("Answer", bound="DataclassInstance")


Default = TypeVar("Default")


class PuzzleTable:
    """The tables of one puzzle."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def __repr__(self) -> str:
        return format_repr(self, self._reader.store, self._reader.puzzle.catalogue.owns_table)

    def _annotate(self, frame: Frame, column: str, prefix: str, options: OptionValues) -> Frame:
        from queries.answer_frames import annotate_frame

        reader = self._reader
        options = reader.normalize_options(options)
        added = reader.list_added_columns(options)
        return annotate_frame(
            frame,
            column,
            prefix,
            added,
            lambda keys: reader.annotate_keys(keys, options),
            reader.key_digits,
        )

    def _draw(self, options: OptionValues, size: int, seed: int, replacement: bool) -> pl.DataFrame:
        """Draw a sample with these options."""
        import polars as pl

        from queries.sampling import SampleRequest

        request = SampleRequest(size, seed, replacement)
        return pl.concat(self._reader.draw_samples(options, request))


class PathTable(PuzzleTable):
    """The tables of a puzzle whose answers include a path to a goal."""

    _reader: GoalReader

    def _normalize_goal(self, goal: str | None) -> OptionValues:
        return {} if goal is None else self._reader.normalize_options({"goal": goal})

    def solution(self, state: str, goal: str | None = None) -> str:
        """Return the letters of a shortest solution, the first in letter order."""
        return "".join(letter for letter, _ in self._find_path(state, goal)[1:])

    def path(self, state: str, goal: str | None = None) -> list[str]:
        """Return every state on the shortest solution of `solution`, first to last."""
        return [step for _, step in self._find_path(state, goal)]

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
        options = self._normalize_goal(goal)
        if distance is not None:
            options["distance"] = str(distance)
        return self._draw(options, size, seed, replacement)

    def list_hardest(self, goal: str | None = None) -> list[str]:
        """Return all states that are farthest from the goal, or from the layouts they reach."""
        return self._reader.find_hardest(self._normalize_goal(goal)).keys

    def _find_path(self, state: str, goal: str | None) -> list[tuple[str, str]]:
        start, goal_state = self._reader.parse_ends(state, goal)
        self._reader.find_distance(start, goal_state)
        return self._reader.find_path(start, goal_state)


class GoalTable(PathTable):
    """The tables of a puzzle with goals."""

    def probe(self, state: str, goal: str | None = None) -> GoalAnswer:
        """Return the answer for a state and a goal: a layout's name or a state.

        The default goal is the layout that the state reaches.
        """
        return make_answer(GoalAnswer, self._reader.probe(state, self._normalize_goal(goal)))

    def get(
        self, state: str, default: Default | None = None, *, goal: str | None = None
    ) -> GoalAnswer | Default | None:
        """Return the answer of `probe`, or the default where it raises; a bad goal raises."""
        self._normalize_goal(goal)
        return get_or(default, lambda: self.probe(state, goal))


def make_answer(answer_type: type[Answer], facts: Facts) -> Answer:
    """Make a typed answer from facts; lists become tuples."""
    values: dict[str, Any] = {
        name: getattr(facts, name) for name in answer_type.__dataclass_fields__
    }
    return answer_type(
        **{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
    )


def format_repr(tables: object, store: Store, owns_table: Callable[[str], bool]) -> str:
    """Format opened tables for a Python prompt: their location, and the published tables."""
    from tablebase.tables.manifest import read_manifest

    try:
        names = [*filter(owns_table, read_manifest(store))]
    except TablebaseError as error:
        names = [str(error)]
    return f"<{type(tables).__name__} in {store}: {', '.join(names) or 'none published'}>"


def get_or(default: Default, probe: Callable[[], Answer]) -> Answer | Default:
    """Call `probe`; return the default if it raises a TablebaseError."""
    try:
        return probe()
    except TablebaseError:
        return default
