"""Atomic writes: new files of a folder, invisible until they are published; the folder's lock."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import IO

from puzzle_tablebase.errors import StoreError, TablebaseError
from puzzle_tablebase.process import (
    CleanupOnSignal,
    RawOutput,
    cleanup_lock,
    explain_os_error,
)
from puzzle_tablebase.stores import TEMPORARY_SUFFIX, WORK

ErrorMaker = Callable[[OSError], TablebaseError]
"""Function that converts a system error to ours."""


class TemporaryFiles:
    """New files, written under temporary names.

    `targets`: each file's path and temporary path.
    """

    def __init__(
        self,
        targets: Sequence[tuple[str, str]],
        make_error: ErrorMaker,
    ) -> None:
        self._targets, self._make_error = targets, make_error
        self._is_finished = False
        self._outputs: list[RawOutput] = []
        self._files: list[IO[bytes]] = []

    def open(self) -> None:
        """Create the temporary files, and their folder if the store exists."""
        for _, temporary in self._targets:
            folder = os.path.dirname(temporary)
            if os.path.basename(folder) == WORK.rstrip("/"):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(folder)
            self._outputs.append(RawOutput(temporary, self._make_error))
            self._files.append(io.BufferedWriter(self._outputs[-1]))

    def __getitem__(self, number: int) -> IO[bytes]:
        return self._files[number]

    def get_hidden_name(self, number: int) -> str:
        """Return the name of a file in the store until it is published."""
        return WORK + os.path.basename(self._targets[number][1])

    def finish(self) -> None:
        """Sync all files."""
        with translate_errors(self._make_error):
            for file in self._files:
                file.flush()
                os.fsync(file.fileno())
        self._require_no_failure()
        self._is_finished = True

    @contextlib.contextmanager
    def reopen(self, number: int) -> Iterator[IO[bytes]]:
        """Open a finished file for reading."""
        with translate_errors(self._make_error), open(self._targets[number][1], "rb") as file:
            yield file

    def publish(self) -> None:
        """Give the files their names; if they are finished, write the folders to the disk too.

        A signal waits meanwhile.
        """
        with cleanup_lock, translate_errors(self._make_error):
            self.close()
            self._require_no_failure()
            for path, temporary in self._targets:
                _rename(temporary, path)
            if self._is_finished:
                for path in {os.path.dirname(path) for pair in self._targets for path in pair}:
                    sync_folder(path or ".")

    def _require_no_failure(self) -> None:
        """Raise the error of an incomplete file, which a library may have swallowed."""
        for output in self._outputs:
            if output.failure:
                raise output.failure

    def close(self) -> None:
        """Flush and close the files."""
        for file in self._files:
            file.close()

    def remove(self) -> None:
        """Remove the temporary files that were not published."""
        for _, temporary in self._targets:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


@contextlib.contextmanager
def write_new_files(
    targets: Sequence[tuple[str, str]], make_error: ErrorMaker
) -> Iterator[TemporaryFiles]:
    """Open new files; after the block or a signal, unpublished ones are removed."""
    files = TemporaryFiles(targets, make_error)
    with CleanupOnSignal(files.remove):
        try:
            with cleanup_lock, translate_errors(make_error):
                files.open()
            yield files
        finally:
            with contextlib.suppress(OSError, TablebaseError):
                files.close()
            files.remove()


@contextlib.contextmanager
def reopen_for_writing(path: str, make_error: ErrorMaker) -> Iterator[IO[bytes]]:
    """Open a file that another process or thread created, to write parts of it."""
    flags = os.O_RDWR | os.O_NOFOLLOW
    with translate_errors(make_error), os.fdopen(os.open(path, flags), "r+b") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _rename(temporary: str, path: str) -> None:
    """Rename a file; create the folder of checkpoints if it belongs there."""
    folder = os.path.dirname(path)
    if os.path.dirname(folder) == os.path.dirname(temporary):
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder)
    os.replace(temporary, path)


def name_temporary() -> str:
    """Return a new temporary name."""
    return f".{os.urandom(8).hex()}{TEMPORARY_SUFFIX}"


def sync_and_rename(hidden: str, path: str) -> None:
    """Sync a file, and rename it; signals wait meanwhile."""
    with cleanup_lock:
        with open(hidden, "rb") as file:
            os.fsync(file.fileno())
        os.replace(hidden, path)
        for each in (path, hidden):
            sync_folder(os.path.dirname(each) or ".")


def sync_folder(path: str) -> None:
    """Sync a folder's names, where the system can."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems cannot
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def lock_folder(folder: str, name: str) -> Iterator[None]:
    """Lock a folder by a file in it.

    The lock belongs to the process, so the system releases it however the process ends. The
    temporary files of builds that were killed are removed.
    """
    path, work = os.path.join(folder, name), os.path.join(folder, WORK.rstrip("/"))
    with contextlib.ExitStack() as stack:
        with translate_errors(partial(make_store_error, folder)):
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
            stack.callback(os.close, lock)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_locked = os.fstat(lock).st_nlink > 0  # no file that was removed meanwhile
            except BlockingIOError:
                is_locked = False
            if not is_locked:
                problem = "it is locked by another build"
                raise StoreError(folder, problem, "Wait until it has ended.")
            if os.path.islink(work):  # its files would be written and removed elsewhere
                raise StoreError(folder, f"{os.path.basename(work)} is a link", "Remove it.")
            with contextlib.suppress(FileNotFoundError):
                for abandoned in os.listdir(work):
                    path = os.path.join(work, abandoned)
                    if abandoned.endswith(TEMPORARY_SUFFIX):
                        os.unlink(path)
                    elif os.path.isdir(path):  # of checkpoints; if it is empty, nobody needs it
                        with contextlib.suppress(OSError):
                            os.rmdir(path)
        yield
        with contextlib.suppress(OSError):  # it has checkpoints, or is missing
            os.rmdir(work)


@contextlib.contextmanager
def translate_errors(make_error: ErrorMaker) -> Iterator[None]:
    """Turn the system's errors in the block into ours."""
    try:
        yield
    except OSError as error:
        raise make_error(error) from error


def make_store_error(folder: str, error: OSError) -> StoreError:
    """Make the error of a folder that cannot be written to."""
    path = error.filename2 or error.filename or folder
    if isinstance(error, FileNotFoundError) and str(error.filename).endswith(TEMPORARY_SUFFIX):
        problem = "another program removed a file that was being written"
        return StoreError(folder, problem, "Run one build at a time, and keep .lock.")
    where = "" if path == folder else f"{os.path.basename(path)}: "
    hint = "Free some space, or choose another folder."
    return StoreError(folder, where + explain_os_error(error), hint)
