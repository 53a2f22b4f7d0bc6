"""The base classes of the tables as Python objects: typed answers, `probe` and `get`."""

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
    from _typeshed import DataclassInstance

    from queries.answer_frames import Frame
    from queries.query_options import Asked
    from tablebase.tables.store import Store


Answer = TypeVar("Answer", bound="DataclassInstance")


Default = TypeVar("Default")


class PuzzleTable:
    """The tables of one puzzle."""

    def __init__(self, found: Reader) -> None:
        self._reader = found

    def __repr__(self) -> str:
        return format_repr(self, self._reader.store, self._reader.puzzle.owns)

    def _annotated(self, frame: Frame, column: str, prefix: str, asked: Asked) -> Frame:
        from queries.answer_frames import annotated

        asks = self._reader
        asked = asks.checked(asked)
        added = asks.added(asked)
        return annotated(frame, column, prefix, added, lambda keys: asks.annotations(keys, asked))


class WalkedTable(PuzzleTable):
    """A puzzle whose states are walked to a goal."""

    _reader: GoalReader

    def _asked(self, goal: str | None) -> Asked:
        return {} if goal is None else self._reader.checked({"goal": goal})

    def solution(self, state: str, goal: str | None = None) -> str:
        """The letters of a shortest solution, the first in letter order."""
        return "".join(letter for letter, _ in self._walk(state, goal)[1:])

    def path(self, state: str, goal: str | None = None) -> list[str]:
        """Every state on the way of that solution, first to last."""
        return [step for _, step in self._walk(state, goal)]

    def _walk(self, state: str, goal: str | None) -> list[tuple[str, str]]:
        start, to = self._reader.ends(state, goal)
        self._reader.to_goal(start, to)
        return self._reader.path(start, to)


class GoalTable(WalkedTable):
    """A puzzle with goals."""

    def probe(self, state: str, goal: str | None = None) -> GoalAnswer:
        """The answer for a state: to the layout that it reaches, or to a goal, layout or state."""
        return make_answer(GoalAnswer, self._reader.facts(state, self._asked(goal)))

    def get(
        self, state: str, default: Default | None = None, *, goal: str | None = None
    ) -> GoalAnswer | Default | None:
        """`probe`, or the default where it raises; what is no goal raises here too."""
        self._asked(goal)
        return get_or(default, lambda: self.probe(state, goal))


def make_answer(kind: type[Answer], facts: Facts) -> Answer:
    """The typed result that has these facts."""
    values: dict[str, Any] = {name: getattr(facts, name) for name in kind.__dataclass_fields__}
    return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()})


def format_repr(tables: object, store: Store, owned: Callable[[str], bool]) -> str:
    """What opened tables look like at a prompt: where they are, and what is published there."""
    from tablebase.tables.manifest import read_manifest

    try:
        names = [*filter(owned, read_manifest(store))]
    except TablebaseError as error:
        names = [str(error)]
    return f"<{type(tables).__name__} in {store}: {', '.join(names) or 'none published'}>"


def get_or(default: Default, probe: Callable[[], Answer]) -> Answer | Default:
    try:
        return probe()
    except TablebaseError:
        return default
