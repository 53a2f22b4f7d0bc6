"""Plans: what a build does, why, from which checkpoints, and at what cost.

A dry run prints the plan, and writes nothing. A build takes the same decisions by the same
functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from puzzle_tablebase.errors import (
    NotAFile,
    StoreError,
    TableDamaged,
    TableVersionError,
    Unreachable,
)
from puzzle_tablebase.formats.manifest import (
    Entry,
    Versions,
    bears_table,
    find_in_place,
    find_mismatch,
    is_own_file,
    read_versions,
)
from puzzle_tablebase.pipeline.costs import Cost
from puzzle_tablebase.pipeline.progress import UP_TO_DATE
from puzzle_tablebase.pipeline.searches import checkpoints, digest_table, estimate_cost
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import BACKUP, MANIFEST
from puzzle_tablebase.stores.access import list_files, make_open_error
from puzzle_tablebase.stores.folder import Store

PuzzleTables = Sequence[tuple[Puzzle, tuple[Table, ...]]]

FORCED = "forced"
OTHER_CODE = "made by other code"


@dataclass(frozen=True, slots=True)
class Request:
    """A build's tables, its store and its limits."""

    store: Store
    tables: PuzzleTables
    force: bool = False
    jobs: int = 1
    memory: int | None = None
    """Bytes that a search may use; None: all free memory."""


def list_reasons(request: Request, published: Versions) -> Iterator[tuple[Puzzle, Table, str]]:
    """Yield each requested table with its puzzle and the reason to build it, or `UP_TO_DATE`."""
    for puzzle, tables in request.tables:
        for table in tables:
            versions = published.get(table.name, [])
            reason = explain_rebuild(request.store, versions, puzzle, table)
            yield puzzle, table, FORCED if request.force else reason


def explain_rebuild(store: Store, versions: Sequence[Entry], puzzle: Puzzle, table: Table) -> str:
    """Return the reason why a table must be built, or `UP_TO_DATE`."""
    if not versions:
        return "missing"
    entry = find_in_place(store, versions) if len(versions) > 1 else versions[0]
    if entry is None:
        return "stopped between two files"
    if entry.parameters != table.recipe.parameters:
        return "parameters changed"
    if entry.code != digest_table(table, puzzle):
        return OTHER_CODE
    for file in entry.all_files:
        try:
            if find_mismatch(store, file):
                return f"{file.file} damaged"
        except FileNotFoundError:
            return f"{file.file} missing"
        except Unreachable as error:
            raise make_open_error(store.locate(file.file), error, "") from error
        except OSError:
            return f"{file.file} cannot be read"
    return UP_TO_DATE


def read_published(request: Request) -> tuple[Versions, str]:
    """Read the listed tables, and say why the build replaces the manifest; "" if it does not.

    Nothing is written. Raise StoreError if a build would replace a file that is not its own. A
    manifest of a newer version is replaced only by force, since a newer program can read it.
    """
    store, problem = request.store, ""
    try:
        published = read_versions(store)
    except TableDamaged as error:
        published, problem = {}, f"{error.file} is damaged: {error.problem}"
    except TableVersionError as error:
        if error.version > error.supported and not request.force:
            raise
        published = {}
        problem = f"{error.file} has format version {error.version}, not {error.supported}"
    _require_own_files(request, published, is_replaced=bool(problem))
    if problem:
        requested = {
            name for _, tables in request.tables for t in tables for name in list_table_files(t)
        }
        others = [name for name in list_files(store) if name not in requested]
        unlisted = [name for name in others if bears_table(store, name)]
        problem += f"; the new one does not list {', '.join(unlisted)}" if unlisted else ""
    return published, problem


def list_table_files(table: Table) -> list[str]:
    """List the names of a table's files: that of its rows and its index, as far as it has them."""
    return [table.file] * bool(table.columns) + [table.index_file] * bool(table.index)


def _require_own_files(request: Request, published: Versions, *, is_replaced: bool) -> None:
    """Raise StoreError if a build would replace a file that is not this program's.

    `is_replaced`: whether the manifest is.
    """
    store = request.store
    _is_file(store, BACKUP)  # a folder there would stop the build only after its first table
    if is_replaced and not is_own_file(store, MANIFEST):
        raise _make_foreign_error(store, MANIFEST, "manifest")
    unlisted = (t for _, tables in request.tables for t in tables if t.name not in published)
    for name in (name for table in unlisted for name in list_table_files(table)):
        if _is_file(store, name) and not bears_table(store, name):
            raise _make_foreign_error(store, name, "table")


def _make_foreign_error(store: Store, name: str, kind: str) -> StoreError:
    problem = f"{name} is there, and is not a {kind} of this program"
    hint = "Move it away, or choose another folder with --outputs."
    return StoreError(str(store), problem, hint)


def _is_file(store: Store, name: str) -> bool:
    """Return whether a file has this name; raise StoreError if a folder or a device has it."""
    try:
        return store.get_size(name) >= 0
    except NotAFile as error:
        problem = f"{name} {str(error).removeprefix('it ')}"
        raise StoreError(str(store), problem, "Move it away.") from error
    except OSError:
        return False


class SavedWork(NamedTuple):
    """The checkpoints that an unfinished build left of a table, and that a build resumes from."""

    files: int
    bytes: int


class PlannedTable(NamedTuple):
    """A table that the build would write; `cost` is None where nothing is known."""

    puzzle: Puzzle
    table: Table
    reason: str
    saved: SavedWork | None
    cost: Cost | None

    def to_dict(self) -> dict[str, Any]:
        """Return the planned table as plain values."""
        return {
            "table": self.table.name,
            "stage": self.puzzle.name,
            "reason": self.reason,
            "saved": self.saved._asdict() if self.saved else None,
            "estimate": self._describe_cost(self.cost) if self.cost else None,
        }

    def _describe_cost(self, cost: Cost) -> dict[str, Any]:
        unit = self.puzzle.find_unit(self.table)
        amounts = {"rows" if unit == "rows" else "records": cost.rows}
        if unit == "states":
            amounts[unit] = self.table.states
        figures = {"seconds": round(cost.seconds, 3), "bytes": cost.bytes, "memory": cost.memory}
        return {**amounts, **figures}


class Plan(NamedTuple):
    """The tables that a build would write, and those that are up to date.

    `problem`: why the manifest would be replaced.
    """

    tables: list[PlannedTable]
    up_to_date: list[str]
    problem: str

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        return {
            "tables": [planned.to_dict() for planned in self.tables],
            "up_to_date": self.up_to_date,
        }


def plan_build(request: Request) -> Plan:
    """List the tables that a build would write, and those that are up to date."""
    published, problem = read_published(request)
    planned, up_to_date = list[PlannedTable](), list[str]()
    for puzzle, table, reason in list_reasons(request, published):
        if reason == UP_TO_DATE:
            up_to_date.append(table.name)
            continue
        saved = None if request.force else find_saved_work(request.store, puzzle, table)
        planned.append(PlannedTable(puzzle, table, reason, saved, estimate_cost(table)))
    return Plan(planned, up_to_date, problem)


def find_saved_work(store: Store, puzzle: Puzzle, table: Table) -> SavedWork | None:
    """Find the checkpoints that a build of a table would resume from."""
    sizes = list[int]()
    for name in checkpoints(store, table, puzzle).list_files():
        with suppress(FileNotFoundError):  # another build may have finished the table by now
            sizes.append(store.get_size(name))
    return SavedWork(len(sizes), sum(sizes)) if sizes else None
