"""The records of an index, read and compared with what they must be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pipeline.verify.claims import Array
from pipeline.verify.listed_table import ListedTable
from tablebase.tables.index_format import (
    BLOCK_BYTES,
    BODY_BYTES,
)

CHUNK_BLOCKS = 1 << 8
"""The number of index blocks in a chunk."""


def check_records(listed: ListedTable, text: str, fields: Mapping[str, Array]) -> None:
    """Prove that each field of an index holds the given values, one for each record.

    The index's header must be checked already.
    """
    with listed.begin_claim(text, index=True) as check:
        for expected in fields.values():
            check.require_equal("records", listed.index.records, len(expected))
        for begin, records in iter_records(listed):
            for name, expected in fields.items():
                differ = records[name] != expected[begin:][: len(records)]
                for row in np.argwhere(differ)[:1, 0].tolist():
                    record = {field: records[field][row].tolist() for field in fields}
                    value = expected[begin + row].tolist()
                    check.refute(f"{name} {record[name]}", value, begin + row, record)


def iter_records(listed: ListedTable) -> Iterator[tuple[int, Array]]:
    """Yield the records of an index in chunks, each with the rank of its first record.

    The index's header must be checked already.
    """
    dtype = np.dtype([(name, _make_dtype(letter)) for name, letter in listed.definition.index])
    bytes_used = BODY_BYTES // dtype.itemsize * dtype.itemsize
    count, begin = listed.index.records, 0
    with listed.store.open(listed.index.file) as file:
        file.seek(BLOCK_BYTES)
        while data := file.read(CHUNK_BLOCKS * BLOCK_BYTES):
            used = np.frombuffer(data, np.uint8).reshape(-1, BLOCK_BYTES)[:, :bytes_used]
            records = np.ascontiguousarray(used).view(dtype).ravel()[: count - begin]
            yield begin, records
            begin += len(records)


def _make_dtype(letter: str) -> Any:
    # text of a fixed width is read as single bytes, as numpy would drop zeros at its end
    return (np.uint8, int(letter[:-1])) if letter.endswith("s") else f"<{letter}"
