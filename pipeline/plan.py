"""Plans: what a build does, why, from which checkpoints, and at what cost.

A dry run prints the plan, and writes nothing. A build takes the same decisions by the same
functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from puzzle_tablebase.cost import Cost, estimate_cost
from puzzle_tablebase.errors import TableDamaged, TableVersionError, Unreachable
from puzzle_tablebase.pipeline.builders import checkpoints
from puzzle_tablebase.pipeline.progress import UP_TO_DATE
from puzzle_tablebase.pipeline.recovery import Recovery, recover, require_own_files
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tables import MANIFEST
from puzzle_tablebase.tables.access import make_open_error
from puzzle_tablebase.tables.hash_notes import HashNotes
from puzzle_tablebase.tables.manifest import Entry, has_manifest, read_backup, read_manifest
from puzzle_tablebase.tables.parquet import compute_description
from puzzle_tablebase.tables.store import Store

PuzzleTables = Sequence[tuple[Puzzle, tuple[Table, ...]]]

FORCED = "forced"


@dataclass(frozen=True, slots=True)
class Request:
    """A build's tables, its store and its limits."""

    store: Store
    tables: PuzzleTables
    force: bool = False
    jobs: int = 1
    memory: int | None = None
    """Bytes that a search may use; None: all free memory."""


def list_reasons(
    request: Request, published: Mapping[str, Entry], notes: HashNotes
) -> Iterator[tuple[Puzzle, Table, str]]:
    """Yield each requested table with its puzzle and the reason to build it, or `UP_TO_DATE`."""
    for puzzle, tables in request.tables:
        for table in tables:
            entry = published.get(table.name)
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


def read_published(request: Request) -> tuple[dict[str, Entry], Recovery | None]:
    """Read the manifest; if it is damaged or missing, recover the tables that are undamaged.

    Nothing is written. Raise StoreError if a build would replace a file that is not its own.
    """
    published, recovery = _read_or_recover(request)
    unlisted = (t for _, tables in request.tables for t in tables if t.name not in published)
    require_own_files(request.store, unlisted, recovery, force=request.force)
    return published, recovery


def _read_or_recover(request: Request) -> tuple[dict[str, Entry], Recovery | None]:
    """Do what `read_published` does, but for its refusals.

    A manifest of a newer version is replaced only by force, since a newer program can read it.
    """
    store, is_older = request.store, False
    try:
        published = read_manifest(store)
        if published or has_manifest(store):
            return published, None
        problem = f"{store.locate(MANIFEST)} is missing."
    except TableDamaged as error:
        problem = f"{error.file} is damaged: {error.problem}."
    except TableVersionError as error:
        if error.version > error.supported and not request.force:
            raise
        is_older = error.version < error.supported
        problem = f"{error.file} has format version {error.version}, not {error.supported}."
    try:
        backup = read_backup(store)
    except TableVersionError:
        if not request.force:
            raise
        backup = dict[str, Entry]()
    recovery = recover(store, backup)._replace(problem=problem, is_older=is_older)
    return dict(recovery.tables), recovery


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
    """The tables that a build would write, those that are up to date, and a recovery before it."""

    tables: list[PlannedTable]
    up_to_date: list[str]
    recovery: Recovery | None

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        return {
            "tables": [planned.to_dict() for planned in self.tables],
            "up_to_date": self.up_to_date,
            "recovered": sorted(self.recovery.tables) if self.recovery else [],
        }


def plan_build(request: Request) -> Plan:
    """List the tables that a build would write, and those that are up to date."""
    published, recovery = read_published(request)
    planned, up_to_date = list[PlannedTable](), list[str]()
    for puzzle, table, reason in list_reasons(request, published, HashNotes(request.store)):
        if reason == UP_TO_DATE:
            up_to_date.append(table.name)
            continue
        saved = None if request.force else find_saved_work(request.store, table)
        planned.append(PlannedTable(puzzle, table, reason, saved, estimate_cost(table)))
    return Plan(planned, up_to_date, recovery)


def find_saved_work(store: Store, table: Table) -> SavedWork | None:
    """Find the checkpoints that a build of a table would resume from."""
    sizes = list[int]()
    for name in checkpoints(store, table).list_files():
        with suppress(FileNotFoundError):  # another build may have finished the table by now
            sizes.append(store.get_size(name))
    return SavedWork(len(sizes), sum(sizes)) if sizes else None
