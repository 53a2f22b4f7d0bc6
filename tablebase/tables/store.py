"""Where tables are: files by name, read in stretches, that appear whole or not at all.

Names go in, bytes and streams come out; only this room knows a table's path, if it has one. What
cannot be read is an OSError, and what cannot be written an StoreError. A lone lookup reads
through here, so only light parts are imported.
"""

from __future__ import annotations

import errno
import os
import stat
from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import IO

DEFAULT_FOLDER = "outputs"
LOCK = ".lock"
PART_SUFFIX = ".unpublished"
"""How the name of a file ends that is being written: a word of our own, no other program's."""
SHARED_SUFFIX = ".shared"
"""The same where no lock is held: several may be writing one file, each under a name of its own."""


class NotAFile(OSError):
    """A named pipe or a device in the place of a file: it may never end."""


class Unreachable(OSError):
    """A store that did not answer, or refused to, with this HTTP status if there was one."""

    def __init__(self, reason: str, status: int = 0) -> None:
        super().__init__(reason)
        self.status = status


class RandomAccessFile:
    """An open file that is read in stretches, by many threads at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._lock = allocate_lock()
        self.size = file.seek(0, os.SEEK_END)

    def read(self, size: int, at: int) -> bytes:
        with self._lock:
            self._file.seek(at)
            return self._file.read(size)

    def close(self) -> None:
        self._file.close()

    __del__ = close


class _PositionalFile(RandomAccessFile):
    """Where the system reads at a place, forked processes share no position either."""

    _descriptor = -1

    def __init__(self, file: IO[bytes]) -> None:
        with file:
            super().__init__(file)
            # a file object complains where it is not closed
            self._descriptor = os.dup(file.fileno())

    def read(self, size: int, at: int) -> bytes:
        return os.pread(self._descriptor, size, at)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    __del__ = close


class Store:
    """A place for tables; as text, what commands call it by."""

    def locate(self, name: str) -> str:
        """What messages call a file."""
        raise NotImplementedError

    def is_read_only(self) -> bool:
        """Whether a store of this kind is never built in."""
        return False

    def list_names(self, begin: str = "") -> list[str]:
        """The files' names in order, those that begin so; OSError where nobody may know.

        A store that does not exist has none.
        """
        raise NotImplementedError

    def get_size(self, name: str) -> int:
        """The bytes of a file; IsADirectoryError where what has its name is no file."""
        raise NotImplementedError

    def open(self, name: str) -> IO[bytes]:
        """A file from its beginning; seeking is possible."""
        raise NotImplementedError

    def read(self, name: str) -> bytes:
        """All of a file."""
        with self.open(name) as file:
            return file.read()

    def open_random_access(self, name: str) -> RandomAccessFile:
        return RandomAccessFile(self.open(name))

    def get_source(self, name: str) -> str | IO[bytes]:
        """A file as polars and pyarrow take it."""
        return self.open(name)

    def write_atomically(
        self, *names: str, durable: bool = True, shared: bool = False
    ) -> AbstractContextManager[list[IO[bytes]]]:
        """New files, only to be written on and on: once the block has ended well, and all of them
        are kept, they are there. `shared`: the lock is not held, and others may write the same."""
        raise NotImplementedError

    def update(self, name: str, change: Callable[[bytes | None], bytes]) -> None:
        """Write a file anew from what it holds, None where there is none; the lock is held."""
        try:
            before = self.read(name)
        except FileNotFoundError:
            before = None
        with self.write_atomically(name) as (file,):
            file.write(change(before))

    def list_unfinished(self) -> list[str]:
        """What is left of files whose writer was killed; of use only while the lock is held."""
        return []

    def is_being_written(self, name: str) -> bool:
        """Return whether a shared file's writer is alive, as far as can be known."""
        return True

    def remove(self, name: str) -> None:
        raise NotImplementedError

    def make_ready(self) -> None:
        """Make the store if it is missing; StoreError where it cannot be written to."""
        raise NotImplementedError

    def lock(self) -> AbstractContextManager[None]:
        """Hold the store, which is made ready, for one build; StoreError where that cannot be."""
        raise NotImplementedError

    def find_name(self, path: str) -> str | None:
        """The name here of the file that a path leads to, if it is one of these."""
        return None


class Folder(Store):
    """Tables in a folder."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)

    def __str__(self) -> str:
        return self._path

    def __reduce__(self) -> tuple[object, ...]:
        """For another process, which may have another working folder."""
        return Folder, (os.path.abspath(self._path),)

    def locate(self, name: str) -> str:
        return os.path.join(self._path, name)

    get_source = locate

    def list_names(self, begin: str = "") -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._path) if name.startswith(begin))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def get_size(self, name: str) -> int:
        status = os.stat(self.locate(name))
        _require_file(status.st_mode, self.locate(name))
        return status.st_size

    def open(self, name: str) -> IO[bytes]:
        return open(self.locate(name), "rb", opener=_open_file)

    def open_random_access(self, name: str) -> RandomAccessFile:
        return (_PositionalFile if hasattr(os, "pread") else RandomAccessFile)(self.open(name))

    def write_atomically(
        self, *names: str, durable: bool = True, shared: bool = False
    ) -> AbstractContextManager[list[IO[bytes]]]:
        from functools import partial

        from tablebase.atomic_write import atomic_write
        from tablebase.tables.locks import translate_store_errors

        end = f".{os.urandom(8).hex()}{SHARED_SUFFIX}" if shared else PART_SUFFIX
        hidden = (f".{name.removeprefix('.') if shared else name}{end}" for name in names)
        targets = [*zip(map(self.locate, names), map(self.locate, hidden), strict=True)]
        return atomic_write(
            *targets, durable=durable, translate_errors=partial(translate_store_errors, self._path)
        )

    def list_unfinished(self) -> list[str]:
        return [name for name in self.list_names(".") if name.endswith(PART_SUFFIX)]

    def is_being_written(self, name: str) -> bool:
        from tablebase.write_lock import is_being_written

        return is_being_written(self.locate(name))

    def remove(self, name: str) -> None:
        from tablebase.tables.locks import translate_store_errors

        with translate_store_errors(self._path):
            os.unlink(self.locate(name))

    def make_ready(self) -> None:
        from tablebase.tables.locks import translate_store_errors

        with translate_store_errors(self._path):
            os.makedirs(self._path, exist_ok=True)

    def lock(self) -> AbstractContextManager[None]:
        from tablebase.tables.locks import lock_folder

        self.make_ready()
        return lock_folder(self._path, LOCK)

    def find_name(self, path: str) -> str | None:
        folder, name = os.path.split(os.path.realpath(path))
        return name if folder == os.path.realpath(self._path) else None


def _open_file(path: str, flags: int) -> int:
    """Open a regular file alone: a named pipe that nobody writes to would never open."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    try:
        _require_file(os.fstat(descriptor).st_mode, path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _require_file(mode: int, path: str) -> None:
    """Raise an OSError for what is no regular file."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(mode):
        kind = "named pipe" if stat.S_ISFIFO(mode) else "device"
        raise NotAFile(f"it is a {kind}, not a file")
