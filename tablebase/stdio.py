"""Streams that read and write every byte, and the standard streams wrapped in them.

A raw stream may write fewer bytes than it was given and report that only in its return value, and
standard output is raw under PYTHONUNBUFFERED; a non-blocking pipe returns None where no byte has
come yet.
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


class _StandardStream(io.RawIOBase):
    """A stream of a descriptor that stays open when the stream is closed."""

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


class CompleteWriter(_StandardStream):
    """Writer of every byte: raises OutputError, and writes nothing more after an error."""

    def __init__(self, descriptor: int, name: str) -> None:
        super().__init__(descriptor, "w")
        self._name = name
        self.failure: OutputError | None = None

    def write(self, data: ReadableBuffer) -> int:
        remaining = memoryview(data).cast("B")
        size = len(remaining)
        while remaining and not self.failure:
            try:
                written = self._raw.write(remaining)
            except OSError as error:
                kind = ReaderGone if error.errno == errno.EPIPE else OutputError
                self.failure = kind(self._name, explain_os_error(error))
                raise self.failure from error
            if written is None:
                _wait_until_ready(self._raw, for_writing=True)
            else:
                remaining = remaining[written:]
        return size


class BlockingReader(_StandardStream):
    """Reader that waits for bytes where a non-blocking stream has none yet."""

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
    """Writer that discards what it cannot write: for progress and errors, which are no answers."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OutputError:
            return memoryview(data).nbytes


def explain_os_error(error: OSError) -> str:
    """Return the reason of a system error, as the end of a sentence."""
    if error.errno == errno.EBADF:
        return "it is closed"
    # not error.strerror: some libraries put texts of their own there
    return (os.strerror(error.errno) if error.errno else str(error)).lower()


def wrap_standard_streams() -> CompleteWriter:
    """Wrap the standard streams so that all bytes pass; return the writer of standard output.

    Call this once, before any file is opened: the descriptor of a closed stream is opened anew, so
    that no other file can take its number and be read or written in its place.
    """
    encodings = []
    for stream, mode in ((sys.stdin, os.O_WRONLY), (sys.stdout, 0), (sys.stderr, 0)):
        if stream is None:
            os.open(os.devnull, mode)  # the mode that makes every use an error
        encodings.append(stream.encoding if stream else "utf-8")
    stdin, stdout, stderr = (
        BlockingReader(0, "r"),
        CompleteWriter(1, "standard output"),
        BestEffortWriter(2, ""),
    )
    sys.stdin = io.TextIOWrapper(io.BufferedReader(stdin), encodings[0])
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(stdout), encodings[1], "backslashreplace")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(stderr), encodings[2], "backslashreplace", line_buffering=True
    )
    return stdout
