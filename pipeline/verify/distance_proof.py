"""The proof of the states at each distance, from the proofs of the tables that were counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from pipeline.verify.listed_table import ListedTable
from pipeline.verify.table_rows import read_rows
from pipeline.verify.verdicts import ORDER, Depth, Grade, Outcome, Seen, find_weakest
from tablebase.puzzles.distances import StatesByDistance

COLUMNS = ("puzzle", "board", "goal", "distance", "states")


def prove_distances(listed: ListedTable, earlier: Seen) -> Outcome:
    """Compare every number with the states that the proof of its table counted."""
    recipe, rows = listed.definition.recipe, read_rows(listed)
    assert isinstance(recipe, StatesByDistance)
    uncounted = [name for name in recipe.list_sources() if not earlier[name].depths]
    if uncounted:
        why = f"the proof of {', '.join(uncounted)} counts no states"
        listed.note_missing_proof(COLUMNS, why)
        return listed.make_outcome(Grade.INTACT, f"not compared: {why}")
    expected: dict[str, list[object]] = {name: [] for name in COLUMNS}
    for source in recipe.sources:
        depths = earlier[source.table.name].depths
        for goal, distance in _sort_depths(depths, source.goals):
            values = source.puzzle.name, source.board, goal, distance, depths[goal, distance]
            for name, value in zip(COLUMNS, values, strict=True):
                expected[name].append(value)
    text = "each number of states is the one that the proof of its table counted"
    with listed.begin_claim(text) as check:
        check.require_equal("rows", len(rows), len(expected["states"]))
        for name in COLUMNS:
            rows.require_column(check, name, pa.array(expected[name], rows.column(name).type))
    verdicts = [verdict for name in recipe.list_sources() for verdict in earlier[name].verdicts]
    grade = max(find_weakest(verdicts).values(), key=ORDER.index)
    count = len(recipe.sources)
    how = f"every number was compared with the states counted by the proofs of {count} tables"
    return listed.make_outcome(grade, how)


def _sort_depths(depths: Iterable[Depth], goals: Sequence[str]) -> list[Depth]:
    """Sort depths by goal, then by distance, with those of states never reached last."""

    def find_place(depth: Depth) -> tuple[int, bool, int]:
        goal, distance = depth
        return goals.index(goal) if goal in goals else 0, distance is None, distance or 0

    return sorted(depths, key=find_place)
