"""Tables in object stores, by a URL that fsspec supports: `s3://bucket/prefix`.

There is no rename and no lock. A file appears in one step of the object store, once its upload is
complete. The manifest lists what is published, and is replaced only if it has not changed since it
was read.
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

from tablebase.errors import BadRequest, StoreError, quote
from tablebase.stdio import explain_os_error
from tablebase.tables.sequential_reader import SequentialReader
from tablebase.tables.store import LOCK, RandomAccessFile, Store, Unreachable

ATTEMPTS = 20
"""Most attempts to update a file that other builds keep changing."""
IF_ABSENT, IF_OTHER = {"IfNoneMatch": "*"}, {"IfMatch": f'"{0:032}"'}
"""Conditions of a put: that the file does not exist; that it has an ETag that no file has."""
READ_BYTES = 1 << 20
"""Bytes of each request when a file is read sequentially."""


class ObjectStore(Store):
    """A store whose files are objects. Only S3 can be written to: it supports conditional puts."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def __str__(self) -> str:
        return self._url

    def locate(self, name: str) -> str:
        return f"{self._url}/{name}"

    def is_read_only(self) -> bool:
        files, _ = self._open_root()
        return not _can_be_written(files)

    def list_names(self, begin: str = "") -> list[str]:
        files, root = self._open_root()
        try:
            with _translate_read_errors(files):
                paths = files.ls(root, detail=False)
        except FileNotFoundError:
            return []
        except Unreachable as error:
            # many file servers cannot list files; nothing is built there, so nothing is unfinished
            if self.is_read_only() and 400 <= error.status < 500:
                return []
            raise
        names = (path.rpartition("/")[2] for path in paths)
        return sorted(name for name in names if name.startswith(begin) and name)

    def get_size(self, name: str) -> int:
        info = self._get_info(name)
        if info["type"] != "file":
            raise IsADirectoryError(errno.EISDIR, "it is a folder", self.locate(name))
        if info["size"] is None:
            raise Unreachable("the server does not say how long it is")
        return int(info["size"])

    def open(self, name: str) -> IO[bytes]:
        return io.BufferedReader(SequentialReader(self.open_random_access(name)), READ_BYTES)

    def open_random_access(self, name: str) -> RandomAccessFile:
        files, root = self._open_root()
        return _RangeReader(files, f"{root}/{name}", self.get_size(name))

    def open_subfolder(self, name: str) -> Store:
        return ObjectStore(self.locate(name))

    @contextlib.contextmanager
    def write_atomically(
        self, *names: str, durable: bool = True, shared: bool = False
    ) -> Iterator[list[IO[bytes]]]:
        files, root = self._open_root()
        with contextlib.ExitStack() as cleanup:
            uploads = list[_Upload]()
            for name in names:
                with self._translate_store_errors():
                    file = files.open(f"{root}/{name}", "wb", autocommit=False)
                cleanup.callback(_discard, file)
                uploads.append(_Upload(file, self._translate_store_errors))
            yield cast("list[IO[bytes]]", uploads)
            with self._translate_store_errors():
                for upload in uploads:
                    upload.file.close()
                for upload in uploads:
                    upload.file.commit()
            cleanup.pop_all()

    def update(self, name: str, change: Callable[[bytes | None], bytes]) -> None:
        for _ in range(ATTEMPTS):
            try:
                # the ETag first: a change between the two requests then fails the condition
                condition = {"IfMatch": self._get_info(name)["ETag"]}
                text = change(self.read(name))
            except FileNotFoundError:
                condition, text = IF_ABSENT, change(None)
            if self._put_if(name, text, condition):
                return
        raise StoreError(self._url, f"other builds keep changing {name}", "Try again later.")

    def remove(self, name: str) -> None:
        files, root = self._open_root()
        with self._translate_store_errors():
            files.rm_file(f"{root}/{name}")

    def make_ready(self) -> None:
        files, root = self._open_root()
        if not _can_be_written(files):
            problem = "only folders and s3:// can be written to"
            raise StoreError(self._url, problem, "Choose one with --outputs.")
        bucket, _, key = f"{root}/".partition("/")
        # this prefix alone: the user may not be allowed to list others
        with self._translate_store_errors():
            files.call_s3("list_objects_v2", Bucket=bucket, Prefix=key, MaxKeys=1)
        # the file stays, as the lock file in a folder does
        is_created = self._put_if(LOCK, b"", IF_ABSENT)
        if (is_created and self._put_if(LOCK, b"", IF_ABSENT)) or self._put_if(LOCK, b"", IF_OTHER):
            problem = "it ignores conditional writes"
            hint = "Choose a store with conditional puts, or a folder."
            raise StoreError(self._url, problem, hint)

    def _put_if(self, name: str, text: bytes, condition: dict[str, str]) -> bool:
        """Write a file on a condition that the store checks; return whether it held."""
        files, root = self._open_root()
        bucket, _, key = f"{root}/{name}".partition("/")
        with self._translate_store_errors():
            try:
                files.call_s3("put_object", Bucket=bucket, Key=key, Body=text, **condition)
            except OSError as error:
                if not _is_condition_failure(error):
                    raise
                return False
        return True

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Make the store ready; there is no lock.

        Builds at the same time write equal files, or their manifest entries differ.
        """
        self.make_ready()
        yield

    def find_name(self, path: str) -> str | None:
        location, _, name = path.rpartition("/")
        return name if location == self._url else None

    @contextlib.contextmanager
    def _translate_store_errors(self) -> Iterator[None]:
        files, _ = self._open_root()
        try:
            with _translate_read_errors(files):
                yield
        except OSError as error:
            hint = "Choose another place with --outputs."
            raise StoreError(self._url, explain_os_error(error), hint) from error

    def _get_info(self, name: str) -> dict[str, Any]:
        files, root = self._open_root()
        with _translate_read_errors(files):
            info: dict[str, Any] = files.info(f"{root}/{name}")
        return info

    def _open_root(self) -> tuple[Any, str]:
        """Return the file system, and the tables' path in it."""
        return open_file_system(self._url, os.getpid())


