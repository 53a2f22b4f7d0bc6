"""The comparison of two tables row by row, in memory that does not grow with the tables.

The rows of both are divided by a hash of their key, and one share of them is compared at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

import polars as pl

from queries.scans import scan_rows
from tablebase.schema import Table
from tablebase.tables.index_format import BLOCK_BYTES, BODY_BYTES, Header
from tablebase.tables.manifest import Entry, IndexEntry
from tablebase.tables.store import Store

SHARE_ROWS = 1 << 20
"""Rows of each table that are compared at a time, on average."""
MAX_ROWS = 20_000_000
"""Tables with more rows are not compared row by row: each share is a scan of both tables."""
CHUNK_ROWS = 1 << 18


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
