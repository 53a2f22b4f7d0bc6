"""The encoder of a table: its rows, its records and its counts become the bytes of its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import IO, TYPE_CHECKING, NamedTuple

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats.counts import Depth, GoalCounts, StateCounter, sum_up_depths
from puzzle_tablebase.formats.index_writer import IndexWriter, Written
from puzzle_tablebase.formats.parquet import TableWriter
from puzzle_tablebase.schema import Table

if TYPE_CHECKING:
    from puzzle_tablebase.schema import Columns


class Part(NamedTuple):
    """Rows and records of a table that follow those before them, as far as the part has any."""

    rows: Columns | None = None
    records: Columns | None = None


class Encoded(NamedTuple):
    """What a manifest says of a table's values.

    `rows`: their number, or that of the records without any; `content`: their content hash, and
    `digest`: that of the index, each "" for a table without.
    """

    rows: int
    content: str
    digest: str
    counts: list[GoalCounts]


def encode_table(
    file: IO[bytes] | None,
    index_file: IO[bytes] | None,
    table: Table,
    parts: Iterable[Part],
    record_count: int,
    depth: str,
    depths: Mapping[Depth, int],
    written: Iterable[Written] = (),
) -> Encoded:
    """Write a table to the file of its rows and to that of its index, as far as it has them.

    `depth`: the column with a state's depth; without one, `depths` has the states at each.
    `written`: records that others write to the index.
    """
    counter, at = StateCounter(table, depth), 0
    index = IndexWriter(index_file, table, record_count) if index_file else None
    with TableWriter(file, table) if file else nullcontext() as writer:
        for rows, records in parts:
            if rows is not None and writer:
                counter.update(writer.write(rows))
            if records is not None and index:
                index.write(at, records)
                at += len(records[table.index[0][0]])
        for part in written:
            assert index
            index.add(part)
            at += part.records
    count, content = (writer.rows, writer.content) if writer else (at, "")
    if table.rows not in (None, count):
        raise SearchError(f"{table.name} has {count:,} rows, expected {table.rows:,}.")
    counts = sum_up_depths(counter.list_depths() or depths)
    return Encoded(count, content, index.finish() if index else "", counts)
