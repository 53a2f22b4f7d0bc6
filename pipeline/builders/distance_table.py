"""Builder of the number of states at each distance, in tables that are published already.

The rows of a table are counted where it has any. No bit of an index with one bit for each state
tells a distance: its layers were counted by the search, if this build made it; by an earlier build,
if it has not changed since; otherwise its states are searched once more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.build_context import BuildContext
from pipeline.builders.sliding_search import search_space
from pipeline.builders.sliding_shards import ShardedSearch
from pipeline.search.word_bfs import estimate_search_bytes
from pipeline.tasks import Chunks, TableData, make_no_records
from queries.scans import scan_table
from tablebase.puzzle import Stage
from tablebase.puzzles.distances import NAME, CountedTable, StatesByDistance
from tablebase.puzzles.sliding.definition import BoardDistances
from tablebase.schema import Table
from tablebase.table_errors import TableMissing
from tablebase.tables.repair import format_rebuild_command

Counts = list[tuple[str | None, int | None, int]]
"""A goal, a distance and a number of states for each row; None where there is none."""


def make(recipe: StatesByDistance, stage: Stage, table: Table, context: BuildContext) -> TableData:
    """Return a row for each distance of each source; a source is counted when it is consumed."""
    if not recipe.sources:
        command = format_rebuild_command("", context.store)
        raise TableMissing("A table with distances", command)
    return _iter_rows(recipe, context), make_no_records(), 0


def _iter_rows(recipe: StatesByDistance, context: BuildContext) -> Chunks:
    for number, source in enumerate(recipe.sources, 1):
        counts = _count_rows(source, context) if source.table.columns else None
        goals, distances, states = zip(
            *(counts or _find_counts(source, context) or _count_layers(source, context)),
            strict=True,
        )
        yield {
            "puzzle": _make_texts([source.puzzle.name] * len(states)),
            "board": _make_texts([source.board] * len(states)),
            "goal": _make_texts(goals),
            "distance": _make_numbers(distances),
            "states": np.array(states),
        }
        context.tasks.report_progress("tables", number, len(recipe.sources))


def _count_rows(source: CountedTable, context: BuildContext) -> Counts:
    """Count the rows of a table."""
    depth, names = source.puzzle.depth, [column.name for column in source.table.columns]
    goals = [name for name in names if name == "goal"]
    counts = (
        scan_table(context.store, source.puzzle.catalogue, source.table)
        .group_by(*goals, depth)
        .agg(pl.len().alias("states"))
        .sort(*goals, depth, nulls_last=True)
        .collect()
    )
    return [(row.get("goal"), row[depth], row["states"]) for row in counts.iter_rows(named=True)]


def _find_counts(source: CountedTable, context: BuildContext) -> Counts:
    """Find the published counts of a table that is as it was when they were published."""
    published = context.read_previous_rows()
    if published is None or source.table.name not in context.unchanged_sources:
        return []
    key = source.puzzle.name, source.board, _get_root(source)[0]
    return [
        (row["goal"], row["distance"], row["states"])
        for row in published.to_pylist()
        if (row["puzzle"], row["board"], row["goal"]) == key
    ]


def _count_layers(source: CountedTable, context: BuildContext) -> Counts:
    """Count the states of each layer: as this build's search did, or by a search of its own."""
    goal, root = _get_root(source)
    layers = context.layers.get(source.table.name) or _search(source, root, context)
    return [(goal, distance, states) for distance, states in enumerate(layers)]


def _search(source: CountedTable, root: str, context: BuildContext) -> list[int]:
    """Search the states of a table in this process or in shards; count those of each layer."""
    recipe, runner = source.table.recipe, context.tasks
    assert isinstance(recipe, BoardDistances)
    if runner.is_remote:
        return ShardedSearch(recipe.board, root, runner, context.memory.bytes).count_layers()
    needed = estimate_search_bytes(recipe.board.size)
    search, on_wait = (
        f"A count of the states of {source.table.name}",
        context.tasks.require_no_failure,
    )
    context.memory.reserve(NAME, search, needed, on_wait)
    return search_space(recipe.board.make_words(root), runner)[1]


def _get_root(source: CountedTable) -> tuple[str, str]:
    """Return the only goal of a table, by name and as a state."""
    assert isinstance(source.table.recipe, BoardDistances)
    ((goal, root),) = source.table.recipe.roots.items()
    return goal, root


def _make_texts(texts: Any) -> npt.NDArray[np.bytes_]:
    plain = np.array([(text or "").encode() for text in texts])
    return np.ma.MaskedArray(plain, [text is None for text in texts])


def _make_numbers(numbers: Any) -> npt.NDArray[np.int64]:
    plain = np.array([number or 0 for number in numbers])
    return np.ma.MaskedArray(plain, [number is None for number in numbers])
