"""Parquet files: how they are opened; of tables also their content hash, schema and writer.

The content hash is a digest of the decoded values, however the file is encoded. Each column is
hashed as one or more streams of bytes, each with SHA-256: for a nullable column first one byte for
each row, 1 where there is a value; then for whole numbers and booleans the values, little-endian, 0
at a null; for text the byte lengths as 32-bit little-endian numbers, then the UTF-8 bytes of all
rows, concatenated (enums count as their text). The content hash is SHA-256 of the lines `name type
digest...`, one for each column, each ended by a line feed.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from puzzle_tablebase import FORMAT_VERSION, MADE_BY
from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats.row_groups import make_field
from puzzle_tablebase.schema import TYPE_LETTERS, Column, Table

if TYPE_CHECKING:
    from puzzle_tablebase.schema import Columns
    from puzzle_tablebase.stores import RandomAccessFile

COMPRESSION_LEVEL = 3
COMMENT = "comment"
"""The key of a column's meaning in its field's metadata: Spark and Delta tables use this one."""
ROW_GROUP_ROWS = 1 << 16
"""Rows of a row group: few, so that reading one row skips most of the table."""


def scan_rows(file: RandomAccessFile, row: str | None = None) -> pl.LazyFrame:
    """Return the rows of a Parquet file for polars; `row` names a column with their numbers."""
    with file.open_source() as source:  # polars has a descriptor, or the bytes, of its own
        return pl.scan_parquet(source, glob=False, row_index_name=row)


class ContentHash:
    """Hasher of a table's record batches in order; the batches' sizes do not matter."""

    def __init__(self, columns: tuple[Column, ...]) -> None:
        self._columns = columns
        self._streams: dict[str, list[Any]] = {column.name: [] for column in columns}

    def update(self, batch: pa.RecordBatch) -> None:
        for column in self._columns:
            parts = _make_streams(column, batch.column(column.name))
            streams = self._streams[column.name]
            if not streams:
                streams.extend(hashlib.sha256() for _ in parts)
            for stream, part in zip(streams, parts, strict=True):
                stream.update(part)

    def hexdigest(self) -> str:
        lines = (
            [column.name, column.type, *(s.hexdigest() for s in self._streams[column.name])]
            for column in self._columns
        )
        text = "".join(f"{' '.join(line)}\n" for line in lines)
        return hashlib.sha256(text.encode()).hexdigest()


def _make_streams(column: Column, values: Any) -> list[Any]:
    """Return the bytes that one batch adds to each stream of a column."""
    parts: list[Any] = []
    if column.nullable:
        parts.append(values.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8))
    if column.type in TYPE_LETTERS:
        filled = values.fill_null(0) if values.null_count else values
        parts.append(
            np.ascontiguousarray(filled.to_numpy().astype(f"<{TYPE_LETTERS[column.type]}"))
        )
    elif column.type == "boolean":
        parts.append(values.to_numpy(zero_copy_only=False).astype(np.uint8))
    else:
        text = values.cast(pa.string())
        filled = text.fill_null("") if text.null_count else text
        _, offsets, data = filled.buffers()
        edges = np.frombuffer(offsets, dtype="<i4")[filled.offset : filled.offset + len(filled) + 1]
        parts.append(np.diff(edges).astype("<u4"))
        begin, end = (int(edges[0]), int(edges[-1])) if len(edges) else (0, 0)
        parts.append(memoryview(data)[begin:end] if data is not None else b"")
    return parts


def make_schema(table: Table) -> pa.Schema:
    """Make the Arrow schema of a table, with the metadata of its files."""
    metadata = {
        "format_version": str(FORMAT_VERSION),
        "table": table.name,
        "meaning": table.meaning,
        "rank": table.rank,
        **{f"column.{column.name}": column.meaning for column in table.columns},
    }
    return pa.schema(map(_make_field, table.columns), metadata=metadata)


def _make_field(column: Column) -> pa.Field:
    """Make a column's field, with its meaning where tools look for it."""
    metadata = {COMMENT: column.meaning} if column.meaning else {}
    if column.type == "enum":
        # the metadata that makes polars read a dictionary column as its Enum, taken from polars
        words = pl.Series(column.name, dtype=pl.Enum(column.values)).to_frame().to_arrow()
        metadata = {**words.schema.field(0).metadata, **metadata}
    return make_field(column, metadata or None)


