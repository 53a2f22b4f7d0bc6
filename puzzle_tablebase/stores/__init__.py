"""Stores of published files, and `open_store`. Folders are here, web hosts and buckets in `remote`.

A store gives files by name, with random access, and writes them as a whole. Callers pass names and
get bytes and streams; only a store knows the path of a file, if it has one. A failed read raises
OSError, a failed write StoreError. A single lookup uses this module, so only small modules are
imported at the top.
"""

from __future__ import annotations

import errno
import io
import os
import stat

from puzzle_tablebase.errors import (
    BadRequest,
    FileChanged,
    NotAFile,
    NotAFolder,
    StoreError,
    TableDamaged,
    TableError,
    TableMissing,
    TableUnreadable,
    Unreachable,
    hide_login,
    quote,
)
from puzzle_tablebase.process import explain_os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import IO, Any

    from puzzle_tablebase.stores.new_files import TemporaryFiles


MANIFEST = "manifest.json"
BACKUP = ".manifest.backup"
"""Copy of the manifest, written before it: it is read if the manifest is damaged."""
WORK = ".work/"
"""The hidden folder of a store for temporary files and checkpoints."""
TEMPORARY_SUFFIX = ".unpublished"
"""Suffix of a file that is being written; no other program uses it."""
PARTIAL_COPY_SUFFIX = ".pieces"
"""Suffix of the part of a file that is copied so far; a copy that was killed resumes from it."""
DEFAULT_FOLDER = "outputs"
LOCK = ".lock"
MAX_WHOLE_BYTES = 64 << 20
"""The largest file that is read whole: a manifest, and what a host without ranges sends."""
STREAM_BYTES = 4 << 20
"""Bytes that a stream reads at a time: of a URL, each read is a request."""
ATTEMPTS = 3
"""How often a reader reads the manifest and a file until they match."""
CHANGED = "it has changed since it was opened"


def get_default_location() -> str:
    """Return the default location of the tables: `PIPELINE_OUTPUTS`, or else `outputs`."""
    return os.environ.get("PIPELINE_OUTPUTS") or DEFAULT_FOLDER


class Address:
    """An address or a path that a user gave; as text it has no user name, password and query."""

    def __init__(self, full: str) -> None:
        self.full = full

    def __str__(self) -> str:
        shown = hide_login(self.full)
        return shown.partition("?")[0].partition("#")[0] if "://" in shown else shown

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"


def make_scheme_error(address: Address) -> BadRequest:
    """Make the error for an address that is not that of a store."""
    hint = "Choose a folder, or a URL with s3://, gs://, az:// or https://"
    return BadRequest(f"{quote(str(address))} is not a supported store", hint)


class RandomAccessFile:
    """An open file that many threads read at once, each at any position."""

    is_remote = False
    """Whether each read is a request, so that reads should be combined."""
    is_pinned = True
    """Whether all reads are of one version of the file; otherwise FileChanged is raised."""

    _descriptor = -1

    def __init__(self, file: IO[bytes]) -> None:
        with file:  # a file object that is not closed would print a warning
            self.size = file.seek(0, os.SEEK_END)
            file.seek(0)  # where libraries begin
            self._descriptor = os.dup(file.fileno())
        self._changed = os.fstat(self._descriptor).st_mtime_ns

    def read(self, size: int, at: int) -> bytes:
        """Read up to `size` bytes at an offset; fewer at the end of the file."""
        end = min(at + size, self.size)
        data = os.pread(self._descriptor, end - at, at) if 0 <= at < end else b""
        # a build publishes another file under its name; other programs may write over it
        if os.fstat(self._descriptor).st_mtime_ns != self._changed:
            raise FileChanged(CHANGED)
        return data

    def read_parts(self, parts: list[tuple[int, int]]) -> list[bytes]:
        """Read several parts, each given by its size and offset."""
        return [self.read(size, at) for size, at in parts]

    def load(self) -> None:
        """Fetch the whole file if each read is a request, because it will be read repeatedly."""

    def open_stream(self, buffer: int = STREAM_BYTES) -> IO[bytes]:
        """Open a stream of this file, even if its name now leads to another, with its own position.

        `buffer`: the bytes that are read at a time; 0: as many as each read asks for.
        """
        stream: Any = _Stream(self)
        return io.BufferedReader(stream, buffer) if buffer else stream

    def open_source(self) -> IO[bytes]:
        """Open this file for a library, which could mistake a path for a pattern or a URL."""
        return open(os.dup(self._descriptor), "rb", buffering=0)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    __del__ = close


