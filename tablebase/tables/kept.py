"""The finished parts of a table that is not: kept beside it, so that a killed build goes on."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablebase import __version__
from tablebase.puzzle import Table
from tablebase.tables.publish import appearing

CHECKSUM = struct.Struct("<I")
"""The CRC-32 of what follows it: the arrays one after another, compressed."""
SUFFIX = ".kept"

Arrays = list[npt.NDArray[Any]]


class Kept:
    """The finished parts of one table, by name: those of this recipe and version."""

    def __init__(self, folder: Path, table: Table) -> None:
        self._folder = folder
        self._table = table.name
        said = json.dumps([table.recipe.search, table.recipe.parameters(), __version__])
        self._stem = f".{table.name}.{_digest(said)}"

    def load(self, name: str) -> Arrays | None:
        """A part's arrays; None if it was not finished, or is not whole."""
        try:
            data = memoryview(self._path(name).read_bytes())
        except OSError:
            return None
        checksum, packed = data[: CHECKSUM.size], data[CHECKSUM.size :]
        if not packed or checksum != CHECKSUM.pack(zlib.crc32(packed)):
            return None
        plain = pa.CompressedInputStream(pa.BufferReader(packed), "zstd").read()
        file, found = io.BytesIO(plain), list[npt.NDArray[Any]]()
        while file.tell() < len(plain):
            found.append(np.load(file, allow_pickle=False))
        return found

    def store(self, name: str, arrays: Arrays) -> None:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            for array in arrays:
                np.save(stream, array, allow_pickle=False)
        packed = sink.getvalue()
        # no fsync: after a crash of the whole machine the checksum tells
        with appearing(self._path(name), durable=False) as file:
            file.writelines((CHECKSUM.pack(zlib.crc32(packed)), packed))

    def clear(self, *, but_these: bool = False) -> None:
        """Remove the table's parts, of whatever recipe, or all but those of this one."""
        for path in self.parts():
            if not (but_these and path.name.startswith(f"{self._stem}.")):
                path.unlink()

    def parts(self) -> Iterator[Path]:
        """The files of the table's parts, of whatever recipe."""
        return self._folder.glob(f".{self._table}.*{SUFFIX}")

    def _path(self, name: str) -> Path:
        return self._folder / f"{self._stem}.{_digest(name)}{SUFFIX}"


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]