@functools.lru_cache
def open_file_system(url: str, process: int) -> tuple[Any, str]:
    """Return the file system and the path of a URL.

    `process` is part of the cache key, so that a forked process opens its own connections.
    """
    try:
        from fsspec.core import url_to_fs

        root: tuple[Any, str] = url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        hint = "Run: pip install 'puzzle-tablebase[objects]'"
        raise BadRequest(f"{url} needs a package: {error}", hint) from error
    except ValueError as error:
        hint = "Choose a folder, or a URL that fsspec knows, such as s3://bucket/prefix"
        raise BadRequest(f"{quote(url)} is not a supported store", hint) from error
    return root


class _Upload(io.RawIOBase):
    """A new file that is written sequentially."""

    def __init__(
        self, file: Any, translate_errors: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self.file = file
        self._translate_errors = translate_errors

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        with self._translate_errors():
            return int(self.file.write(data))


class _RangeReader(RandomAccessFile):
    """A file that is read by one request for each range of bytes."""

    def __init__(self, files: Any, path: str, size: int) -> None:
        self._files = files
        self._path = path
        self.size = size

    def read(self, size: int, at: int) -> bytes:
        end = min(at + size, self.size)
        if at >= end:
            return b""
        with _translate_read_errors(self._files):
            data: bytes = self._files.cat_file(self._path, start=at, end=end)
        if len(data) != end - at:
            raise Unreachable(f"{len(data):,} bytes came instead of {end - at:,}")
        return data

    def close(self) -> None:
        pass

    __del__ = close


def _can_be_written(files: Any) -> bool:
    """Return whether tables can be built in a file system: it needs conditional puts."""
    return hasattr(files, "call_s3")


@contextlib.contextmanager
def _translate_read_errors(files: Any) -> Iterator[None]:
    """Turn any error of the store's library in the block into Unreachable.

    FileNotFoundError stays as it is where the file does not exist. For HTTP the library raises it
    for any failure, with a cause; then it is translated too.
    """
    try:
        yield
    except IsADirectoryError:
        raise
    except Exception as error:
        is_missing = isinstance(error, FileNotFoundError)
        if is_missing and (error.__cause__ is None or _can_be_written(files)):
            raise
        raise Unreachable(*_explain(error)) from error


def _explain(error: BaseException) -> tuple[str, int]:
    """Return the reason why a store was not reached, and the HTTP status, 0 if it sent none."""
    causes = [error]
    while causes[-1].__cause__:
        causes.append(causes[-1].__cause__)
    for cause in causes:
        response = getattr(cause, "response", None) or {}
        status = getattr(cause, "status", 0)
        status = status or response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if status:
            message = response.get("Error", {}).get("Message") or getattr(cause, "message", "")
            return f"HTTP status {status}: {message}".rstrip(": ."), status
    for cause in causes:
        if isinstance(cause, OSError) and cause.strerror:
            is_system_error = (cause.errno or 0) > 0  # failed name lookups have other numbers
            return (explain_os_error(cause) if is_system_error else cause.strerror), 0
    if isinstance(error, TimeoutError):
        return "it does not answer", 0
    message = " ".join(str(causes[-1]).split()).rstrip(".")
    return message or type(causes[-1]).__name__, 0


def _discard(file: Any) -> None:
    with contextlib.suppress(Exception):  # an upload that was not completed is invisible
        file.discard()
    file.closed = True  # or its finalizer would complete the upload


def _is_condition_failure(error: OSError) -> bool:
    """Return whether a put was refused because the file has changed."""
    details = getattr(error.__cause__, "response", {}).get("Error", {})
    return details.get("Code") in ("PreconditionFailed", "ConditionalRequestConflict")
