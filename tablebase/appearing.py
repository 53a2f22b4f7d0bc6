"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tablebase.interrupts import Undone, making

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Refusing = Callable[[], AbstractContextManager[None]]
"""Gives a block for whatever the system may refuse, and says what that is then."""


class _Told(io.FileIO):
    """A file that tells what it refuses, however deep in a library it is written to."""

    def __init__(self, path: str, refusing: Refusing) -> None:
        super().__init__(path, "wb")
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
            with contextlib.ExitStack() as stack:
                files: list[IO[bytes]] = []
                with making, refusing():
                    for _, part in places:
                        told = _Told(part, refusing)
                        files.append(stack.enter_context(io.BufferedWriter(told)))
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
