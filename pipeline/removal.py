"""Taking tables out of a store that were asked for beyond the puzzles' own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tablebase.errors import BadRequest, quoted
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles import puzzles
from tablebase.tables.manifest import Entry, parameters_of, read_manifest
from tablebase.tables.store import Store

if TYPE_CHECKING:
    from pipeline.build import Request


def removable(store: Store) -> list[str]:
    """The published tables that are none of the puzzles' own."""
    return sorted(read_manifest(store).keys() - _own())


def removal(store: Store, names: Sequence[str], jobs: int) -> Request:
    """The build that publishes these no longer, and makes again what told of them.

    One that was killed after the manifest was written is finished by asking for it again.
    """
    from pipeline.build import Request, unlisted  # the shell's completion is not to wait for it

    published = read_manifest(store)
    for name in names:
        if name in _own():
            raise BadRequest(
                f"{name} is a default table, which cannot be removed",
                "Only tables built on request can be removed",
            )
        left_over = any(asked.owns(name) for asked in puzzles()) and unlisted(store, name, None)
        if name not in published and not left_over:
            more = removable(store)
            hint = (
                f"Removable tables: {', '.join(more)}"
                if more
                else "This folder has no removable tables"
            )
            raise BadRequest(f"There is no table {quoted(name)} to remove", hint)
    left = {name: entry for name, entry in published.items() if name not in names}
    stages = [
        (asked, tuple(table for table in asked.tables if _outgrown(asked, table, published, left)))
        for asked in puzzles()
    ]
    return Request(store, stages, jobs=jobs, without=frozenset(names))


def _own() -> set[str]:
    return {table.name for asked in puzzles() for table in asked.tables}


def _outgrown(
    asked: Puzzle, table: Table, published: Mapping[str, Entry], left: Mapping[str, Entry]
) -> bool:
    """Whether a table tells of others that will be there no longer."""
    entry = published.get(table.name)
    grown = asked.grown(table, parameters_of(left)).recipe.parameters()
    return entry is not None and entry.parameters != grown
