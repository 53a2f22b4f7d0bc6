"""The records of an index, read and compared with what they must be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pipeline.verify.claims import Array, ClaimCheck, ListedTable
from tablebase.tables.index_format import read_records
from tablebase.tables.parquet import TableWriter


def check_records(listed: ListedTable, text: str, fields: Mapping[str, Array]) -> None:
    """Prove that each field of an index holds the given values, one for each record.

    The index's header must be checked already.
    """
    with listed.begin_claim(text, index=True) as check:
        for expected in fields.values():
            check.require_equal("records", listed.index.records, len(expected))
        for begin, records in iter_records(listed, check):
            for name, expected in fields.items():
                differ = view_field(records, name) != expected[begin:][: len(records)]
                for row in np.argwhere(differ)[:1, 0].tolist():
                    record = {field: view_field(records, field)[row].tolist() for field in fields}
                    value = expected[begin + row].tolist()
                    check.refute(f"{name} {record[name]}", value, begin + row, record)


def iter_records(listed: ListedTable, check: ClaimCheck) -> Iterator[tuple[int, Array]]:
    """Yield the records of an index in chunks, each with the rank of its first record.

    The index's header must be checked already. After the last chunk, the content hash of a table
    without rows, which is that of its records, is compared with the manifest.
    """
    table, begin = listed.definition, 0
    hasher = None if table.columns else TableWriter(None, table)
    with listed.store.open(listed.index.file) as file:
        for records in read_records(file, table, listed.index.records):
            yield begin, records  # first, as a proof says more about a wrong record than its hash
            begin += len(records)
            if hasher:
                hasher.write({name: records[name] for name, _ in table.index})
    if hasher:
        check.require_equal("content hash", hasher.content, listed.entry.content)


def view_field(records: Array, name: str) -> Array:
    """Return a field's values; text of a fixed width as single bytes, with zeros at its end."""
    values = np.ascontiguousarray(records[name])
    if values.dtype.kind != "S":
        return values
    return values.view(np.uint8).reshape(len(values), values.dtype.itemsize)
