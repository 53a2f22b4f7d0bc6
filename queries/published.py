"""The number of states at each distance, as the manifest lists it."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from puzzle_tablebase.errors import BadRequest, StoreEmpty, TableDamaged, TableError
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.notation.sliding import EXAMPLE_BOARD
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.queries.scans import require_published
from puzzle_tablebase.registry import get_puzzle, list_puzzles, list_puzzles_with_depths
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import MANIFEST, Store

SCHEMA = {
    "puzzle": pl.String,
    "board": pl.String,
    "goal": pl.String,
    "distance": pl.Int16,
    "states": pl.Int64,
}
"""The columns of all counts; `board` and `goal` are null for a puzzle without, `distance` for
states that are unreachable."""
BAR = 12
"""Characters of the longest bar."""


def list_counts(store: Store) -> pl.DataFrame:
    """List the number of states at each distance in all published tables that have distances."""
    entries = read_manifest(store)
    if not entries:
        raise StoreEmpty(store, MANIFEST)
    tables = (
        (puzzle, table)
        for puzzle in list_puzzles()
        for table in puzzle.list_published(entries)
        if puzzle.has_counts(table)
    )
    rows = [row for puzzle, table in tables for row in _iter_counts(store, puzzle, table)]
    return pl.DataFrame(rows, SCHEMA, orient="row")


def count_states(name: str, store: Store, board: str | None = None) -> pl.DataFrame:
    """Count the states by depth, null for those unreachable, and by goal if there are goals."""
    puzzle = get_puzzle(name)
    if not puzzle.depth:
        hint = f"Choose one of: {', '.join(list_puzzles_with_depths())}"
        raise BadRequest(f"{puzzle.title} has no distances to count", hint)
    tables = puzzle.tables if board is None else puzzle.list_board_tables(board)
    if not tables and board is None:
        raise BadRequest("Missing option --board", f"Example: --board {EXAMPLE_BOARD}")
    if not tables:
        raise BadRequest(f"{puzzle.title} has one board", "Leave out --board")
    if board is not None:
        published = read_manifest(store)
        listed = [table for table in tables if table.name in published] or tables[:1]
        tables = (*sorted(listed, key=lambda table: table.name),)
    rows = [row for table in tables for row in _iter_counts(store, puzzle, table)]
    counts = pl.DataFrame(rows, SCHEMA, orient="row")
    counts = counts.select("goal", pl.col("distance").alias(puzzle.depth), "states")
    return counts.drop("goal") if counts["goal"].null_count() else counts


def _iter_counts(store: Store, puzzle: Puzzle, table: Table) -> Iterator[tuple[object, ...]]:
    """Iterate over a table's rows of counts; a TableError if its manifest entry has none."""
    entry = require_published(store, table)
    if not entry.counts:
        problem = f"it does not say how many states of {table.name} are at each distance"
        message = f"{store.locate(MANIFEST)} is out of date: {problem}."
        raise TableError(message, store, MANIFEST, table.name)
    goals = {None, *table.recipe.parameters.get("roots", ())}
    if not goals.issuperset(counts.goal for counts in entry.counts):
        problem = f"it counts states of goals that {table.name} does not have"
        raise TableDamaged(store, MANIFEST, problem, table.name, needs_force=True)
    for row in entry.list_depths():
        yield puzzle.name, puzzle.name_board(table.name), *row


def format_bars(counts: pl.DataFrame) -> str:
    """Format a histogram as text: a row per depth, with a number and a bar for each goal."""
    depth = next(name for name in counts.columns if name not in ("goal", "states"))
    if "goal" in counts.columns:
        counts = counts.pivot("goal", index=depth, values="states")
    counts = counts.sort(depth, nulls_last=True)
    depths = ["unreachable" if each is None else str(each) for each in counts[depth]]
    width = max(8, *map(len, depths))
    columns = [[f"{text:>{width}}" for text in (depth, *depths, "all")]]
    for goal, states in counts.drop(depth).fill_null(0).to_dict(as_series=False).items():
        numbers = [goal, *(f"{count:,}" if count else "" for count in states), f"{sum(states):,}"]
        digits = max(10, 2 + max(map(len, numbers)))
        bars = ["", *("#" * round(BAR * count / max(states)) for count in states), ""]
        cells = zip(numbers, bars, strict=True)
        columns.append([f"{number:>{digits}}  {bar:<{BAR}}" for number, bar in cells])
    return "".join(f"{''.join(row).rstrip()}\n" for row in zip(*columns, strict=True))
