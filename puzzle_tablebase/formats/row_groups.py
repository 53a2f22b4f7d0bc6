"""Single rows of a Parquet file, read by pyarrow without importing polars.

The statistics of the footer, and then the columns themselves, show which row group has them.
"""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, Any, Literal

from puzzle_tablebase import process

if TYPE_CHECKING or not process.is_single_query or "numpy" in sys.modules:
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    # pyarrow needs no numpy, and imports it where it is found: that takes as long again
    sys.modules["numpy"] = None  # type: ignore[assignment]
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    finally:
        del sys.modules["numpy"]

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from puzzle_tablebase.schema import Column

Row = tuple[Any, ...]
NUMBERS: dict[str, Literal["B", "q"]] = {"uint8": "B", "int64": "q"}
"""The types of whole numbers in memory, as letters of `memoryview`."""


def open_rows(file: IO[bytes], **options: Any) -> pq.ParquetFile:
    """Open a Parquet file for pyarrow, whose options these are.

    Only this function and `scan_rows` hand files to libraries, and always open ones: these are the
    files whose bytes were hashed, and a path may be taken for a pattern or an address.
    """
    return pq.ParquetFile(file, **options)


def read_footer(file: IO[bytes]) -> pq.FileMetaData:
    """Read the footer of a Parquet file."""
    return pq.read_metadata(file)


def make_field(column: Column, metadata: Mapping[Any, Any] | None = None) -> pa.Field:
    """Make the Arrow field of a column."""
    types = {
        "string": pa.string(),
        "boolean": pa.bool_(),
        "enum": pa.dictionary(pa.uint8(), pa.string()),
    }
    return pa.field(column.name, types.get(column.type, column.type), column.nullable, metadata)


def find_problem(rows: pq.ParquetFile, columns: Iterable[Column], count: int | None) -> str:
    """Return how a file's columns or number of rows differ from these; "" if they do not."""
    found, footer = rows.schema_arrow, rows.metadata
    for column in columns:
        fields = [found.field(at) for at in found.get_all_field_indices(column.name)]
        if fields != [make_field(column)]:
            return f"its column {column.name} is not as the table's definition says"
    counts = [footer.row_group(at).num_rows for at in range(footer.num_row_groups)]
    if min(counts, default=0) < 0 or footer.num_rows != sum(counts):
        return "its row groups contradict its number of rows"
    if count not in (None, footer.num_rows):
        return f"it has {footer.num_rows:,} rows, not {count:,}"
    return ""


def find_chunk(group: pq.RowGroupMetaData, name: str) -> pq.ColumnChunkMetaData:
    """Return a column's part of a row group: others may stand before it, in several parts each."""
    chunks = map(group.column, range(group.num_columns))
    return next(chunk for chunk in chunks if chunk.path_in_schema == name)


def find_rows(
    rows: pq.ParquetFile, values: Mapping[str, Any], columns: Sequence[str]
) -> Iterator[Row]:
    """Yield the rows that have these values, with these columns, in order."""
    for group in _list_groups(rows, values):
        if matches := _list_matches(_read(rows, group, values), values):
            part = _read(rows, group, columns).select([*columns])
            for row in matches:
                yield tuple(column[row].as_py() for column in part.columns)


def count_rows(rows: pq.ParquetFile, name: str, value: Any) -> int:
    """Count the rows that have a value in a column."""
    groups = _list_groups(rows, {name: value})
    columns = (_read_column(_read(rows, group, [name])[name], value) for group in groups)
    return sum(cells.count(wanted) for cells, wanted in columns)


def _read(rows: pq.ParquetFile, group: int, names: Iterable[str]) -> pa.Table:
    """Read columns of a row group, and check their pages and texts."""
    part = rows.read_row_group(group, [*names], use_threads=False)
    part.validate(full=True)
    return part


def _list_groups(rows: pq.ParquetFile, values: Mapping[str, Any]) -> list[int]:
    """List the row groups that may have rows with these values.

    Statistics of texts let too many row groups pass, so the first column is read to be sure.
    """
    (name, value), *_ = values.items()
    groups = [at for at in range(rows.num_row_groups) if _may_have(rows, at, values)]
    if len(groups) == 1:
        return groups
    return [at for at in groups if _has(_read(rows, at, [name])[name], value)]


def _has(column: pa.ChunkedArray, value: Any) -> bool:
    cells, wanted = _read_column(column, value)
    return wanted in cells


def _may_have(rows: pq.ParquetFile, group: int, values: Mapping[str, Any]) -> bool:
    """Return whether a row group may have some values, by its statistics."""
    chunks = rows.metadata.row_group(group)
    ranges = [find_chunk(chunks, name).statistics for name in values]
    return all(
        each is None or not each.has_min_max or each.min <= value <= each.max
        for each, value in zip(ranges, values.values(), strict=True)
    )


def _list_matches(part: pa.Table, values: Mapping[str, Any]) -> list[int]:
    """List the numbers of the rows that have these values."""
    columns = [_read_column(part[name], value) for name, value in values.items()]
    cells, wanted = min(columns, key=lambda each: each[0].count(each[1]))
    rows, last = list[int](), -1
    for _ in range(cells.count(wanted)):
        last = cells.index(wanted, last + 1)
        rows.append(last)
    return [row for row in rows if all(cells[row] == wanted for cells, wanted in columns)]


def _read_column(column: pa.ChunkedArray, value: Any) -> tuple[list[Any], Any]:
    """Return the cells of a column and a value as they are stored, those of an enum as numbers."""
    cells = column.combine_chunks()
    if isinstance(cells, pa.DictionaryArray):
        words = cells.dictionary.to_pylist()
        value, cells = words.index(value) if value in words else -1, cells.indices
    letter = None if cells.null_count else NUMBERS.get(str(cells.type))
    if letter is None:
        return list(cells.to_pylist()), value
    numbers = memoryview(cells.buffers()[1]).cast(letter)  # a third of the time of `to_pylist`
    return numbers[cells.offset : cells.offset + len(cells)].tolist(), value
