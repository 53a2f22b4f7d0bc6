"""The comparison of two stores: which tables differ in rows, in content or only in bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.row_comparison import RowCounts, compare_rows, have_equal_records
from tablebase.errors import NoAnswer, TableError, Unreachable
from tablebase.puzzles import find_owner, list_puzzles
from tablebase.schema import Table
from tablebase.stdio import explain_os_error
from tablebase.tables import MANIFEST
from tablebase.tables.access import format_rebuild_command, format_remove_command, make_open_error
from tablebase.tables.manifest import (
    Entry,
    find_mismatch,
    has_manifest,
    list_parameters,
    read_manifest,
)
from tablebase.tables.store import Store

SAME, BYTES, CONTENT, ROWS, DAMAGED = "same", "bytes", "content", "rows", "damaged"
ONLY_IN = ("only in A", "only in B")
EQUAL = (SAME, BYTES)
"""The differences that leave the content equal."""


@dataclass(frozen=True)
class Comparison:
    """A table's difference, its rows in A and in B (None: it is not there), and what differs."""

    table: str
    difference: str
    rows: tuple[int | None, ...]
    details: list[str] = field(default_factory=list)
    counts: RowCounts | None = None
    damage: tuple[tuple[str, ...], ...] = ((), ())
    """The damaged files of A and of B, each with its problem."""

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison for JSON."""
        counts = {} if self.counts is None else self.counts._asdict()
        return {
            "table": self.table,
            "difference": self.difference,
            "rows_a": self.rows[0],
            "rows_b": self.rows[1],
            **counts,
            "details": self.details,
        }


class TablesDiffer(NoAnswer):
    """Two stores whose tables do not all have the same content."""

    def __init__(self, tables: list[str], total: int) -> None:
        super().__init__(f"{len(tables)} of {total} tables differ: {', '.join(tables)}.")
        self.tables = tables


def compare_stores(a: Store, b: Store) -> list[Comparison]:
    """Compare every table that either store publishes, in the order of their names.

    Raise TableError if a store has no manifest, or one that cannot be used.
    """
    entries = [_read_entries(store) for store in (a, b)]
    definitions = _find_tables(*entries)
    return [
        _compare_table((a, b), name, (entries[0].get(name), entries[1].get(name)), definitions)
        for name in sorted(entries[0].keys() | entries[1].keys())
    ]


def _read_entries(store: Store) -> dict[str, Entry]:
    entries = read_manifest(store)
    if not entries and not has_manifest(store):
        missing, command = FileNotFoundError(), format_rebuild_command("", store)
        raise make_open_error(store.locate(MANIFEST), missing, command)
    return entries


def _find_tables(*published: Mapping[str, Entry]) -> dict[str, Table]:
    """Find the definitions of the published tables, by name, as far as a puzzle here has them."""
    return {
        table.name: table
        for entries in published
        for puzzle in list_puzzles()
        for table in puzzle.list_published(list_parameters(entries))
    }


def _compare_table(
    stores: tuple[Store, Store],
    name: str,
    entries: tuple[Entry | None, Entry | None],
    definitions: Mapping[str, Table],
) -> Comparison:
    rows = tuple(entry.rows if entry else None for entry in entries)
    damage = tuple(
        _find_damage(store, entry) if entry else ()
        for store, entry in zip(stores, entries, strict=True)
    )
    if any(damage):
        details = [problem for problems in damage for problem in problems]
        return Comparison(name, DAMAGED, rows, details, damage=damage)
    a, b = entries
    if a is None or b is None:
        return Comparison(name, ONLY_IN[a is None], rows)
    difference, details, counts = _compare_content(stores, (a, b), definitions.get(name))
    return Comparison(name, difference, rows, [*_compare_facts(a, b), *details], counts)


def _compare_content(
    stores: tuple[Store, Store], entries: tuple[Entry, Entry], definition: Table | None
) -> tuple[str, list[str], RowCounts | None]:
    """Return the difference of two tables whose files are as listed, with details and counts."""
    (a, b), counts, problem = entries, None, ""
    if a.content == b.content and a.all_files == b.all_files:
        return SAME, [], None
    # equal hashes of other files are what the manifests say: the rows are read all the same
    if a.content != b.content or (a.parquet and b.parquet and a.parquet != b.parquet):
        problem = "files of rows"
        if a.parquet and b.parquet:
            counts, problem = compare_rows(stores, entries, definition)
        elif not a.parquet and not b.parquet:
            problem = "records"
    details = [problem] if problem else []
    if a.rows != b.rows or any(counts or ()):
        return ROWS, details, counts
    if not have_equal_records(stores, (a.index, b.index)):
        details = list(dict.fromkeys([*details, "records"]))
    return (CONTENT if details else BYTES), details, None


def _find_damage(store: Store, entry: Entry) -> tuple[str, ...]:
    """Describe each file that is not as the manifest lists it; raise TableError if the store does
    not answer, or refuses to."""
    problems = []
    for file in entry.all_files:
        path = store.locate(file.file)
        try:
            problem = find_mismatch(store, file)
        except FileNotFoundError:
            problem = "it is missing"
        except Unreachable as error:
            raise make_open_error(path, error, "") from error
        except OSError as error:
            problem = f"it cannot be read: {explain_os_error(error)}"
        if problem:
            problems.append(f"{path}: {problem}")
    return tuple(problems)


def _compare_facts(a: Entry, b: Entry) -> list[str]:
    """Name the parameters and the other facts of the manifest's entries that differ."""
    keys = sorted(a.parameters.keys() | b.parameters.keys())
    different = [key for key in keys if a.parameters.get(key) != b.parameters.get(key)]
    facts = [f"parameters ({', '.join(different)})"] if different else []
    facts += ["description"] if a.description != b.description else []
    return [*facts, *(["made by"] if a.made_by != b.made_by else [])]


def make_difference_error(
    comparisons: list[Comparison], a: Store, b: Store
) -> TableError | TablesDiffer | None:
    """Return the error for damaged files, else for other content, or None."""
    damaged = [
        (store, comparison.table, problem)
        for comparison in comparisons
        for store, problems in zip((a, b), comparison.damage, strict=True)
        for problem in problems
    ]
    if damaged:
        problems = "; ".join(problem for _, _, problem in damaged)
        commands = dict.fromkeys(_format_repair_command(store, name) for store, name, _ in damaged)
        return TableError(
            f"Damaged files cannot be compared: {problems}.",
            problems,
            " && ".join(filter(None, commands)),
        )
    different = [each.table for each in comparisons if each.difference not in EQUAL]
    return TablesDiffer(different, len(comparisons)) if different else None


def _format_repair_command(store: Store, name: str) -> str:
    """Return the command that builds a table again, or removes one that no puzzle here has."""
    if find_owner(name):
        return format_rebuild_command(name, store)
    return format_remove_command(name, store)
