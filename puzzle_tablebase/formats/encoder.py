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
    """An unpublished file of a folder, given by its name, so that tasks can write parts of it."""

    store: Folder
    name: str


Parts = Generator["Part", None, None]
RecordWriter = Callable[[HiddenFile], Generator[WrittenRecords, None, None]]
"""A function that writes records to the file of an index, as it is iterated."""


class Part(NamedTuple):
    """Consecutive rows and records of a table; a part may have either, or both.

    `write_records`: writes records that tasks have, in any order.
    """

    rows: Columns | None = None
    records: Columns | None = None
    write_records: RecordWriter | None = None


class TableData(NamedTuple):
    """The result of a recipe: the parts of a table, made lazily and only once.

    `record_count`: the number of records of its index. `depths`: the states of each goal at each
    depth, if the table's rows do not have them.
    """

    parts: Parts
    record_count: int = 0
    depths: Mapping[Depth, int] = {}


class Encoded(NamedTuple):
    """What the manifest lists about a table's values.

    `rows`: the number of rows, or of records if there are none; `content`: the content hash of the
    rows, "" without rows; `digest`: the digest of the index, "" without one.
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
    """Write a table: its rows to `file`, its index to `index_file`, if it has them.

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
