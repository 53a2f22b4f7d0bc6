"""Atomic writes: files appear complete or not at all."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tablebase.signals import CleanupOnSignal, cleanup_lock
from tablebase.write_lock import lock_file, open_new_file

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
                with translate_errors():
                    for path, temporary in targets:
                        os.replace(temporary, path)
        finally:
            remove_temporary_files()


def replace_at_once(path: str, data: bytes) -> None:
    """Replace a small file while a signal ends the process, which waits for nobody."""
    temporary = f"{path}.{os.getpid()}.new"
    try:
        with open(open_new_file(temporary), "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


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
