"""The finished parts of a table that is not: kept beside it, so that a killed build goes on."""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablebase import __version__
from tablebase.errors import OutputsError
from tablebase.puzzle import Table
from tablebase.tables.store import Store

SUFFIX = ".kept"

Arrays = list[npt.NDArray[Any]]


class Kept:
    """The finished parts of one table, by name: those of this recipe and version."""

    def __init__(self, store: Store, table: Table) -> None:
        self._store = store
        self._table = table.name
        self._version = __version__
        said = json.dumps([table.recipe.search, table.recipe.parameters(), __version__])
        self._stem = f".{table.name}.{_digest(said)}"

    def __repr__(self) -> str:
        """The same for the same recipe and version: parts are named by what they are given."""
        return self._stem

    def load(self, name: str) -> Arrays | None:
        """A part's arrays; None if it was not finished, or is not whole."""
        try:
            data = memoryview(self._store.read(self._name(name)))
        except OSError:
            return None
        packed = data[4:]
        if not packed or data[:4] != _checksum(packed):
            return None
        plain = pa.CompressedInputStream(pa.BufferReader(packed), "zstd").read()
        file, found = io.BytesIO(plain), list[npt.NDArray[Any]]()
        while file.tell() < len(plain):
            found.append(np.load(file, allow_pickle=False))
        return found

    def required(self, name: str) -> Arrays:
        """A part's arrays; an error where whoever made them has left them in another place."""
        found = self.load(name)
        if found is None:
            problem = "a part that a worker made is not there"
            raise OutputsError(str(self._store), problem, "All workers must reach the same place.")
        return found

    def require_version(self) -> None:
        """An error where this program is not the one that the build is of."""
        if self._version != __version__:
            problem = f"a worker has version {__version__} of the program"
            hint = f"Install {self._version} there."
            raise OutputsError(str(self._store), problem, hint)

    def store(self, name: str, arrays: Arrays) -> None:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            for array in arrays:
                np.save(stream, array, allow_pickle=False)
        packed = sink.getvalue()
        # no fsync: after a crash of the whole machine the checksum tells
        with self._store.appearing(self._name(name), durable=False) as (file,):
            file.writelines((_checksum(packed), packed))

    def clear(self, *, but_these: bool = False) -> None:
        """Remove the table's parts, of whatever recipe, or all but those of this one."""
        for name in kept_parts(self._store, self._table):
            if not (but_these and name.startswith(f"{self._stem}.")):
                self._store.remove(name)

    def _name(self, part: str) -> str:
        return f"{self._stem}.{_digest(part)}{SUFFIX}"


def kept_parts(store: Store, table: str) -> list[str]:
    """The files of a table's parts, of whatever recipe."""
    return [name for name in store.names(f".{table}.") if name.endswith(SUFFIX)]


def _checksum(packed: memoryview | pa.Buffer) -> bytes:
    """What a file begins with, before its arrays, one after another, compressed."""
    return zlib.crc32(packed).to_bytes(4, "little")


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]
