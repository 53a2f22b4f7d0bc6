"""Streams that give and take every byte, and the process's own three made so.

A raw stream may take fewer bytes than it was given and say so only in what it returns, and standard
output is one under PYTHONUNBUFFERED; a pipe that does not block says that there is nothing yet.
"""

from __future__ import annotations

import errno
import io
import os
import sys

from tablebase.errors import OutputError, ReaderGone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


class _OwnStream(io.RawIOBase):
    """A descriptor of the process's own: it stays open when this is closed."""

    def __init__(self, descriptor: int, mode: str) -> None:
        self._raw = io.FileIO(descriptor, mode, closefd=False)

    def readable(self) -> bool:
        return self._raw.readable()

    def writable(self) -> bool:
        return self._raw.writable()

    def fileno(self) -> int:
        return self._raw.fileno()

    def isatty(self) -> bool:
        return self._raw.isatty()


class CompleteWriter(_OwnStream):
    """Takes every byte or raises OutputError; after that nothing more is tried."""

    def __init__(self, descriptor: int, name: str) -> None:
        super().__init__(descriptor, "w")
        self._name = name
        self.failure: OutputError | None = None

    def write(self, data: ReadableBuffer) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        while rest and not self.failure:
            try:
                written = self._raw.write(rest)
            except OSError as error:
                kind = ReaderGone if error.errno == errno.EPIPE else OutputError
                self.failure = kind(self._name, explain_os_error(error))
                raise self.failure from error
            if written is None:
                _wait_until_ready(self._raw, for_writing=True)
            else:
                rest = rest[written:]
        return size


class BlockingReader(_OwnStream):
    """Waits for bytes where there are none yet."""

    def readinto(self, buffer: WriteableBuffer) -> int:
        while (count := self._raw.readinto(buffer)) is None:
            _wait_until_ready(self._raw, for_writing=False)
        return count


def _wait_until_ready(raw: io.FileIO, *, for_writing: bool) -> None:
    import select

    ready = select.poll()
    ready.register(raw, select.POLLOUT if for_writing else select.POLLIN)
    ready.poll()


class BestEffortWriter(CompleteWriter):
    """What cannot be told is not told: progress and complaints are no answers."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OutputError:
            return memoryview(data).nbytes


def explain_os_error(error: OSError) -> str:
    """Why the system refused, as the end of a sentence."""
    if error.errno == errno.EBADF:
        return "it is closed"
    # not error.strerror: some libraries tell a story of their own there
    return (os.strerror(error.errno) if error.errno else str(error)).lower()


def wrap_standard_streams() -> CompleteWriter:
    """Make the process's own streams whole; returns the one of the answers.

    Called once, before any file is opened: the number of a stream that is closed is taken, so that
    no file is written to, or read, in its place.
    """
    encodings = []
    for stream, useless in ((sys.stdin, os.O_WRONLY), (sys.stdout, 0), (sys.stderr, 0)):
        if stream is None:
            os.open(os.devnull, useless)
        encodings.append(stream.encoding if stream else "utf-8")
    keys, answers, messages = (
        BlockingReader(0, "r"),
        CompleteWriter(1, "standard output"),
        BestEffortWriter(2, ""),
    )
    sys.stdin = io.TextIOWrapper(io.BufferedReader(keys), encodings[0])
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(answers), encodings[1], "backslashreplace")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(messages), encodings[2], "backslashreplace", line_buffering=True
    )
    return answers
