"""Outputs that are compressed while they are written, by the ends of their names."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, TYPE_CHECKING, Any, cast

import pyarrow as pa

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

GZIP_LEVEL = 6
"""As the command gzip: level 9 takes twice as long, for one percent."""


def _open_zstd(file: IO[bytes]) -> IO[bytes]:
    return cast(IO[bytes], pa.CompressedOutputStream(pa.PythonFile(_KeptOpen(file), "w"), "zstd"))


COMPRESSORS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda file: gzip.GzipFile("", "wb", GZIP_LEVEL, file, mtime=0),
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
    ".zst": _open_zstd,
    ".zstd": _open_zstd,
}
"""The functions that open a compressor of a file, by the ends of names."""


@contextlib.contextmanager
def compress_output(file: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    """Yield a file that compresses what is written to it, as its name's suffix says.

    For another suffix it is the file itself. No time or name is stored: the same data gives the
    same bytes. The file itself stays open.
    """
    if suffix not in COMPRESSORS:
        yield file
        return
    with COMPRESSORS[suffix](file) as packed:
        yield packed


class _KeptOpen(io.RawIOBase):
    """A writable file that leaves the file behind it open when it is closed."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        return self._file.write(data)

    def flush(self) -> None:
        if not self.closed:
            self._file.flush()
