"""Parquet files of tables: their schema and metadata, and a writer of row groups."""

from __future__ import annotations

import hashlib
import json
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from tablebase.build_errors import SearchError
from tablebase.schema import KIND_LETTERS, ROW_BYTES, Column, Table
from tablebase.tables import FORMAT_VERSION, MADE_BY
from tablebase.tables.content_hash import ContentHash

if TYPE_CHECKING:
    from tablebase.puzzle import Columns

COMPRESSION_LEVEL = 3
COMMENT = "comment"
"""The key of a column's meaning in its field's metadata: Spark and Delta tables use this one."""
ROW_GROUP_ROWS = 1 << 16
"""Rows of a row group: few, so that reading one row skips most of the table."""


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


def compute_description(table: Table) -> str:
    """Compute a digest of a table's schema, metadata, sort order and index fields."""
    lines = [
        make_schema(table).to_string(),
        *(f"{key}={value}" for key, value in (make_schema(table).metadata or {}).items()),
        *(f"{column.name}:{column.kind}:{column.values}" for column in table.columns),
        f"sorted by {table.sorted_by}",
        table.record_format,
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _make_field(column: Column) -> pa.Field:
    """Make a column's field, with its meaning where tools look for it."""
    comment = {COMMENT: column.meaning} if column.meaning else None
    if column.kind != "enum":
        kinds = {"string": pa.string(), "boolean": pa.bool_(), "bits": pa.binary(ROW_BYTES)}
        kind = kinds.get(column.kind, column.kind)
        return pa.field(column.name, kind, column.nullable, comment)
    # the metadata that makes polars read a dictionary column as its Enum, taken from polars
    polars_schema = (
        pl.Series(column.name, dtype=pl.Enum(column.values)).to_frame().to_arrow().schema
    )
    kind = pa.dictionary(pa.uint8(), pa.string())
    metadata = {**polars_schema.field(0).metadata, **(comment or {})}
    return pa.field(column.name, kind, column.nullable, metadata)


def list_sorting_columns(table: Table) -> list[pq.SortingColumn]:
    """List the columns that the rows are sorted by, as Parquet footers store them."""
    names = [column.name for column in table.columns]
    return [pq.SortingColumn(names.index(name), nulls_first=False) for name in table.sorted_by]


class TableWriter:
    """Writer of a table's rows in the order given, which also computes their content hash.

    Without a file (for a table that is an index alone) the fields of its records are hashed.
    """

    def __init__(self, file: IO[bytes] | None, table: Table) -> None:
        self._columns = table.columns or table.list_fields()
        self._schema = pa.schema(map(_make_field, self._columns), make_schema(table).metadata)
        self._content = ContentHash(self._columns)
        self._pending: list[pa.RecordBatch] = []
        self.rows = 0
        self._writer: Any = file and pq.ParquetWriter(
            file,
            self._schema,
            compression="zstd",
            compression_level=COMPRESSION_LEVEL,
            use_dictionary=[column.name for column in table.columns if not column.distinct],
            column_encoding={
                column.name: "DELTA_BINARY_PACKED"
                for column in table.columns
                if column.distinct and column.kind in KIND_LETTERS
            },
            sorting_columns=list_sorting_columns(table),
            write_page_checksum=True,
        )
        self._recipe = table.recipe

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None and self._pending:
            self._flush(last=True)
        if self._writer:
            self._writer.add_key_value_metadata(self._make_metadata())
            self._writer.close()

    def _make_metadata(self) -> dict[str, str]:
        """Make the metadata from which a file can be listed again if the manifest is lost."""
        return {
            "content": self.content,
            "made_by": MADE_BY,
            "parameters": json.dumps(self._recipe.list_parameters(), sort_keys=True),
        }

    def write(self, columns: Columns) -> pa.RecordBatch:
        """Write rows, given as one array for each column; return them as they are written."""
        arrays = [to_arrow(column, columns[column.name]) for column in self._columns]
        batch = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        self._content.update(batch)
        self.rows += batch.num_rows
        if self._writer:
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
    if column.kind == "string":
        return _make_text_array(plain, nulls)
    if column.kind == "bits":
        data = pa.py_buffer(np.ascontiguousarray(plain))
        return pa.Array.from_buffers(pa.binary(ROW_BYTES), len(plain), [None, data])
    if column.kind == "enum":
        codes = pa.array(plain.astype(np.uint8), mask=nulls)
        return pa.DictionaryArray.from_arrays(codes, pa.array(column.values, pa.string()))
    array = pa.array(plain, mask=nulls)
    try:
        return array.cast(column.kind) if column.kind in KIND_LETTERS else array
    except pa.ArrowInvalid as error:
        message = f"A value of column {column.name} does not fit {column.kind}."
        raise SearchError(message) from error


def _make_text_array(
    values: npt.NDArray[np.bytes_], nulls: npt.NDArray[np.bool_] | None
) -> pa.Array:
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