class _Stream(io.RawIOBase):
    """A stream of a file that is shared with other streams."""

    def __init__(self, file: RandomAccessFile) -> None:
        self._file = file
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
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


class Store:
    """Published tables, as readers see them; `str` returns the path or URL for commands."""

    outputs: str | None = None
    """The store as a build's option names it; "" for the default, None if no build can write to
    it.
    """

    def locate(self, name: str) -> str:
        """Return the path or URL of a file, for messages."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Drop everything cached, so that changed files are read again."""

    def list_names(self, prefix: str = "") -> list[str]:
        """List the names with a prefix, in order; raise OSError if that fails.

        The prefix may include the folder `WORK`. A store that does not exist has no names.
        """
        raise NotImplementedError

    def get_size(self, name: str) -> int:
        """Return the bytes of a file; raise NotAFile if it is something else."""
        raise NotImplementedError

    def open(self, name: str) -> IO[bytes]:
        """Open a file for reading from its beginning; it is seekable."""
        raise NotImplementedError

    def read(self, name: str, max_bytes: int | None = None) -> bytes:
        """Read a whole file; raise NotAFile if it has more than `max_bytes` bytes."""
        with self.open(name) as file:
            data = file.read() if max_bytes is None else file.read(max_bytes + 1)
        if max_bytes is not None and len(data) > max_bytes:
            raise NotAFile(f"it has more than {max_bytes:,} bytes")
        return data

    def open_random_access(self, name: str) -> RandomAccessFile:
        """Open a file for random access; all reads are of one version."""
        return RandomAccessFile(self.open(name))


