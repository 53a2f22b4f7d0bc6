"""The encoder of a table: its rows, its records and its counts become the bytes of its files."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import closing, nullcontext
from typing import IO, TYPE_CHECKING, NamedTuple

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats.counts import Depth, GoalCounts, StateCounter, sum_up_depths
from puzzle_tablebase.formats.index_writer import IndexWriter, WrittenRecords
from puzzle_tablebase.formats.parquet import TableWriter
from puzzle_tablebase.schema import Table

if TYPE_CHECKING:
    from puzzle_tablebase.schema import Columns
    from puzzle_tablebase.stores import Folder


class HiddenFile(NamedTuple):
    """A file of a folder that is not published yet: where tasks find it, to write parts of it."""

    store: Folder
    name: str


Parts = Generator["Part", None, None]
RecordWriter = Callable[[HiddenFile], Generator[WrittenRecords, None, None]]
"""A function that writes records to the file of an index, as it is iterated."""


class Part(NamedTuple):
    """Rows and records of a table that follow those before them, as far as the part has any.

    `write_records`: writes records that are not here, since tasks have them; in any order.
    """

    rows: Columns | None = None
    records: Columns | None = None
    write_records: RecordWriter | None = None


class TableData(NamedTuple):
    """The result of a recipe: the parts of a table, made as they are asked for, once.

    `record_count`: the number of records of its index. `depths`: the states of each goal at each
    depth, of a table whose rows do not tell them.
    """

    parts: Parts
    record_count: int = 0
    depths: Mapping[Depth, int] = {}


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
    data: TableData,
    depth: str,
    hidden: HiddenFile | None = None,
) -> Encoded:
    """Write a table to the file of its rows and to that of its index, as far as it has them.

    `depth`: the column with a state's depth. `hidden`: where tasks find the file of the index.
    """
    counter, at = StateCounter(table, depth), 0
    index = IndexWriter(index_file, table, data.record_count) if index_file else None
    with closing(data.parts), TableWriter(file, table) if file else nullcontext() as writer:
        for rows, records, write_records in data.parts:
            if rows is not None and writer:
                counter.update(writer.write(rows))
            if records is not None and index:
                index.write(at, records)
                at += len(records[table.index[0][0]])
            if write_records and index and hidden:
                with closing(write_records(hidden)) as written:
                    for each in written:
                        index.add(each)
                        at += each.records
    count, content = (writer.rows, writer.content) if writer else (at, "")
    if table.rows not in (None, count):
        raise SearchError(f"{table.name} has {count:,} rows, expected {table.rows:,}.")
    counts = sum_up_depths(counter.list_depths() or data.depths)
    return Encoded(count, content, index.finish() if index else "", counts)
