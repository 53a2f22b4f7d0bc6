"""Atomic writes: files appear complete or not at all, and locks show which are being written."""

from __future__ import annotations

import contextlib
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING

from puzzle_tablebase.errors import StoreError
from puzzle_tablebase.process import (
    MOVE_FILE,
    CleanupOnSignal,
    cleanup_lock,
    explain_os_error,
    is_full_disk,
    name_file_on_way,
)

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


ErrorTranslator = Callable[[], AbstractContextManager[None]]
"""Function that returns a context manager, which turns the system's errors into ours."""


class _TranslatingFile(io.FileIO):
    """A file whose write errors are translated, however deep in a library they occur."""

    def __init__(self, descriptor: int, translate_errors: ErrorTranslator) -> None:
        super().__init__(descriptor, "wb")
        self._translate_errors = translate_errors

    def write(self, data: ReadableBuffer) -> int:
        with self._translate_errors():
            return super().write(data)


@contextlib.contextmanager
def atomic_write(
    *targets: tuple[str, str], durable: bool = True, translate_errors: ErrorTranslator = nullcontext
) -> Iterator[list[IO[bytes]]]:
    """Open new files for writing; each target is a path and the name of its temporary file.

    The temporary files are renamed to their paths once the block has ended without an error and
    all are written; otherwise they are removed.
    """

    def remove_temporary_files() -> None:
        for _, temporary in targets:
            Path(temporary).unlink(missing_ok=True)

    with CleanupOnSignal(remove_temporary_files):
        try:
            with contextlib.ExitStack() as locks:
                with contextlib.ExitStack() as stack:
                    files: list[IO[bytes]] = []
                    with cleanup_lock, translate_errors():
                        for _, temporary in targets:
                            descriptor = _open_locked(temporary)
                            raw_file = _TranslatingFile(descriptor, translate_errors)
                            files.append(stack.enter_context(io.BufferedWriter(raw_file)))
                            # the lock lasts as long as any descriptor: until the file is renamed
                            locks.callback(os.close, os.dup(raw_file.fileno()))
                    yield files
                    with translate_errors():
                        for file in files:
                            file.flush()
                            if durable:
                                os.fsync(file.fileno())
                # after a signal, wait for the end: its cleanup removes the temporary files
                with cleanup_lock, translate_errors():
                    for path, temporary in targets:
                        os.replace(temporary, path)
        finally:
            remove_temporary_files()


def _open_locked(path: str) -> int:
    """Open a new file with a lock that shows other processes that it is being written."""
    while True:
        descriptor = open_new_file(path)
        lock_file(descriptor, wait=True)
        # a cleanup of killed writers' files may have removed this one before it was locked
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        os.close(descriptor)


def lock_file(descriptor: int, *, wait: bool = False) -> bool:
    """Lock an open file; return whether the lock was obtained.

    A writer waits, since others hold the lock for a moment to find out whether it is free.
    """
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def open_new_file(path: str) -> int:
    """Open a new file for writing; nothing that is there under its name is written to."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)


def remove_abandoned(path: str) -> None:
    """Remove a file whose writer was killed; a file that is being written stays.

    So does a file that this user may not open or remove: it is somebody else's. The lock is held
    until the file is removed, so that no writer can take the file meanwhile.
    """
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            if lock_file(descriptor) and os.path.samestat(os.fstat(descriptor), os.stat(path)):
                os.unlink(path)
        finally:
            os.close(descriptor)


def is_being_written(path: str) -> bool:
    """Return whether a file's writer is alive; True where that is unknown."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return True
    try:
        return not lock_file(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def lock_folder(folder: str, name: str) -> Iterator[None]:
    """Lock a folder by a file in it, which holds the id of the process.

    The lock belongs to the process, so the system releases it however the process ends.
    """
    from filelock import FileLock, Timeout  # slow to import, and most writes need no lock

    path = os.path.join(folder, name)
    lock = FileLock(path, blocking=False, preserve_lock_file=True, on_acquired=_write_owner)
    with contextlib.ExitStack() as stack:
        with translate_store_errors(folder):
            try:
                stack.enter_context(lock)
            except Timeout as error:
                problem = f"it is locked by another build (process {_read_owner(path)})"
                raise StoreError(folder, problem, "Wait until it has ended.") from error
        yield


@contextlib.contextmanager
def translate_store_errors(folder: str) -> Iterator[None]:
    """Turn the system's errors in the block into StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(folder, *_explain_error(folder, error)) from error


def _write_owner(file: int) -> None:
    os.ftruncate(file, 0)
    os.write(file, f"{os.getpid()}\n".encode())


def _read_owner(lock: str) -> str:
    with contextlib.suppress(OSError), open(lock, "rb") as file:
        return file.read(32).decode("ascii", "replace").strip() or "unknown"
    return "unknown"


def _explain_error(folder: str, error: OSError) -> tuple[str, str]:
    """Return the reason of an error and a hint."""
    reason = explain_os_error(error)
    if is_full_disk(error):
        return reason, "Free some space, or choose another folder with --outputs."
    if not error.errno:  # our own
        return reason, "Move it away."
    if os.path.islink(folder) and not os.path.exists(folder):
        return f"it is a link to {os.readlink(folder)!r}, which does not exist", "Make that folder."
    obstacle = error.filename2 or error.filename
    if error.errno == errno.EISDIR and obstacle:
        return f"{os.path.basename(obstacle)} is a folder, not a file", "Move it away."
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return name_file_on_way(folder), f"{MOVE_FILE}."
    return reason, "Choose a folder that you may write to with --outputs."
