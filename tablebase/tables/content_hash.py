"""Content hashes of tables: digests of the decoded values, however the files are encoded.

Each column is hashed as one or more streams of bytes, each with SHA-256: for a nullable column
first one byte for each row, 1 where there is a value; then for whole numbers and booleans the
values, little-endian, 0 at a null; for text the byte lengths as 32-bit little-endian numbers, then
the UTF-8 bytes of all rows, concatenated (enums count as their text); for rows of bits their bytes.
The content hash is SHA-256
of the lines `name kind digest...`, one for each column, each ended by a line feed.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa

from tablebase.schema import KIND_LETTERS, ROW_BYTES, Column


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
            [column.name, column.kind, *(s.hexdigest() for s in self._streams[column.name])]
            for column in self._columns
        )
        text = "".join(f"{' '.join(line)}\n" for line in lines)
        return hashlib.sha256(text.encode()).hexdigest()


def _make_streams(column: Column, values: Any) -> list[Any]:
    """Return the bytes that one batch adds to each stream of a column."""
    parts: list[Any] = []
    if column.nullable:
        parts.append(values.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8))
    if column.kind in KIND_LETTERS:
        filled = values.fill_null(0) if values.null_count else values
        parts.append(
            np.ascontiguousarray(filled.to_numpy().astype(f"<{KIND_LETTERS[column.kind]}"))
        )
    elif column.kind == "boolean":
        parts.append(values.to_numpy(zero_copy_only=False).astype(np.uint8))
    elif column.kind == "bits":
        begin, end = (at * ROW_BYTES for at in (values.offset, values.offset + len(values)))
        parts.append(memoryview(values.buffers()[1])[begin:end])
    else:
        text = values.cast(pa.string())
        filled = text.fill_null("") if text.null_count else text
        _, offsets, data = filled.buffers()
        edges = np.frombuffer(offsets, dtype="<i4")[filled.offset : filled.offset + len(filled) + 1]
        parts.append(np.diff(edges).astype("<u4"))
        begin, end = (int(edges[0]), int(edges[-1])) if len(edges) else (0, 0)
        parts.append(memoryview(data)[begin:end] if data is not None else b"")
    return parts
