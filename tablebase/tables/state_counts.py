"""The number of states at each distance of each goal: how the manifest holds it, and a counter."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct, to_builtins

from tablebase.build_errors import SearchError
from tablebase.schema import KIND_LETTERS, Table

if TYPE_CHECKING:
    import pyarrow as pa

Depth = tuple[str | None, int | None]
"""A goal and a distance; None for a puzzle without goals, and for states never reached."""
MAX_DEPTH = 1 << 15
"""Distances that are counted are smaller."""

Number = Annotated[int, Meta(ge=0)]


class GoalCounts(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The number of states at each distance from a goal, from 0 on, and of those never reached.

    `goal`: None for a puzzle without goals.
    """

    goal: str | None
    states: list[Number]
    never: Number = 0


class StateCounts(Struct, frozen=True, forbid_unknown_fields=True):
    """The counts of all goals of a table, with a checksum of them and of the table's content."""

    goals: list[GoalCounts]
    checksum: str

    @property
    def total(self) -> int:
        return sum(sum(counts.states) + counts.never for counts in self.goals)

    def list_depths(self) -> Iterator[tuple[str | None, int | None, int]]:
        """Yield goal, distance and number of states in order; those never reached come last."""
        for counts in self.goals:
            for distance, states in enumerate(counts.states):
                if states:
                    yield counts.goal, distance, states
            if counts.never:
                yield counts.goal, None, counts.never


def compute_count_checksum(goals: list[GoalCounts], content: str) -> str:
    """Compute the checksum of counts, which holds for one content hash of the table alone."""
    text = json.dumps([content, to_builtins(goals)], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def make_counts(depths: Mapping[Depth, int], content: str) -> StateCounts | None:
    """Make the counts of a table from the states at each depth; None if there are none."""
    goals = []
    for goal in dict.fromkeys(goal for goal, _ in depths):
        of_goal = {distance: states for (name, distance), states in depths.items() if name == goal}
        never = of_goal.pop(None, 0)
        reached = {distance: states for distance, states in of_goal.items() if distance is not None}
        wrong = [distance for distance in reached if not 0 <= distance < MAX_DEPTH]
        if wrong:
            raise SearchError(f"A distance of {wrong[0]} cannot be counted.")
        states = [reached.get(distance, 0) for distance in range(max(reached, default=-1) + 1)]
        goals.append(GoalCounts(goal, states, never))
    return StateCounts(goals, compute_count_checksum(goals, content)) if goals else None


class StateCounter:
    """A counter of the rows of a table by their goal and depth, as they are written or read."""

    def __init__(self, table: Table, depth: str) -> None:
        columns = {column.name: column for column in table.columns}
        has_depth = depth in columns and columns[depth].kind in KIND_LETTERS
        self._names = [name for name in ("goal", depth) if name in columns] if has_depth else []
        self._goals = columns["goal"].values if "goal" in columns else ()
        self._counts = Counter[Depth]()

    def update(self, rows: pa.RecordBatch) -> None:
        """Count some rows; without a column of depths there is nothing to count."""
        if not self._names:
            return
        import pyarrow as pa

        groups = pa.Table.from_batches([rows.select(self._names)]).group_by(self._names)
        for group in groups.aggregate([([], "count_all")]).to_pylist():
            goal, depth = group.get("goal"), group[self._names[-1]]
            self._counts[goal, depth] += group["count_all"]

    def list_depths(self) -> dict[Depth, int]:
        """Return the states at each depth; goals come in the order that the column defines."""

        def find_place(item: tuple[Depth, int]) -> tuple[int, str]:
            goal = item[0][0]
            return self._goals.index(goal) if goal in self._goals else 0, goal or ""

        return dict(sorted(self._counts.items(), key=find_place))
