"""Single rows of a Parquet file, from the row groups that may have them.

The footer is checked against the manifest, and each page against its checksum: the rest of the file
is neither read nor needed.
"""

from __future__ import annotations

import hashlib
import io
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from puzzle_tablebase.errors import FileChanged, TableDamaged, TableError, Unreachable
from puzzle_tablebase.stores.access import format_rebuild_command, make_open_error

if TYPE_CHECKING:
    from puzzle_tablebase.formats.manifest import File
    from puzzle_tablebase.stores.folder import RandomAccessFile, Store

MAX_GAP_BYTES = 1 << 16
"""Bytes between columns of a row group that are read too, so that one read suffices."""
Values = Mapping[str, Any]
"""The value that each of some columns must have."""


class RowGroups:
    """The row groups of a table's file; many threads may read them, one at a time."""

    def __init__(self, store: Store, table: str, versions: Sequence[File]) -> None:
        self._path = store.locate(f"{table}.parquet")
        self._command = format_rebuild_command(table, store)
        try:
            source = store.open_random_access(f"{table}.parquet")
            of_size = [file for file in versions if file.bytes == source.size]
            if not of_size:
                listed = f"the manifest says {versions[-1].bytes:,}"
                raise FileChanged(f"it has {source.size:,} bytes, {listed}")
            size = max(file.footer.bytes for file in of_size)
            at = source.size - size
            footer = source.read(size, at)
        except OSError as error:
            raise make_open_error(self._path, error, self._command) from error
        ends = [footer[-file.footer.bytes :] for file in of_size]
        if not {(file.footer.bytes, file.footer.sha256) for file in of_size} & {
            (len(end), hashlib.sha256(end).hexdigest()) for end in ends
        }:
            raise self._make_error("its footer differs from the manifest")
        self._parts = _PartsFile(source, {at: footer})
        try:
            self._rows = pq.ParquetFile(
                self._parts, page_checksum_verification=True, pre_buffer=False
            )
        except (pa.ArrowException, OSError) as error:
            raise self._make_read_error(error, "its footer cannot be decoded") from error
        self._lock = Lock()
        self._group = -1
        self._columns: dict[str, pa.ChunkedArray] = {}

    def iter_rows(self, values: Values, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the rows that have these values, with these columns, in order."""
        for group in self._find_groups(values):
            places = np.flatnonzero(self._match(group, values))
            if not len(places):
                continue
            rows = self._read(group, columns)
            for place in places.tolist():
                yield from rows.slice(place, 1).to_pylist()

    def count_rows(self, values: Values) -> int:
        """Count the rows that have these values."""
        return sum(
            int(np.count_nonzero(self._match(group, values))) for group in self._find_groups(values)
        )

    def _find_groups(self, values: Values) -> Iterator[int]:
        """Yield the row groups whose statistics allow these values."""
        for group in range(self._rows.metadata.num_row_groups):
            chunks = self._find_chunks(group, [*values])
            if all(map(_may_have, (chunk.statistics for chunk in chunks), values.values())):
                yield group

    def _find_chunks(self, group: int, columns: Sequence[str]) -> list[Any]:
        """Return what the footer says of some columns of a row group."""
        names = self._rows.schema_arrow.names
        for name in columns:
            if name not in names:
                raise self._make_error(f"its footer has no column {name}")
        chunks = self._rows.metadata.row_group(group)
        return [chunks.column(names.index(name)) for name in columns]

    def _match(self, group: int, values: Values) -> npt.NDArray[np.bool_]:
        """Return for each row of a group whether it has the values."""
        rows = self._read(group, [*values])
        mask = np.ones(rows.num_rows, dtype=np.bool_)
        for name, value in values.items():
            mask &= _compare(rows[name], value)
        return mask

    def _read(self, group: int, columns: Sequence[str]) -> pa.Table:
        """Read columns of a row group, checked; those of the last group are kept."""
        with self._lock:
            if group != self._group:
                self._group, self._columns = group, {}
            missing = [name for name in columns if name not in self._columns]
            if missing:
                rows = self._read_missing(group, missing)
                self._columns |= dict(zip(rows.column_names, rows.columns, strict=True))
            # `pa.table` would import pandas
            return pa.Table.from_arrays([self._columns[name] for name in columns], [*columns])

    def _read_missing(self, group: int, columns: list[str]) -> pa.Table:
        chunks = self._find_chunks(group, columns)
        try:
            self._parts.load([*map(_find_span, chunks)])
            rows = self._rows.read_row_group(group, columns=columns, use_threads=False)
        except (Unreachable, pa.ArrowException, OSError) as error:
            problem = f"row group {group} does not match its checksums"
            raise self._make_read_error(error, problem) from error
        if rows.num_rows != self._rows.metadata.row_group(group).num_rows:
            raise self._make_error(f"row group {group} has another number of rows than its footer")
        return rows

    def _make_read_error(self, error: Exception, problem: str) -> TableError:
        """Return the error of a file that cannot be read, or that Arrow cannot decode."""
        if isinstance(error, OSError) and (
            error.errno is not None or isinstance(error, Unreachable)
        ):
            return make_open_error(self._path, error, self._command)
        return self._make_error(problem)

    def _make_error(self, problem: str) -> TableDamaged:
        return TableDamaged(self._path, problem, self._command)


class _PartsFile(io.RawIOBase):
    """A file as pyarrow reads it: from parts in memory; what they lack is read one by one."""

    def __init__(self, file: RandomAccessFile, parts: dict[int, bytes]) -> None:
        self._file, self._footers = file, parts
        self._loaded = dict(parts)
        self._at = 0

    def load(self, spans: Sequence[tuple[int, int]]) -> None:
        """Read parts together, and forget those that were loaded before."""
        first, end = min(at for at, _ in spans), max(at + size for at, size in spans)
        if end - first <= MAX_GAP_BYTES + sum(size for _, size in spans):
            spans = [(first, end - first)]  # pyarrow reads neighbours together, too
        data = self._file.read_parts([(size, at) for at, size in spans])
        self._loaded = self._footers | dict(zip((at for at, _ in spans), data, strict=True))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._file.size)[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        end = self._file.size if size < 0 else min(self._at + size, self._file.size)
        at, self._at = self._at, max(end, self._at)
        starts = sorted(self._loaded)
        place = bisect_right(starts, at) - 1
        if place >= 0:
            begin, part = starts[place], self._loaded[starts[place]]
            if end <= begin + len(part):
                return part[at - begin : end - begin]
        return self._file.read(end - at, at) if at < end else b""


def _compare(column: pa.ChunkedArray, value: Any) -> npt.NDArray[np.bool_]:
    """Return for each value of a column without nulls whether it equals a value.

    `pyarrow.compute` and `to_numpy` would do, but import themselves or pandas for longer than a
    lookup takes.
    """
    return np.concatenate(
        [np.zeros(0, np.bool_), *(_compare_chunk(c, value) for c in column.chunks)]
    )


def _compare_chunk(chunk: pa.Array, value: Any) -> npt.NDArray[np.bool_]:
    if pa.types.is_dictionary(chunk.type):
        words = chunk.dictionary.to_pylist()
        code = words.index(value) if value in words else -1
        return np.asarray(np.from_dlpack(chunk.indices) == code)
    if pa.types.is_boolean(chunk.type):
        packed = np.frombuffer(chunk.buffers()[1], np.uint8)
        bits = np.unpackbits(packed, bitorder="little")[chunk.offset : chunk.offset + len(chunk)]
        return np.asarray(bits == value)
    return np.asarray(np.from_dlpack(chunk) == value)


def _find_span(chunk: Any) -> tuple[int, int]:
    """Return the first byte of a column chunk, and its bytes."""
    at = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
    return int(at), int(chunk.total_compressed_size)


def _may_have(statistics: Any, value: Any) -> bool:
    """Return whether a column chunk may have a value."""
    if statistics is None or not statistics.has_min_max:
        return True
    return bool(statistics.min <= value <= statistics.max)
