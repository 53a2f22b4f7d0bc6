"""The number of states at each distance, as the manifest lists it and as rows show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from puzzle_tablebase.schema import Table

if TYPE_CHECKING:
    import pyarrow as pa

Depth = tuple[str | None, int | None]
"""A goal and a distance; None for a puzzle without goals, and for unreachable states."""

Number = Annotated[int, Meta(ge=0, le=1 << 53)]
"""Rows, bytes or states: 360 times as many are still less than 2^63, and JSON has all of them."""


class GoalCounts(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The number of states at each distance from a goal, if there is one, and unreachable."""

    goal: str | None
    states: list[Number]
    unreachable: Number = 0


def sum_up_depths(depths: Mapping[Depth, int]) -> list[GoalCounts]:
    """Sum up the states at each depth as an entry's counts, one for each goal."""
    farthest = dict[str | None, int]()
    for goal, depth in depths:
        farthest[goal] = max(farthest.get(goal, -1), -1 if depth is None else depth)
    return [
        GoalCounts(
            goal,
            [depths.get((goal, depth), 0) for depth in range(last + 1)],
            depths.get((goal, None), 0),
        )
        for goal, last in farthest.items()
    ]


class StateCounter:
    """A counter of the rows of a table by their goal and depth, as they are written or read."""

    def __init__(self, table: Table, depth: str) -> None:
        """Count by the column `depth`, if the table has it."""
        columns = {column.name: column for column in table.columns}
        has_depth = depth in columns
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
        """Return the states at each depth, with the goals in the order of the column's values."""
        positions = {goal: at for at, goal in enumerate(self._goals)}
        goals = {depth: depth[0] or "" for depth in self._counts}
        order = sorted(goals, key=lambda depth: (positions.get(goals[depth], 0), goals[depth]))
        return {depth: self._counts[depth] for depth in order}