def list_sorting_columns(table: Table) -> list[pq.SortingColumn]:
    """List the columns that the rows are sorted by, as Parquet footers store them."""
    names = [column.name for column in table.columns]
    return [pq.SortingColumn(names.index(name), nulls_first=False) for name in table.sorted_by]


class TableWriter:
    """Writer of a table's rows in the order given, which also computes their content hash."""

    def __init__(self, file: IO[bytes], table: Table) -> None:
        self._columns, self._schema = table.columns, make_schema(table)
        self._content = ContentHash(self._columns)
        self._pending: list[pa.RecordBatch] = []
        self.rows = 0
        self._writer: Any = pq.ParquetWriter(
            file,
            self._schema,
            compression="zstd",
            compression_level=COMPRESSION_LEVEL,
            use_dictionary=[column.name for column in table.columns if not column.distinct],
            column_encoding={
                column.name: "DELTA_BINARY_PACKED"
                for column in table.columns
                if column.distinct and column.type in TYPE_LETTERS
            },
            sorting_columns=list_sorting_columns(table),
            write_page_checksum=True,
        )
        self._recipe = table.recipe

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, error_type: object, error: object, trace: object) -> None:
        if error_type is not None:  # Arrow itself closes a file that it cannot write
            with suppress(OSError):
                self._writer.close()
            return
        if self._pending:
            self._flush(last=True)
        parameters = json.dumps(self._recipe.parameters, sort_keys=True)
        made_of = {"content": self.content, "made_by": MADE_BY, "parameters": parameters}
        self._writer.add_key_value_metadata(made_of)
        self._writer.close()

    def write(self, columns: Columns) -> pa.RecordBatch:
        """Write rows, given as one array for each column; return them as they are written."""
        arrays = [to_arrow(column, columns[column.name]) for column in self._columns]
        batch = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        self._content.update(batch)
        self.rows += batch.num_rows
        self._pending.append(batch)
        if sum(batch.num_rows for batch in self._pending) >= ROW_GROUP_ROWS:
            self._flush(last=False)
        return batch

    def _flush(self, *, last: bool) -> None:
        """Write full row groups, so that the file does not depend on the size of the batches.

        `last`: also write the remaining rows, as a smaller row group.
        """
        rows = pa.Table.from_batches(self._pending)
        count = rows.num_rows if last else rows.num_rows - rows.num_rows % ROW_GROUP_ROWS
        self._writer.write_table(
            rows.slice(0, count).combine_chunks(), row_group_size=ROW_GROUP_ROWS
        )
        self._pending = rows.slice(count).to_batches()

    @property
    def content(self) -> str:
        """The content hash of the rows written."""
        return self._content.hexdigest()


def to_arrow(column: Column, values: npt.NDArray[Any]) -> pa.Array:
    """Convert a column's values to Arrow: text from zero-padded bytes, enums from their codes."""
    nulls = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    plain = np.ma.getdata(values)
    if column.type == "string":
        return _make_text_array(plain, nulls)
    if column.type == "enum":
        used = plain if nulls is None else plain[~nulls]
        if np.any((used < 0) | (used >= len(column.values))):
            raise SearchError(f"A value of column {column.name} is not one of its values.")
        codes = pa.array(plain.astype(np.uint8), mask=nulls)
        return pa.DictionaryArray.from_arrays(codes, pa.array(column.values, pa.string()))
    array = pa.array(plain, mask=nulls)
    try:
        return array.cast(column.type) if column.type in TYPE_LETTERS else array
    except pa.ArrowInvalid as error:
        message = f"A value of column {column.name} does not fit {column.type}."
        raise SearchError(message) from error


def _make_text_array(
    values: npt.NDArray[np.bytes_], nulls: npt.NDArray[np.bool_] | None
) -> pa.Array:
    """Join the bytes that are not 0: a field of an index may have some anywhere."""
    width = values.dtype.itemsize
    cells = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), width)
    if nulls is not None:
        cells = np.where(nulls[:, None], np.uint8(0), cells)
    if width and cells[:, -1].all():  # every text has the full width
        offsets, data = np.arange(0, cells.size + 1, width, dtype=np.int32), cells
    else:
        used = cells != 0
        offsets = np.zeros(len(values) + 1, dtype=np.int32)
        np.cumsum(np.count_nonzero(used, axis=1), out=offsets[1:])
        data = cells[used]
    valid = None if nulls is None else pa.py_buffer(np.packbits(~nulls, bitorder="little"))
    buffers = [valid, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)
