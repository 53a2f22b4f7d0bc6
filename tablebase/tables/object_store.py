"""Tables in an object store, by a URL that fsspec knows: `s3://bucket/prefix`.

There is no rename and no lock. A file is there once its upload is complete, in one step of the
store's own. What is published is what the manifest says, and that is changed only where it still
is what it was when it was read.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import IO, Any, cast

from tablebase.errors import BadRequest, OutputsError, quoted
from tablebase.stdio import reason
from tablebase.tables.store import LOCK, Opened, Store, Unreachable

ATTEMPTS = 20
"""How often a file is changed anew because another has changed it meanwhile."""
NEW, OTHER = {"IfNoneMatch": "*"}, {"IfMatch": f'"{0:032}"'}
"""Conditions of a put: that there is no such file; that there is one that nobody has written."""
STRETCH = 1 << 20
"""Bytes asked for at once where a file is read on and on."""


class Objects(Store):
    """Tables in an object store. Only S3 is written to: its puts can be made conditional."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def __str__(self) -> str:
        return self._url

    def full(self, name: str) -> str:
        return f"{self._url}/{name}"

    def is_read_only(self) -> bool:
        files, _ = self._place()
        return not _can_be_written(files)

    def names(self, begin: str = "") -> list[str]:
        files, root = self._place()
        try:
            with _reaching(files):
                paths = files.ls(root, detail=False)
        except FileNotFoundError:
            return []
        except Unreachable as error:
            # many servers of files list none; nothing is built there, so nothing is unfinished
            if self.is_read_only() and 400 <= error.status < 500:
                return []
            raise
        names = (path.rpartition("/")[2] for path in paths)
        return sorted(name for name in names if name.startswith(begin) and name)

    def size(self, name: str) -> int:
        found = self._info(name)
        if found["type"] != "file":
            raise IsADirectoryError(errno.EISDIR, "it is a folder", self.full(name))
        if found["size"] is None:
            raise Unreachable("the server does not say how long it is")
        return int(found["size"])

    def open(self, name: str) -> IO[bytes]:
        return io.BufferedReader(_Onwards(self.opened(name)), STRETCH)

    def opened(self, name: str) -> Opened:
        files, root = self._place()
        return _Ranged(files, f"{root}/{name}", self.size(name))

    @contextlib.contextmanager
    def appearing(
        self, *names: str, durable: bool = True, shared: bool = False
    ) -> Iterator[list[IO[bytes]]]:
        files, root = self._place()
        with contextlib.ExitStack() as undone:
            new = list[_Upload]()
            for name in names:
                with self._refusing():
                    file = files.open(f"{root}/{name}", "wb", autocommit=False)
                undone.callback(_discarded, file)
                new.append(_Upload(file, self._refusing))
            yield cast("list[IO[bytes]]", new)
            with self._refusing():
                for upload in new:
                    upload.file.close()
                for upload in new:
                    upload.file.commit()
            undone.pop_all()

    def change(self, name: str, change: Callable[[bytes | None], bytes]) -> None:
        for _ in range(ATTEMPTS):
            try:
                only = {"IfMatch": self._info(name)["ETag"]}  # before it is read: never too new
                text = change(self.read(name))
            except FileNotFoundError:
                only, text = NEW, change(None)
            if self._put(name, text, only):
                return
        raise OutputsError(self._url, f"others change {name} all the time", "Try again later.")

    def remove(self, name: str) -> None:
        files, root = self._place()
        with self._refusing():
            files.rm_file(f"{root}/{name}")

    def ready(self) -> None:
        files, root = self._place()
        if not _can_be_written(files):
            problem = "only folders and s3:// can be written to"
            raise OutputsError(self._url, problem, "Choose one with --outputs.")
        bucket, _, key = f"{root}/".partition("/")
        with self._refusing():  # this place alone: others in the bucket may be nobody's business
            files.call_s3("list_objects_v2", Bucket=bucket, Prefix=key, MaxKeys=1)
        made = self._put(LOCK, b"", NEW)  # it stays, as in a folder
        if (made and self._put(LOCK, b"", NEW)) or self._put(LOCK, b"", OTHER):
            problem = "it replaces files that it was told not to replace"
            hint = "Choose a store with conditional puts, or a folder."
            raise OutputsError(self._url, problem, hint)

    def _put(self, name: str, text: bytes, only: dict[str, str]) -> bool:
        """Whether a file was written, on a condition that the store itself looks at."""
        files, root = self._place()
        bucket, _, key = f"{root}/{name}".partition("/")
        with self._refusing():
            try:
                files.call_s3("put_object", Bucket=bucket, Key=key, Body=text, **only)
            except OSError as error:
                if not _is_overtaken(error):
                    raise
                return False
        return True

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """None is held: builders that meet make the same bytes, or their manifests differ."""
        self.ready()
        yield

    def name_of(self, path: str) -> str | None:
        place, _, name = path.rpartition("/")
        return name if place == self._url else None

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        files, _ = self._place()
        try:
            with _reaching(files):
                yield
        except OSError as error:
            hint = "Choose another place with --outputs."
            raise OutputsError(self._url, reason(error), hint) from error

    def _info(self, name: str) -> dict[str, Any]:
        files, root = self._place()
        with _reaching(files):
            found: dict[str, Any] = files.info(f"{root}/{name}")
        return found

    def _place(self) -> tuple[Any, str]:
        """The file system, and where in it the tables are."""
        return found(self._url, os.getpid())


