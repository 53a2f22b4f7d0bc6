"""The Python interface to the 8-puzzle's tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import MethodType

from queries.eight.fast_lookup import make_fast_lookups
from queries.goal_reader import GoalAnswer
from queries.reader import Reader
from queries.typed_tables import GoalTable


class EightTable(GoalTable):
    """The tables of the 8-puzzle; lookups without a goal are fast enough for millions of calls.

    >>> from queries import open_tables
    >>> eight = open_tables("outputs").eight
    >>> eight.distance("378546201")
    27
    >>> eight.probe("152703846")
    BoardAnswer(state='152703846', goal='corner', distance=8, best_moves='D', solutions=1)
    >>> eight.path("123450786")
    ['123450786', '123456780']
    >>> eight.get("123", default="not a state")
    'not a state'
    """

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader)
        self._forget_lookups()
        reader.on_close.append(self._forget_lookups)

    def _forget_lookups(self) -> None:
        """Forget the records that fast lookups have in memory: the next one opens the index."""
        vars(self).pop("_fast_lookups", None)
        self.distance: Callable[[str], int] = self._load_distance
        """Fewest moves (0-31) from a state to the layout that it reaches."""

    def _load_distance(self, state: str) -> int:
        """Return the fewest moves (0-31) from a state to the layout that it reaches."""
        distance = self._fast_lookups[0]
        # a bound method, because a function made here could not be sent to another process
        self.distance = MethodType(distance, self)
        return distance(self, state)

    @cached_property
    def _fast_lookups(
        self,
    ) -> tuple[Callable[[object, str], int], Callable[[str], GoalAnswer]]:
        return make_fast_lookups(self._reader.open_index("eight").read_records())

    def probe(self, state: str, goal: str | None = None, **flags: bool) -> GoalAnswer:
        """Return the answer for a state and a goal: a layout's name or a state.

        The default goal is the layout that the state reaches. `solution` adds a shortest solution
        and what `query` prints with it, `path` its states, and `solutions` all shortest solutions.
        """
        if goal is None and not flags:
            return self._fast_lookups[1](state)
        return super().probe(state, goal, **flags)
