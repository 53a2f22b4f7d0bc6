"""The number of states of a puzzle at each depth, and as a text."""

from __future__ import annotations

import numpy as np
import polars as pl

from queries.index_reader import Index
from queries.scans import scanned
from tablebase.block_space import InBlocks
from tablebase.errors import BadRequest, quoted
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles import puzzle, registered, with_depths
from tablebase.tables.manifest import (
    parameters_of,
    read_manifest,
)
from tablebase.tables.store import Store


def histogram(name: str, store: Store, board: str | None = None) -> pl.DataFrame:
    """Number of states by depth, and by goal where there are any; a null depth: never reached."""
    asked = puzzle(name) if registered(name) else None
    if asked is None or not asked.depth:
        known = f"Choose one of: {', '.join(with_depths())}"
        if asked is None:
            raise BadRequest(f"There is no puzzle {quoted(name)}", known)
        raise BadRequest(f"{asked.title} has no distances to count", known)
    if board is not None and not asked.board_options:
        raise BadRequest(f"{asked.title} has one board", "Leave out --board")
    tables = asked.tables if board is None else _published_of_board(store, asked, board)
    if not tables:
        raise BadRequest("A board is needed", "Add its rows and columns, such as --board 3x4")
    frames = []
    for table in tables:
        if not table.columns:
            frames.append(_counted(store, asked, table))
            continue
        by = [c.name for c in table.columns if c.name in ("goal", asked.depth)]
        counts = (
            scanned(store, asked.stage(table.name), table)
            .group_by(by)
            .agg(pl.len().alias("states"))
            .sort(by, nulls_last=True, maintain_order=True)
        )
        frames.append(counts.collect())
    return pl.concat(frames)


def _published_of_board(store: Store, asked: Puzzle, board: str) -> tuple[Table, ...]:
    """The published tables of a board, for all its goals; the usual ones where there are none."""
    names = {table.name for table in asked.with_boards([board], asked.board_options)}
    published = asked.among(parameters_of(read_manifest(store)))
    return tuple(t for t in published if t.name in names) or asked.with_boards([board])


def _counted(store: Store, asked: Puzzle, table: Table) -> pl.DataFrame:
    """The same for a table that is an index alone, of the distances to one goal."""
    recipe = table.recipe
    assert isinstance(recipe, InBlocks)
    index = Index(store, asked.stage(table.name), table)
    states = np.zeros(256, dtype=np.int64)
    for records in index.stretches():
        states += np.bincount(np.frombuffer(records, np.uint8), minlength=len(states))
    index.close()
    depths = np.flatnonzero(states)
    return pl.DataFrame(
        {"goal": [*recipe.roots] * len(depths), asked.depth: depths, "states": states[depths]}
    )


def bars(counts: pl.DataFrame, width: int = 16) -> str:
    """A histogram as text: a row a depth, for each goal its number of states and a bar."""
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
    for at in depths:
        line = f"{'never' if at is None else at:>8}"
        for column in columns:
            states = column.get(at, 0)
            bar = "#" * round(width * states / max(column.values()))
            line += f"{states or '':>{digits}{',' * bool(states)}}  {bar:<{width}}"
        lines.append(line.rstrip())
    total = "".join(f"{sum(column.values()):>{digits},}{'':{width + 2}}" for column in columns)
    return "\n".join([*lines, f"{'all':>8}{total}".rstrip()]) + "\n"
