"""Histograms: the number of states of a puzzle at each depth, as a frame and as text."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from queries.scans import require_intact, require_published, scan_rows
from tablebase.errors import BadRequest, quote
from tablebase.puzzle import Puzzle
from tablebase.puzzles import get_puzzle, is_registered, list_puzzles_with_depths
from tablebase.puzzles.distances import DistanceStage
from tablebase.schema import Table
from tablebase.table_errors import TableOutdated
from tablebase.tables.manifest import (
    list_parameters,
    read_manifest,
)
from tablebase.tables.repair import format_rebuild_command
from tablebase.tables.store import Store


def count_states(name: str, store: Store, board: str | None = None) -> pl.DataFrame:
    """Count the states by depth, and by goal if the puzzle has goals.

    States that are never reached have a null depth.
    """
    puzzle = get_puzzle(name) if is_registered(name) else None
    if puzzle is None or not puzzle.depth:
        hint = f"Choose one of: {', '.join(list_puzzles_with_depths())}"
        if puzzle is None:
            raise BadRequest(f"There is no puzzle {quote(name)}", hint)
        raise BadRequest(f"{puzzle.title} has no distances to count", hint)
    board_option = next(
        (option for option in puzzle.catalogue.options if option.name == "board"), None
    )
    if board is not None and board_option is None:
        raise BadRequest(f"{puzzle.title} has one board", "Leave out --board")
    tables = puzzle.tables if board is None else _list_published_tables(store, puzzle, board)
    if not tables and board_option:
        raise BadRequest("Missing option --board", f"Example: --board {board_option.example}")
    boards = {puzzle.name_board(table.name) for table in tables}
    counts = (
        _scan_counts(store, puzzle, tables)
        .filter(pl.col("puzzle") == name, pl.col("board").is_in([*boards], nulls_equal=True))
        .select("goal", pl.col("distance").alias(puzzle.depth), "states")
        .collect()
    )
    return counts.drop("goal") if counts["goal"].null_count() else counts


def _scan_counts(store: Store, puzzle: Puzzle, tables: Iterable[Table]) -> pl.LazyFrame:
    """Return the counts of all tables; a TableError if they do not count these as published."""
    contents = {
        table.name: require_published(store, puzzle.catalogue, table).content for table in tables
    }
    stage = DistanceStage([puzzle])
    (counts,) = stage.tables
    entry = require_intact(store, stage.catalogue, counts)
    for name, content in contents.items():
        if entry.made_from.get(name) != content:
            file, command = store.locate(counts.file), format_rebuild_command(stage.name, store)
            raise TableOutdated(file, f"it does not count {name} as published", command)
    return scan_rows(store, entry)


def _list_published_tables(store: Store, puzzle: Puzzle, board: str) -> tuple[Table, ...]:
    """Return a board's published tables, for all goals; its default tables if it has none."""
    names = {t.name for t in puzzle.catalogue.request_tables({"board": [board], "goals": ["all"]})}
    published = puzzle.catalogue.list_published_tables(list_parameters(read_manifest(store)))
    default_tables = puzzle.catalogue.request_tables({"board": [board]})
    return tuple(table for table in published if table.name in names) or default_tables


def format_bars(counts: pl.DataFrame, width: int = 16) -> str:
    """Format a histogram as text: a row per depth, with a number and a bar for each goal."""
    depth = next(name for name in counts.columns if name not in ("goal", "states"))
    goals: list[str] = (
        counts["goal"].unique(maintain_order=True).to_list() if "goal" in counts.columns else []
    )
    groups = [counts.filter(pl.col("goal") == goal) for goal in goals] or [counts]
    columns = [dict(zip(group[depth], group["states"], strict=True)) for group in groups]
    depths = sorted({d for column in columns for d in column if d is not None})
    if any(None in column for column in columns):
        depths.append(None)
    digits = max(
        10,
        *(len(f" {sum(column.values()):,}") for column in columns),
        *(len(f"  {goal}") for goal in goals),
    )
    head = "".join(f"{goal:>{digits}}{'':{width + 2}}" for goal in goals or ["states"])
    lines = [f"{depth:>8}{head}".rstrip()]
    for depth_value in depths:
        line = f"{'never' if depth_value is None else depth_value:>8}"
        for column in columns:
            states = column.get(depth_value, 0)
            bar = "#" * round(width * states / max(column.values()))
            line += f"{states or '':>{digits}{',' * bool(states)}}  {bar:<{width}}"
        lines.append(line.rstrip())
    total = "".join(f"{sum(column.values()):>{digits},}{'':{width + 2}}" for column in columns)
    return "\n".join([*lines, f"{'all':>8}{total}".rstrip()]) + "\n"
