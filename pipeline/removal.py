"""Removal of tables that were built on request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.selection import find_request
from tablebase.errors import BadRequest, TablebaseError, quote
from tablebase.puzzles import list_puzzles
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Store

if TYPE_CHECKING:
    from pipeline.build_request import Request


def list_removable(store: Store) -> list[str]:
    """List the published tables that are not default tables."""
    return sorted(read_manifest(store).keys() - _list_default_tables())


def make_removal(store: Store, names: Sequence[str], jobs: int) -> Request:
    """Make the build that removes the tables of these names, of tables or of groups.

    A removal that was killed after the manifest was written is completed by removing again.
    """
    # slow to import, and the shell's completion does not need it
    from pipeline.build import find_unlisted_files
    from pipeline.build_request import Request

    published, defaults, without = read_manifest(store), _list_default_tables(), set[str]()
    for name in names:
        tables = _list_names(name)
        if chosen := defaults.intersection(tables):
            raise BadRequest(
                f"{min(chosen)} is a default table, which cannot be removed",
                "Only tables built on request can be removed",
            )
        present = [
            table
            for table in dict.fromkeys([*tables, name])
            if table in published or (table in tables and find_unlisted_files(store, table, None))
        ]
        if not present:
            removable = list_removable(store)
            hint = (
                f"Removable tables: {', '.join(removable)}"
                if removable
                else "This folder has no removable tables"
            )
            raise BadRequest(f"There is no table {quote(name)} to remove", hint)
        without |= {*present}
    return Request(store, [], jobs=jobs, without=frozenset(without))


def _list_names(name: str) -> list[str]:
    """List the names of the tables that a name stands for; none for one that no puzzle knows."""
    try:
        return [table.name for table in find_request(name)[1]]
    except TablebaseError:
        return []


def _list_default_tables() -> set[str]:
    return {table.name for puzzle in list_puzzles() for table in puzzle.tables}
