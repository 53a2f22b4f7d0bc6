"""Removal of optional tables from a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tablebase.errors import BadRequest, quote
from tablebase.puzzle import Puzzle
from tablebase.puzzles import list_puzzles
from tablebase.schema import Table
from tablebase.tables.manifest import Entry, list_parameters, read_manifest
from tablebase.tables.store import Store

if TYPE_CHECKING:
    from pipeline.build_request import Request


def list_removable(store: Store) -> list[str]:
    """List the published tables that are not default tables."""
    return sorted(read_manifest(store).keys() - _list_default_tables())


def make_removal(store: Store, names: Sequence[str], jobs: int) -> Request:
    """Make the build that removes these tables and rebuilds the tables that refer to them.

    A removal that was killed after the manifest was written is completed by removing again.
    """
    # slow to import, and the shell's completion does not need it
    from pipeline.build import find_unlisted_files
    from pipeline.build_request import Request

    published = read_manifest(store)
    for name in names:
        if name in _list_default_tables():
            raise BadRequest(
                f"{name} is a default table, which cannot be removed",
                "Only tables built on request can be removed",
            )
        has_leftovers = any(
            puzzle.catalogue.owns_table(name) for puzzle in list_puzzles()
        ) and find_unlisted_files(store, name, None)
        if name not in published and not has_leftovers:
            removable = list_removable(store)
            hint = (
                f"Removable tables: {', '.join(removable)}"
                if removable
                else "This folder has no removable tables"
            )
            raise BadRequest(f"There is no table {quote(name)} to remove", hint)
    remaining = {name: entry for name, entry in published.items() if name not in names}
    stages = [
        (
            puzzle,
            tuple(
                table
                for table in puzzle.tables
                if _is_outgrown(puzzle, table, published, remaining)
            ),
        )
        for puzzle in list_puzzles()
    ]
    return Request(store, stages, jobs=jobs, without=frozenset(names))


def _list_default_tables() -> set[str]:
    return {table.name for puzzle in list_puzzles() for table in puzzle.tables}


def _is_outgrown(
    puzzle: Puzzle, table: Table, published: Mapping[str, Entry], remaining: Mapping[str, Entry]
) -> bool:
    """Return whether a published table refers to tables that are being removed."""
    entry = published.get(table.name)
    parameters = puzzle.catalogue.adapt_to_manifest(
        table, list_parameters(remaining)
    ).recipe.list_parameters()
    return entry is not None and entry.parameters != parameters
