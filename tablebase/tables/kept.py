"""What a build has finished of a long table: kept beside it, so that a killed build goes on."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablebase.puzzle import Table
from tablebase.tables.parquet import description
from tablebase.tables.store import Store

HEADER = struct.Struct("<QI")
"""Size before compression, and the CRC-32 of what follows."""
SUFFIX = ".kept"

Arrays = list[npt.NDArray[Any]]


class Kept:
    """The finished parts of one table, by name. Parts of another description are not found."""

    def __init__(self, store: Store, table: Table) -> None:
        self._store = store
        self._table = table.name
        self._stem = f".{table.name}.{description(table)}"

    def load(self, name: str) -> Arrays | None:
        """A part's arrays; None if it was not finished, or is not whole."""
        try:
            data = memoryview(self._store.read(self._name(name)))
        except FileNotFoundError:
            return None
        if len(data) < HEADER.size:
            return None
        size, crc = HEADER.unpack_from(data)
        if zlib.crc32(data[HEADER.size :]) != crc:
            return None
        plain = pa.decompress(data[HEADER.size :], decompressed_size=size, codec="zstd")
        with np.load(io.BytesIO(plain), allow_pickle=False) as arrays:
            return [arrays[key] for key in arrays.files]

    def store(self, name: str, arrays: Arrays) -> None:
        plain = io.BytesIO()
        np.savez(plain, *arrays)
        data = pa.compress(plain.getbuffer(), codec="zstd", asbytes=True)
        # no fsync: after a crash of the whole machine the checksum tells
        with self._store.appearing(self._name(name), durable=False) as file:
            file.write(HEADER.pack(plain.tell(), zlib.crc32(data)) + data)

    def clear(self, *, but_these: bool = False) -> None:
        """Remove the table's parts, whatever their description, or all but those of this one."""
        for name in kept_parts(self._store, self._table):
            if not (but_these and name.startswith(f"{self._stem}.")):
                self._store.remove(name)

    def _name(self, part: str) -> str:
        return f"{self._stem}.{part}{SUFFIX}"


def kept_parts(store: Store, table: str) -> list[str]:
    """The files of a table's parts, whatever their description."""
    return [name for name in store.names(f".{table}.") if name.endswith(SUFFIX)]
