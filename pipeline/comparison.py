"""The comparison of two stores: which tables differ in rows, in content or only in bytes.

The rows of two tables are counted share by share, so that memory does not grow with them. Which
order rows have, and what a row's key is, only their content hashes tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl

from puzzle_tablebase.errors import NoAnswer, TableError, Unreachable
from puzzle_tablebase.process import explain_os_error
from puzzle_tablebase.queries.scans import scan_rows
from puzzle_tablebase.tables import MANIFEST
from puzzle_tablebase.tables.access import (
    format_rebuild_command,
    format_repair_command,
    make_open_error,
)
from puzzle_tablebase.tables.index_format import BLOCK_BYTES, BODY_BYTES, Header
from puzzle_tablebase.tables.manifest import (
    Entry,
    IndexEntry,
    find_mismatch,
    has_manifest,
    read_manifest,
)
from puzzle_tablebase.tables.store import Store

SHARE_ROWS = 1 << 20
"""Rows of each table that are compared at a time, on average."""
MAX_ROWS = 20_000_000
"""Tables with more rows are not compared row by row: each share is a scan of both tables."""

SAME, BYTES, CONTENT, ROWS, DAMAGED = "same", "bytes", "content", "rows", "damaged"
ONLY_IN = ("only in A", "only in B")
EQUAL = (SAME, BYTES)
"""The differences that leave the content equal."""


class RowCounts(NamedTuple):
    """The rows that only B has, and those that only A has; a changed row is one of each."""

    added: int
    removed: int


def compare_rows(
    stores: tuple[Store, Store],
    entries: tuple[Entry, Entry],
    *,
    share_rows: int = SHARE_ROWS,
    max_rows: int = MAX_ROWS,
) -> tuple[RowCounts | None, str]:
    """Count the rows that differ; return None and the reason where they cannot be compared."""
    try:
        a, b = (_scan_rows(*pair) for pair in zip(stores, entries, strict=True))
        one, other = a.collect_schema(), b.collect_schema()
        if one != other:
            names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
            return None, f"columns ({', '.join(names)})" if names else "order of columns"
        rows = max(entry.rows for entry in entries)
        if rows > max_rows:
            return None, f"rows not compared one by one: more than {max_rows:,}"
        return count_differences(a, b, 1 + rows // share_rows), ""
    except pl.exceptions.PolarsError:  # the manifest lists files that are no tables
        return None, "rows that cannot be decoded"


def _scan_rows(store: Store, entry: Entry) -> pl.LazyFrame:
    """Return all rows; the values of an Enum as text, so that other lists of values compare."""
    rows = scan_rows(store, entry)
    texts = [
        name
        for name, kind in rows.collect_schema().items()
        if isinstance(kind, pl.Enum | pl.Categorical)
    ]
    return rows.with_columns(pl.col(texts).cast(pl.String)) if texts else rows


def count_differences(a: pl.LazyFrame, b: pl.LazyFrame, shares: int) -> RowCounts:
    """Count how many more rows, and how many fewer, one table has than the other."""
    names, count = a.collect_schema().names(), "number of equal rows"
    added = removed = 0
    for share in range(shares):
        is_here = pl.struct(names).hash() % shares == share
        signed = [
            rows.filter(is_here).group_by(names).agg(pl.len().cast(pl.Int64).alias(count) * sign)
            for rows, sign in ((a, -1), (b, 1))
        ]
        net = pl.concat(signed).group_by(names).agg(pl.col(count).sum())
        counts = net.select(count).collect(engine="streaming")[count]
        added += int(counts.clip(lower_bound=0).sum())
        removed -= int(counts.clip(upper_bound=0).sum())
    return RowCounts(added, removed)


def have_equal_records(
    stores: tuple[Store, Store], indexes: tuple[IndexEntry | None, IndexEntry | None]
) -> bool:
    """Return whether two indexes have the same records, or neither table has an index.

    Their headers and checksums may differ in the content hash of the table.
    """
    a, b = indexes
    if a is None or b is None:
        return a is b
    if (a.bytes, a.sha256) == (b.bytes, b.sha256):
        return True
    if (a.bytes, a.records) != (b.bytes, b.records):
        return False
    with stores[0].open(a.file) as old, stores[1].open(b.file) as new:
        headers = [Header(file.read(BLOCK_BYTES)) for file in (old, new)]
        one, other = ((each.version, each.width, each.count, each.name) for each in headers)
        if one != other:
            return False
        while block := old.read(BLOCK_BYTES):
            if block[:BODY_BYTES] != new.read(BLOCK_BYTES)[:BODY_BYTES]:
                return False
    return True


@dataclass(frozen=True)
class Comparison:
    """A table's difference, how much of it is in A and in B, and what differs.

    `amounts`: those of the entries (`Entry.list_amounts`); none where the table is not. `commands`
    repair damaged files, whose problems are the details.
    """

    table: str
    difference: str
    amounts: tuple[Mapping[str, int], ...]
    details: list[str] = field(default_factory=list)
    counts: RowCounts | None = None
    commands: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison for JSON."""
        counts = {} if self.counts is None else self.counts._asdict()
        a, b = self.amounts
        amounts = {
            f"{unit}_{store}": amount.get(unit)
            for unit in {**a, **b}
            for store, amount in (("a", a), ("b", b))
        }
        return {
            "table": self.table,
            "difference": self.difference,
            **amounts,
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
    old, new = _read_entries(a), _read_entries(b)
    return [
        _compare_table((a, b), name, (old.get(name), new.get(name)))
        for name in sorted(old.keys() | new.keys())
    ]


def _read_entries(store: Store) -> dict[str, Entry]:
    entries = read_manifest(store)
    if not entries and not has_manifest(store):
        missing, command = FileNotFoundError(), format_rebuild_command("", store)
        raise make_open_error(store.locate(MANIFEST), missing, command)
    return entries


def _compare_table(
    stores: tuple[Store, Store], name: str, entries: tuple[Entry | None, Entry | None]
) -> Comparison:
    amounts = tuple(entry.list_amounts() if entry else {} for entry in entries)
    damage = [_find_damage(*pair) for pair in zip(stores, entries, strict=True)]
    if any(damage):
        commands = [
            format_repair_command(name, store)
            for store, of_store in zip(stores, damage, strict=True)
            if of_store
        ]
        problems = [problem for of_store in damage for problem in of_store]
        return Comparison(name, DAMAGED, amounts, problems, commands=commands)
    a, b = entries
    if a is None or b is None:
        return Comparison(name, ONLY_IN[a is None], amounts)
    difference, details, counts = _compare_content(stores, (a, b))
    return Comparison(name, difference, amounts, [*_compare_facts(a, b), *details], counts)


def _compare_content(
    stores: tuple[Store, Store], entries: tuple[Entry, Entry]
) -> tuple[str, list[str], RowCounts | None]:
    """Return the difference of two tables whose files are as listed, with details and counts."""
    (a, b), counts, problem = entries, None, ""
    if a.content == b.content and a.all_files == b.all_files:
        return SAME, [], None
    if a.parquet and b.parquet and a.parquet != b.parquet:
        # equal hashes of other files are what the manifests say: the rows are read all the same
        counts, problem = compare_rows(stores, entries)
        if counts and (any(counts) or a.rows != b.rows):
            return ROWS, [], counts
    if a.content != b.content and not problem:
        problem = "order of rows" if counts else "files of rows"
        problem = problem if a.parquet or b.parquet else "records"
    details = [problem] if problem else []
    if (a.parquet or b.parquet) and a.rows != b.rows:
        return ROWS, details, counts
    if not have_equal_records(stores, (a.index, b.index)):
        details = list(dict.fromkeys([*details, "records"]))
    return (CONTENT if details else BYTES), details, counts


def _find_damage(store: Store, entry: Entry | None) -> list[str]:
    """Describe each file that is not as the manifest lists it; raise TableError if the store does
    not answer, or refuses to."""
    problems = []
    for file in entry.all_files if entry else ():
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
    return problems


def _compare_facts(a: Entry, b: Entry) -> list[str]:
    """Name the parameters and the other facts of the manifest's entries that differ."""
    keys = sorted(a.parameters.keys() | b.parameters.keys())
    different = [key for key in keys if a.parameters.get(key) != b.parameters.get(key)]
    facts = [f"parameters ({', '.join(different)})"] if different else []
    facts += ["description"] if a.description != b.description else []
    return [*facts, *(["made by"] if a.made_by != b.made_by else [])]


def make_difference_error(comparisons: list[Comparison]) -> TableError | TablesDiffer | None:
    """Return the error for damaged files, else for other content, or None."""
    damaged = [each for each in comparisons if each.difference == DAMAGED]
    if damaged:
        problems = "; ".join(problem for each in damaged for problem in each.details)
        commands = dict.fromkeys(command for each in damaged for command in each.commands)
        message = f"Damaged files cannot be compared: {problems}."
        return TableError(message, problems, " && ".join(filter(None, commands)))
    different = [each.table for each in comparisons if each.difference not in EQUAL]
    return TablesDiffer(different, len(comparisons)) if different else None
