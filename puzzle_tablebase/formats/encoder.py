"""The encoder of a table: its rows, its records and its counts become the bytes of its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING, NamedTuple

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats.counts import Depth, GoalCounts, StateCounter, sum_up_depths
from puzzle_tablebase.formats.index import write_index
from puzzle_tablebase.formats.parquet import TableWriter
from puzzle_tablebase.schema import Table

if TYPE_CHECKING:
    from puzzle_tablebase.schema import Columns


class Encoded(NamedTuple):
    """What a manifest says of a table's values: the number of rows, their hash, and the counts."""

    rows: int
    content: str
    counts: list[GoalCounts]


def encode_table(
    file: IO[bytes] | None,
    index_file: IO[bytes] | None,
    table: Table,
    rows: Iterable[Columns],
    records: Iterable[Columns],
    record_count: int,
    depth: str,
    depths: Mapping[Depth, int],
) -> Encoded:
    """Write a table to the file of its rows and to that of its index, as far as it has them.

    `depth`: the column with a state's depth; without one, `depths` has the states at each.
    """
    counter = StateCounter(table, depth)
    with TableWriter(file, table) as writer:
        for columns in rows:
            counter.update(writer.write(columns))
    if table.rows not in (None, writer.rows):
        raise SearchError(f"{table.name} has {writer.rows:,} rows, expected {table.rows:,}.")
    if index_file:
        write_index(index_file, table, record_count, records, writer.content)
    counts = sum_up_depths(counter.list_depths() or depths)
    return Encoded(writer.rows, writer.content, counts)
