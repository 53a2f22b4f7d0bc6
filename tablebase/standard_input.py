"""Standard input that waits for bytes: a non-blocking pipe returns None where none has come yet."""

from __future__ import annotations

import io
import sys

from tablebase.stdio import get_encoding, wait_until_ready

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class BlockingReader(io.RawIOBase):
    """Reader of a descriptor, which stays open when the reader is closed."""

    def __init__(self, descriptor: int) -> None:
        self._raw = io.FileIO(descriptor, "r", closefd=False)

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._raw.fileno()

    def isatty(self) -> bool:
        return self._raw.isatty()

    def readinto(self, buffer: WriteableBuffer) -> int:
        while (count := self._raw.readinto(buffer)) is None:
            wait_until_ready(self._raw.fileno(), for_writing=False)
        return count


def wrap_standard_input() -> None:
    """Wrap standard input, after `wrap_standard_outputs`, unless a caller has put another stream
    in its place."""
    if sys.stdin is sys.__stdin__:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(BlockingReader(0)), get_encoding(sys.stdin))
