"""Where tables are: files by name, read in stretches, that appear whole or not at all.

Names go in, bytes and streams come out; only this room knows a table's path, if it has one. What
cannot be done is an OSError. A lone lookup reads through here, so only light parts are imported.
"""

from __future__ import annotations

import errno
import os
import stat
from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import IO

DEFAULT_FOLDER = "outputs"
LOCK = ".lock"
PART = ".part"
WRITTEN = (".parquet", ".idx", ".json", ".kept")
"""How the names of all files end that appear in a store."""


class Stretches:
    """A file that is open to be read in stretches, by many threads at once."""

    size: int

    def read(self, size: int, at: int) -> bytes:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class Store:
    """A place for tables; as text, what commands call it by."""

    def full(self, name: str) -> str:
        """What messages call a file."""
        raise NotImplementedError

    def names(self, begin: str = "") -> list[str]:
        """The files' names in order, those that begin so; none where nothing can be listed."""
        raise NotImplementedError

    def size(self, name: str) -> int:
        """The bytes of a file; IsADirectoryError where what has its name is no file."""
        raise NotImplementedError

    def open(self, name: str) -> IO[bytes]:
        """A file from its beginning; seeking is possible."""
        raise NotImplementedError

    def read(self, name: str) -> bytes:
        """All of a file."""
        with self.open(name) as file:
            return file.read()

    def stretches(self, name: str) -> Stretches:
        raise NotImplementedError

    def source(self, name: str) -> str | IO[bytes]:
        """A file as polars and pyarrow take it."""
        return self.open(name)

    def appearing(self, name: str, *, durable: bool = True) -> AbstractContextManager[IO[bytes]]:
        """A new file, only to be written on and on: it is there once the block has ended well."""
        raise NotImplementedError

    def unfinished(self) -> list[str]:
        """What is left of files whose writer was killed; of use only while the lock is held."""
        return []

    def remove(self, name: str) -> None:
        raise NotImplementedError

    def lock(self) -> AbstractContextManager[None]:
        """Hold the store for one build, made if missing; OutputsError where that cannot be."""
        raise NotImplementedError

    def name_of(self, path: str) -> str | None:
        """The name here of the file that a path leads to, if it is one of these."""
        return None


class Folder(Store):
    """Tables in a folder."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)

    def __str__(self) -> str:
        return self._path

    def full(self, name: str) -> str:
        return os.path.join(self._path, name)

    def names(self, begin: str = "") -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._path) if name.startswith(begin))
        except OSError:
            return []

    def size(self, name: str) -> int:
        found = os.stat(self.full(name))
        if not stat.S_ISREG(found.st_mode):  # a pipe would never end
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), self.full(name))
        return found.st_size

    def open(self, name: str) -> IO[bytes]:
        return open(self.full(name), "rb")

    def stretches(self, name: str) -> Stretches:
        return _Opened(self.full(name))

    def source(self, name: str) -> str:
        return self.full(name)

    def appearing(self, name: str, *, durable: bool = True) -> AbstractContextManager[IO[bytes]]:
        from tablebase.appearing import appearing

        return appearing(self.full(name), self.full(f".{name}{PART}"), durable=durable)

    def unfinished(self) -> list[str]:
        ends = tuple(f"{end}{PART}" for end in WRITTEN)
        return [name for name in self.names(".") if name.endswith(ends)]

    def remove(self, name: str) -> None:
        os.unlink(self.full(name))

    def lock(self) -> AbstractContextManager[None]:
        from tablebase.tables.locks import locked

        return locked(self._path, LOCK)

    def name_of(self, path: str) -> str | None:
        folder, name = os.path.split(os.path.realpath(path))
        return name if folder == os.path.realpath(self._path) else None


class _Opened(Stretches):
    _file = -1

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._turn = allocate_lock()
        self.size = os.fstat(self._file).st_size

    def read(self, size: int, at: int) -> bytes:
        if hasattr(os, "pread"):  # no two threads share a position
            return os.pread(self._file, size, at)
        with self._turn:
            os.lseek(self._file, at, os.SEEK_SET)
            return os.read(self._file, size)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        self.close()


def tables_store(asked: object) -> Store:
    """Where the tables are: as asked, or `PIPELINE_OUTPUTS`, or `outputs`."""
    if isinstance(asked, Store):
        return asked
    return Folder(str(asked or os.environ.get("PIPELINE_OUTPUTS") or DEFAULT_FOLDER))
