"""A sequential stream of a random-access file."""

from __future__ import annotations

import io

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tablebase.tables.store import RandomAccessFile


class SequentialReader(io.RawIOBase):
    """The stream; reads go to the file, so buffer it."""

    def __init__(self, file: RandomAccessFile) -> None:
        self._file = file
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._file.size)[whence]
        return self._at

    def readall(self) -> bytes:
        data = self._file.read(self._file.size, self._at)
        self._at += len(data)
        return data

    def readinto(self, into: Any) -> int:
        data = self._file.read(len(into), self._at)
        into[: len(data)] = data
        self._at += len(data)
        return len(data)