@functools.lru_cache
def found(url: str, process: int) -> tuple[Any, str]:
    """Where a URL leads; a forked process has its own connections."""
    try:
        from fsspec.core import url_to_fs

        place: tuple[Any, str] = url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        hint = "Run: pip install 'puzzle-tablebase[objects]'"
        raise BadRequest(f"{url} needs a package: {error}", hint) from error
    except ValueError as error:
        hint = "Choose a folder, or a URL that fsspec knows, such as s3://bucket/prefix"
        raise BadRequest(f"{quoted(url)} is no place for tables", hint) from error
    return place


class _Upload(io.RawIOBase):
    """A new file that is only written on and on."""

    def __init__(self, file: Any, refusing: Callable[[], AbstractContextManager[None]]) -> None:
        self.file = file
        self._refusing = refusing

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        with self._refusing():
            return int(self.file.write(data))


class _Ranged(Opened):
    """A file that is read by one request a stretch."""

    def __init__(self, files: Any, path: str, size: int) -> None:
        self._files = files
        self._path = path
        self.size = size

    def read(self, size: int, at: int) -> bytes:
        end = min(at + size, self.size)
        if at >= end:
            return b""
        with _reaching(self._files):
            data: bytes = self._files.cat_file(self._path, start=at, end=end)
        if len(data) != end - at:
            raise Unreachable(f"{len(data):,} bytes came instead of {end - at:,}")
        return data

    def close(self) -> None:
        pass

    __del__ = close


class _Onwards(io.RawIOBase):
    """The same as a file with a place."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._opened.size)[whence]
        return self._at

    def readall(self) -> bytes:
        data = self._opened.read(self._opened.size, self._at)
        self._at += len(data)
        return data

    def readinto(self, into: Any) -> int:
        data = self._opened.read(len(into), self._at)
        into[: len(data)] = data
        self._at += len(data)
        return len(data)


def _can_be_written(files: Any) -> bool:
    """Whether tables can be built in a file system: puts must be conditional."""
    return hasattr(files, "call_s3")


@contextlib.contextmanager
def _reaching(files: Any) -> Iterator[None]:
    """Make Unreachable of whatever a store's own package raises.

    FileNotFoundError stays where there is no such file. Of HTTP it means any failure, and there is
    a cause.
    """
    try:
        yield
    except IsADirectoryError:
        raise
    except Exception as error:
        missing = isinstance(error, FileNotFoundError)
        if missing and (error.__cause__ is None or _can_be_written(files)):
            raise
        raise Unreachable(*_explained(error)) from error


def _explained(error: BaseException) -> tuple[str, int]:
    """Why a store was not reached, and the HTTP status if it answered."""
    causes = [error]
    while causes[-1].__cause__:
        causes.append(causes[-1].__cause__)
    for cause in causes:
        answer = getattr(cause, "response", None) or {}
        status = getattr(cause, "status", 0)
        status = status or answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if status:
            said = answer.get("Error", {}).get("Message") or getattr(cause, "message", "")
            return f"HTTP status {status}: {said}".rstrip(": ."), status
    for cause in causes:
        if isinstance(cause, OSError) and cause.strerror:
            known = (cause.errno or 0) > 0  # names that are not found have numbers of their own
            return (reason(cause) if known else cause.strerror), 0
    if isinstance(error, TimeoutError):
        return "it does not answer", 0
    said = " ".join(str(causes[-1]).split()).rstrip(".")
    return said or type(causes[-1]).__name__, 0


def _discarded(file: Any) -> None:
    with contextlib.suppress(Exception):  # nobody sees an upload that was not completed
        file.discard()
    file.closed = True  # or it would be completed when it is forgotten


def _is_overtaken(error: OSError) -> bool:
    """Whether a put was refused because the file is no longer what it was."""
    said = getattr(error.__cause__, "response", {}).get("Error", {})
    return said.get("Code") in ("PreconditionFailed", "ConditionalRequestConflict")
