"""Requests of builds: the tables, and for each the reason why it must be built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tablebase.errors import Unreachable
from tablebase.puzzle import Puzzle
from tablebase.schema import Table
from tablebase.tables.access import make_open_error
from tablebase.tables.hash_notes import HashNotes
from tablebase.tables.manifest import Entry
from tablebase.tables.parquet import compute_description
from tablebase.tables.store import Store

PuzzleTables = Sequence[tuple[Puzzle, tuple[Table, ...]]]

UP_TO_DATE = "up to date"
FORCED = "forced"


@dataclass(frozen=True, slots=True)
class Request:
    """A build's tables, its store and its limits."""

    store: Store
    tables: PuzzleTables
    force: bool = False
    jobs: int = 1
    without: frozenset[str] = frozenset()
    """Names of tables to remove."""
    memory: int | None = None
    """Bytes that a search may use; None: all free memory."""


def list_reasons(
    request: Request, published: Mapping[str, Entry], notes: HashNotes
) -> Iterator[tuple[Puzzle, Table, str]]:
    """Yield each requested table with its puzzle and the reason to build it, or `UP_TO_DATE`.

    A table that is published with rows keeps them.
    """
    for puzzle, tables in request.tables:
        for requested in tables:
            entry = published.get(requested.name)
            has_rows = entry is not None and bool(entry.parameters.get("rows"))
            with_rows = puzzle.find_table(requested.name, with_rows=True) if has_rows else None
            table = with_rows or requested
            yield puzzle, table, explain_rebuild(notes, entry, table, request.force)


def explain_rebuild(notes: HashNotes, entry: Entry | None, table: Table, force: bool) -> str:
    """Return the reason why a table must be built, or `UP_TO_DATE`."""
    if force:
        return FORCED
    if entry is None:
        return "missing"
    if entry.parameters != table.recipe.list_parameters():
        return "parameters changed"
    if entry.description != compute_description(table):
        return "description changed"
    for file in entry.all_files:
        try:
            if notes.find_mismatch(file):
                return f"{file.file} damaged"
        except FileNotFoundError:
            return f"{file.file} missing"
        except Unreachable as error:
            raise make_open_error(notes.store.locate(file.file), error, "") from error
        except OSError:
            return f"{file.file} cannot be read"
    return UP_TO_DATE