class Folder(Store):
    """A folder of tables, the one store that tables are built in."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)

    def __str__(self) -> str:
        return self._path

    @property
    def outputs(self) -> str:  # type: ignore[override]  # it may change with the environment
        return "" if self._path == DEFAULT_FOLDER == get_default_location() else self._path

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the absolute path: another process may have another working folder."""
        return Folder, (os.path.abspath(self._path),)

    def locate(self, name: str) -> str:
        return os.path.join(self._path, name)

    def list_names(self, prefix: str = "") -> list[str]:
        folder, slash, prefix = prefix.rpartition("/")
        try:
            names = os.listdir(self.locate(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(folder + slash + name for name in names if name.startswith(prefix))

    def get_size(self, name: str) -> int:
        status = os.stat(self.locate(name))
        _require_file(status.st_mode)
        return status.st_size

    def get_state(self, name: str) -> tuple[int, int, int]:
        """Return the size of a file, the time of its last change and its inode."""
        status = os.stat(self.locate(name))
        return status.st_size, status.st_mtime_ns, status.st_ino

    def open(self, name: str) -> IO[bytes]:
        return open(self.locate(name), "rb", opener=_open_file)

    def write_files(self, *names: str) -> AbstractContextManager[TemporaryFiles]:
        """Open new files, invisible until they are published; unpublished ones are removed."""
        from puzzle_tablebase.stores import new_files

        targets = [
            (self.locate(name), self.locate(WORK + new_files.name_temporary())) for name in names
        ]
        return new_files.write_new_files(targets, self._make_error)

    def reopen_for_writing(self, hidden: str) -> AbstractContextManager[IO[bytes]]:
        """Open an unpublished file to write parts of it, which are synced at the end."""
        from puzzle_tablebase.stores.new_files import reopen_for_writing

        return reopen_for_writing(self.locate(hidden), self._make_error)

    def write(self, name: str, data: bytes) -> None:
        """Write a small file, as a whole or not at all."""
        with self.write_files(name) as files:
            files[0].write(data)
            files.finish()
            files.publish()

    def update(self, name: str, change: Callable[[bytes | None], bytes]) -> None:
        """Replace a file by `change` of its contents (None: no file); the caller holds the lock."""
        try:
            old_data = self.read(name, MAX_WHOLE_BYTES)
        except FileNotFoundError:
            old_data = None
        self.write(name, change(old_data))

    def append(self, name: str, data: bytes) -> None:
        """Append to a file, which is created if it is missing; raise OSError if that fails."""
        path = self.locate(name)
        if "/" in name:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "ab", opener=_open_own_file) as file:
            file.write(data)

    def rename(self, hidden: str, name: str) -> None:
        """Sync a hidden file of the folder, and give it its name."""
        from puzzle_tablebase.stores.new_files import sync_and_rename

        with self._translate_errors():
            sync_and_rename(self.locate(hidden), self.locate(name))

    def remove(self, name: str) -> None:
        """Remove a file, if it is there, and a folder of checkpoints with its last.

        Raise StoreError if that fails.
        """
        path = self.locate(name)
        with self._translate_errors():
            try:
                os.unlink(path)
            except FileNotFoundError:
                return
        if name.count("/") > 1:
            try:
                os.rmdir(os.path.dirname(path))
            except OSError:
                return

    def _create(self) -> None:
        with self._translate_errors():
            os.makedirs(self._path, exist_ok=True)

    def require_space(self, work: str, needed: int) -> None:
        """Raise StoreError if the disk has fewer free bytes than `needed`."""
        status = os.statvfs(self._path)
        free = status.f_bavail * status.f_frsize
        if free < needed:
            sizes = f"{needed / 1e9:.2f} GB of disk; free: {free / 1e9:.2f} GB"
            hint = "Free some space, or choose another folder."
            raise StoreError(self._path, f"{work} needs {sizes}", hint)

    def _translate_errors(self) -> AbstractContextManager[None]:
        from puzzle_tablebase.stores.new_files import translate_errors

        return translate_errors(self._make_error)

    def _make_error(self, error: OSError) -> StoreError:
        from puzzle_tablebase.stores.new_files import make_store_error

        return make_store_error(self._path, error)

    def lock(self) -> AbstractContextManager[None]:
        """Create the folder and lock it for one writer; raise StoreError if that fails."""
        from puzzle_tablebase.stores.new_files import lock_folder

        self._create()
        return lock_folder(self._path, LOCK)


def _open_file(path: str, flags: int) -> int:
    """Open a regular file and nothing else, because opening a named pipe may block."""
    descriptor = os.open(path, flags | os.O_NONBLOCK, 0o666)
    try:
        _require_file(os.fstat(descriptor).st_mode)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _open_own_file(path: str, flags: int) -> int:
    """Open a file of the folder itself; links are refused, because they may lead out of it."""
    try:
        return _open_file(path, flags | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotAFile("it is a link, not a file") from error
        raise


def _require_file(mode: int) -> None:
    """Raise an OSError if the mode is not that of a regular file."""
    if not stat.S_ISREG(mode):
        names = {stat.S_IFDIR: "folder", stat.S_IFIFO: "named pipe"}
        raise NotAFile(f"it is a {names.get(stat.S_IFMT(mode), 'device')}, not a file")


# ---- opening -----------------------------------------------------------------------------------


def open_store(location: object) -> Store:
    """Open the store of a path or URL; by default `PIPELINE_OUTPUTS`, or else `outputs`.

    A store is returned as it is; BadRequest for a text that names no store.
    """
    if isinstance(location, Store):
        return location
    given = get_default_location() if location is None else location
    text = os.path.expanduser(str(given))
    address = Address(text)
    # messages must be able to show it: in UTF-8
    if not text or "\0" in text or text.encode(errors="ignore").decode() != text:
        problem = f"{quote(str(address))} is neither a folder's name in UTF-8 nor a URL"
        raise BadRequest(problem, "Example: outputs, or https://example.org/tables")
    if "://" in text:
        from puzzle_tablebase.stores.remote import RemoteStore

        return RemoteStore(text)
    if str(address) != text:  # commands and files would have its password
        raise make_scheme_error(address)
    return Folder(text)


def open_folder(location: object) -> Folder:
    """Open the folder of a path, to build in it; NotAFolder for the address of another store."""
    store = open_store(location)
    if isinstance(store, Folder):
        return store
    raise NotAFolder(store)


def make_damage_error(
    store: Store, name: str, problem: str, suffix: str = "parquet"
) -> TableDamaged:
    """Make the error for a file that is as published, but contradicts itself."""
    return TableDamaged(store, f"{name}.{suffix}", problem, name, needs_force=True)


def list_files(store: Store, prefix: str = "") -> list[str]:
    """List the names of a store's files; raise TableUnreadable if they cannot be listed."""
    try:
        return store.list_names(prefix)
    except OSError as error:
        raise make_open_error(store, "", error) from error


def make_open_error(
    store: Store, file: str, error: OSError, table: str | None = None
) -> TableError:
    """Make the error for a file that did not open: it is missing, damaged or unreadable.

    `table`: the name that builds it; None if a build does not help, as when a store does not
    answer.
    """
    if isinstance(error, FileNotFoundError):
        return TableMissing(store, file, table)
    if isinstance(error, FileChanged):
        return TableDamaged(store, file, str(error), table)
    if isinstance(error, Unreachable):
        hint = "Check the address, the network and the credentials"
        return TableUnreadable(store, file, str(error), hint)
    hint = "Check what is there and its permissions"
    return TableUnreadable(store, file, explain_os_error(error), hint, table)
