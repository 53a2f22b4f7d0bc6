"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tablebase.signals import CleanupOnSignal, cleanup_lock
from tablebase.write_lock import lock_file

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

ErrorTranslator = Callable[[], AbstractContextManager[None]]
"""Gives a block for whatever the system may refuse, and says what that is then."""


class _TranslatingFile(io.FileIO):
    """A file that tells what it refuses, however deep in a library it is written to."""

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
    """New files, each a path and a part.

    The parts take the paths' names when the block has ended well and all are written, else they go.
    """

    def remove_parts() -> None:
        for _, part in targets:
            Path(part).unlink(missing_ok=True)

    with CleanupOnSignal(remove_parts):
        try:
            with contextlib.ExitStack() as locks:
                with contextlib.ExitStack() as stack:
                    files: list[IO[bytes]] = []
                    with cleanup_lock, translate_errors():
                        for _, part in targets:
                            raw_file = _TranslatingFile(_open_locked(part), translate_errors)
                            files.append(stack.enter_context(io.BufferedWriter(raw_file)))
                            # a lock lasts as long as any descriptor: until the file has its name
                            locks.callback(os.close, os.dup(raw_file.fileno()))
                    yield files
                    with translate_errors():
                        for file in files:
                            file.flush()
                            if durable:
                                os.fsync(file.fileno())
                with translate_errors():
                    for path, part in targets:
                        os.replace(part, path)
        finally:
            remove_parts()


def _open_locked(path: str) -> int:
    """Open a new file that others see is being written."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0)
    flags |= getattr(os, "O_BINARY", 0)
    while True:
        descriptor = os.open(path, flags, 0o666)
        lock_file(descriptor)
        # whoever clears away dead writers' files may have removed this one before it was locked
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        os.close(descriptor)
