"""The finished parts of a table that is not: kept beside it, so that a killed build goes on."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zlib
from collections import Counter
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablebase import __version__
from tablebase.code_digest import digest_code
from tablebase.errors import StoreError
from tablebase.puzzle import Table
from tablebase.tables.repair import list_files
from tablebase.tables.store import SHARED_SUFFIX, Store

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

SUFFIX = ".kept"
CHECKSUM_BYTES = 4

Arrays = list[npt.NDArray[Any]]


class ShardSpec(NamedTuple):
    """The number-th of so many equal shares of a table's parts, from 1."""

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


class Checkpoints:
    """The finished parts of one table, by name: those of this recipe, version and code.

    `builder`: the module that makes them. Its code counts, and all that it imports of the project:
    where any of that has changed, its parts are made again.
    """

    def __init__(self, store: Store, table: Table, builder: str) -> None:
        self._store = store
        self._table = table.name
        self._builder = builder
        self._version = _version_of(builder)
        description = json.dumps(
            [table.recipe.search, table.recipe.list_parameters(), self._version]
        )
        self._stem = f".{table.name}.{_digest(description)}"

    def __repr__(self) -> str:
        """The same for the same recipe and version: parts are named by what they are given."""
        return self._stem

    def load(self, name: str) -> Arrays | None:
        """A part's arrays; None if it was not finished, or is not whole."""
        try:
            data = memoryview(self._store.read(self._name(name)))
        except OSError:
            return None
        packed = data[:-CHECKSUM_BYTES]
        if not packed or data[-CHECKSUM_BYTES:] != _encode_checksum(zlib.crc32(packed)):
            return None
        arrays = list[npt.NDArray[Any]]()
        decompressed = pa.CompressedInputStream(pa.BufferReader(packed), "zstd")
        with io.BufferedReader(decompressed) as file:
            while file.peek(1):
                arrays.append(np.lib.format.read_array(file, allow_pickle=False))
        return arrays

    def require(self, name: str) -> Arrays:
        """A part's arrays; an error where whoever made them has left them in another place."""
        arrays = self.load(name)
        if arrays is None:
            problem = "a worker's result is missing"
            raise StoreError(str(self._store), problem, "All workers must reach the same place.")
        return arrays

    def require_version(self) -> None:
        """An error where this program is not the one that the build is of."""
        version, code = _version_of(self._builder)
        if version != self._version[0]:
            problem = f"a worker has version {version} of the program"
            raise StoreError(str(self._store), problem, f"Install {self._version[0]} there.")
        if code != self._version[1]:
            problem = f"a worker has changed code of version {version}"
            raise StoreError(str(self._store), problem, "Install the same code there.")

    def save(self, name: str, arrays: Arrays) -> None:
        # no fsync: after a crash of the whole machine the checksum tells
        with self._store.write_atomically(self._name(name), durable=False, shared=True) as (file,):
            checksummed = _ChecksumWriter(file)
            with pa.CompressedOutputStream(checksummed, "zstd") as stream:
                for array in arrays:
                    np.save(stream, array, allow_pickle=False)
            file.write(_encode_checksum(checksummed.checksum))

    def count_bytes(self) -> int:
        """How much is kept of all parts, of whatever recipe."""
        return sum(map(self._store.get_size, list_checkpoint_files(self._store, self._table)))

    def remove(self, name: str) -> None:
        """Remove a part, if it is there."""
        with suppress(StoreError):
            self._store.remove(self._name(name))

    def mark_shard_done(self, shard: ShardSpec) -> None:
        """Note that all parts of a piece are kept, even where it has none."""
        name = f"{self._stem}.{shard.number}-of-{shard.total}{SUFFIX}"
        with self._store.write_atomically(name, durable=False, shared=True) as (file,):
            file.write(b"\n")

    def list_shards(self) -> list[ShardSpec]:
        """Those that are finished."""
        return [shard for stem, shard in _find_shards(self._store) if stem == self._stem]

    def clear_others(self) -> None:
        """Remove the table's parts of other recipes, versions and code."""
        for name in list_checkpoint_files(self._store, self._table):
            if not (name.startswith(f"{self._stem}.") and name.endswith(SUFFIX)):
                self._store.remove(name)

    def _name(self, part: str) -> str:
        return f"{self._stem}.{_digest(part)}{SUFFIX}"


def list_checkpoint_files(store: Store, table: str) -> list[str]:
    """The files of a table's parts, of whatever recipe, and those whose writer was killed."""
    return [
        name
        for name in list_files(store, f".{table}.")
        if name.endswith(SUFFIX)
        or (name.endswith(SHARED_SUFFIX) and not store.is_being_written(name))
    ]


def summarize_shards(store: Store) -> dict[str, str]:
    """How much there is of each table that is made in pieces, in words: `3 of 100 pieces`."""
    counts = Counter((stem, shard.total) for stem, shard in _find_shards(store))
    most: dict[str, tuple[int, int]] = {}  # older code may have left pieces of its own
    for (stem, total), count in counts.items():
        table = stem.split(".")[1]
        most[table] = max(most.get(table, (0, 0)), (count, total))
    return {table: f"{count:,} of {total:,} shards" for table, (count, total) in most.items()}


def _find_shards(store: Store) -> list[tuple[str, ShardSpec]]:
    """The finished pieces of all tables, each with what its name begins with."""
    pattern = rf"(\.\w+\.[0-9a-f]+)\.([0-9]+)-of-([0-9]+){re.escape(SUFFIX)}"
    matches = (re.fullmatch(pattern, name) for name in list_files(store, "."))
    return [(match[1], ShardSpec(int(match[2]), int(match[3]))) for match in matches if match]


class _ChecksumWriter(io.RawIOBase):
    """A file to write to, and the checksum of what was written: it follows the packed arrays."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.checksum = 0

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        return self._file.write(data)


def _version_of(builder: str) -> tuple[str, str]:
    return __version__, digest_code(builder)


def _encode_checksum(checksum: int) -> bytes:
    return checksum.to_bytes(CHECKSUM_BYTES, "little")


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]
