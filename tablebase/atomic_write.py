"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tablebase.signals import Undone, making
from tablebase.write_lock import lock_file

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Refusing = Callable[[], AbstractContextManager[None]]
"""Gives a block for whatever the system may refuse, and says what that is then."""


class _Told(io.FileIO):
    """A file that tells what it refuses, however deep in a library it is written to."""

    def __init__(self, descriptor: int, refusing: Refusing) -> None:
        super().__init__(descriptor, "wb")
        self._refusing = refusing

    def write(self, data: ReadableBuffer) -> int:
        with self._refusing():
            return super().write(data)


@contextlib.contextmanager
def appearing(
    *places: tuple[str, str], durable: bool = True, refusing: Refusing = nullcontext
) -> Iterator[list[IO[bytes]]]:
    """New files, each a path and a part.

    The parts take the paths' names when the block has ended well and all are written, else they go.
    """

    def gone() -> None:
        for _, part in places:
            Path(part).unlink(missing_ok=True)

    with Undone(gone):
        try:
            with contextlib.ExitStack() as locks:
                with contextlib.ExitStack() as stack:
                    files: list[IO[bytes]] = []
                    with making, refusing():
                        for _, part in places:
                            told = _Told(_open_locked(part), refusing)
                            files.append(stack.enter_context(io.BufferedWriter(told)))
                            # a lock lasts as long as any descriptor: until the file has its name
                            locks.callback(os.close, os.dup(told.fileno()))
                    yield files
                    with refusing():
                        for file in files:
                            file.flush()
                            if durable:
                                os.fsync(file.fileno())
                with refusing():
                    for path, part in places:
                        os.replace(part, path)
        finally:
            gone()


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
