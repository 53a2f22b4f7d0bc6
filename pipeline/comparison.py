"""The comparison of two stores: which tables differ in rows, in content or only in bytes.

Two tables are compared row by row in memory that does not grow with them: the rows of both are
divided by a hash of their key, and one share of them is compared at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, NamedTuple

import polars as pl

from queries.scans import scan_rows
from tablebase.errors import NoAnswer, TableError, Unreachable
from tablebase.puzzles import find_owner, list_puzzles
from tablebase.schema import Table
from tablebase.stdio import explain_os_error
from tablebase.tables import MANIFEST
from tablebase.tables.access import format_rebuild_command, format_remove_command, make_open_error
from tablebase.tables.index_format import BLOCK_BYTES, BODY_BYTES, Header
from tablebase.tables.manifest import (
    Entry,
    IndexEntry,
    find_mismatch,
    has_manifest,
    list_parameters,
    read_manifest,
)
from tablebase.tables.store import Store

SHARE_ROWS = 1 << 20
"""Rows of each table that are compared at a time, on average."""
MAX_ROWS = 20_000_000
"""Tables with more rows are not compared row by row: each share is a scan of both tables."""
CHUNK_ROWS = 1 << 18

SAME, BYTES, CONTENT, ROWS, DAMAGED = "same", "bytes", "content", "rows", "damaged"
ONLY_IN = ("only in A", "only in B")
EQUAL = (SAME, BYTES)
"""The differences that leave the content equal."""


class RowCounts(NamedTuple):
    """The rows that only B has, those that only A has, and those with a key of both that differ.

    Without a key a changed row counts as removed and added.
    """

    added: int
    removed: int
    changed: int


def compare_rows(
    stores: tuple[Store, Store],
    entries: tuple[Entry, Entry],
    table: Table | None,
    *,
    share_rows: int = SHARE_ROWS,
    max_rows: int = MAX_ROWS,
) -> tuple[RowCounts | None, str]:
    """Count the rows that differ; return None and the reason where they cannot be compared.

    If no row differs, the text says whether the order does; it is empty if that is equal, too.
    """
    try:
        return _compare_scans(stores, entries, table, share_rows, max_rows)
    except pl.exceptions.PolarsError:  # the manifest lists files that are no tables
        return None, "rows that cannot be decoded"


def _compare_scans(
    stores: tuple[Store, Store],
    entries: tuple[Entry, Entry],
    table: Table | None,
    share_rows: int,
    max_rows: int,
) -> tuple[RowCounts | None, str]:
    a, b = (_scan_rows(*pair) for pair in zip(stores, entries, strict=True))
    schemas = a.collect_schema(), b.collect_schema()
    if schemas[0] != schemas[1]:
        names = [name for name in {**schemas[0], **schemas[1]} if _differ(*schemas, name)]
        return None, f"columns ({', '.join(names)})" if names else "order of columns"
    rows = max(entry.rows for entry in entries)
    if rows > max_rows:
        return None, f"rows not compared one by one: more than {max_rows:,}"
    shares = 1 + rows // share_rows
    for key in [*_list_keys(table, schemas[0]), ()]:
        counts = _count_differences(a, b, key, shares)
        if counts is not None:
            break
    assert counts is not None, "whole rows need no unique key"
    return counts, "" if any(counts) or _have_equal_order(a, b) else "order of rows"


def _differ(a: pl.Schema, b: pl.Schema, name: str) -> bool:
    return a.get(name) != b.get(name)


def _scan_rows(store: Store, entry: Entry) -> pl.LazyFrame:
    """Return all rows; the values of an Enum as text, so that other lists of values compare."""
    rows = scan_rows(store, entry)
    texts = [
        name
        for name, kind in rows.collect_schema().items()
        if isinstance(kind, pl.Enum | pl.Categorical)
    ]
    return rows.with_columns(pl.col(texts).cast(pl.String)) if texts else rows


def _list_keys(table: Table | None, schema: pl.Schema) -> Iterator[tuple[str, ...]]:
    """Yield the columns that may be a key: those that rows are sorted by, distinct ones, texts."""
    if table is None:
        return
    distinct = [column.name for column in table.columns if column.distinct]
    texts = [column.name for column in table.columns if column.kind in ("string", "enum")]
    for names in (table.sorted_by, *((name,) for name in distinct), tuple(texts)):
        if names and set(names) <= set(schema):
            yield names


def _count_differences(
    a: pl.LazyFrame, b: pl.LazyFrame, key: Sequence[str], shares: int
) -> RowCounts | None:
    """Count the rows that differ by a key, or as a whole without one; None: it is not unique."""
    added = removed = changed = 0
    names = key or a.collect_schema().names()
    for share in range(shares):
        is_here = pl.struct(names).hash() % shares == share
        old, new = (rows.filter(is_here).collect(engine="streaming") for rows in (a, b))
        if not key:
            more, less = _count_whole_rows(old, new)
            added, removed = added + more, removed + less
            continue
        if old.select(key).is_duplicated().any() or new.select(key).is_duplicated().any():
            return None
        added += new.join(old, on=key, how="anti", nulls_equal=True).height
        removed += old.join(new, on=key, how="anti", nulls_equal=True).height
        changed += _count_changed(old, new, key)
    return RowCounts(added, removed, changed)


def _count_whole_rows(old: pl.DataFrame, new: pl.DataFrame) -> tuple[int, int]:
    """Return how many more rows, and how many fewer, one frame has than the other."""
    names, count = old.columns, "number of equal rows"
    signed = [
        rows.group_by(names).len(count).with_columns(pl.col(count).cast(pl.Int64) * sign)
        for rows, sign in ((old, -1), (new, 1))
    ]
    net = pl.concat(signed).group_by(names).agg(pl.col(count).sum())[count]
    return int(net.clip(lower_bound=0).sum()), -int(net.clip(upper_bound=0).sum())


def _count_changed(old: pl.DataFrame, new: pl.DataFrame, key: Sequence[str]) -> int:
    others = [name for name in old.columns if name not in key]
    if not others:
        return 0
    pairs = old.join(new, on=key, how="inner", suffix=" of B", nulls_equal=True)
    differ = [pl.col(name).ne_missing(pl.col(f"{name} of B")) for name in others]
    return pairs.filter(pl.any_horizontal(differ)).height


def _have_equal_order(a: pl.LazyFrame, b: pl.LazyFrame) -> bool:
    chunks = zip_longest(_iter_chunks(a), _iter_chunks(b))
    return all(old is not None and new is not None and old.equals(new) for old, new in chunks)


def _iter_chunks(rows: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    total = rows.select(pl.len()).collect().item()
    for first in range(0, total, CHUNK_ROWS):
        yield rows.slice(first, CHUNK_ROWS).collect()


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

    `amounts`: those of the entries (`Entry.list_amounts`); none where the table is not.
    """

    table: str
    difference: str
    amounts: tuple[Mapping[str, int], ...]
    details: list[str] = field(default_factory=list)
    counts: RowCounts | None = None
    damage: tuple[tuple[str, ...], ...] = ((), ())
    """The damaged files of A and of B, each with its problem."""

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
    amounts = tuple(entry.list_amounts() if entry else {} for entry in entries)
    damage = tuple(
        _find_damage(store, entry) if entry else ()
        for store, entry in zip(stores, entries, strict=True)
    )
    if any(damage):
        details = [problem for problems in damage for problem in problems]
        return Comparison(name, DAMAGED, amounts, details, damage=damage)
    a, b = entries
    if a is None or b is None:
        return Comparison(name, ONLY_IN[a is None], amounts)
    difference, details, counts = _compare_content(stores, (a, b), definitions.get(name))
    return Comparison(name, difference, amounts, [*_compare_facts(a, b), *details], counts)


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
    has_rows = a.parquet or b.parquet
    if (has_rows and a.rows != b.rows) or any(counts or ()):
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
