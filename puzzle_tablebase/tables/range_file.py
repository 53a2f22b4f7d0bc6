"""Files that are read by requests for ranges of bytes, at any position or sequentially."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from puzzle_tablebase.errors import FileChanged, Unreachable
from puzzle_tablebase.tables.store import RandomAccessFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


MAX_SMALL_BYTES = 1 << 20
"""Files up to this size are fetched whole, by one request."""
READ_BYTES = 4 << 20
"""Bytes of each request when a file is read sequentially."""
MAX_GAP_BYTES = 16 << 10
"""Ranges this near to each other are fetched as one."""
MAX_TOGETHER = 8
"""The most requests at a time."""


class Content(NamedTuple):
    """The bytes that a host sent, with what it says about their file.

    Marks of a version (`ETag`) are not compared: hosts behind a balancer give one file several, and
    the checksums in the files show whether what was read belongs together.
    """

    data: bytes
    first: int
    """The number of its first byte: 0 where the host ignores ranges."""
    total: int | None
    """Bytes of the whole file; None if the host does not say."""


class RangeFile(RandomAccessFile):
    """A file of known size; `fetch` gets the bytes from a first to a last one."""

    is_remote = True

    def __init__(self, fetch: Callable[[int, int], Content], size: int) -> None:
        self._fetch = fetch
        self.size = size
        self._begin = b""
        """The beginning of the file, as far as it was fetched whole."""

    def read(self, size: int, at: int) -> bytes:
        (data,) = self.read_parts([(size, at)])
        return data

    def read_parts(self, parts: Sequence[tuple[int, int]]) -> list[bytes]:
        spans = [(at, min(at + size, self.size)) for size, at in parts]
        missing = [(at, end) for at, end in spans if at < end and end > len(self._begin)]
        if missing and self.size <= MAX_SMALL_BYTES:
            missing = [(0, self.size)]
        fetched = [(0, self._begin), *self._fetch_together(join_spans(missing))]
        return [_cut(fetched, at, end) for at, end in spans]

    def _fetch_together(self, spans: list[tuple[int, int]]) -> list[tuple[int, bytes]]:
        """Fetch several spans at the same time; return each with its first byte."""
        if len(spans) < 2:
            return [(at, self._fetch_span(at, end)) for at, end in spans]
        from concurrent.futures import ThreadPoolExecutor
        from contextvars import copy_context

        with ThreadPoolExecutor(min(len(spans), MAX_TOGETHER)) as pool:
            # in copies of this context: all requests belong to one question
            fetched = [
                pool.submit(copy_context().run, partial(self._fetch_span, *span)) for span in spans
            ]
            return [(at, each.result()) for (at, _), each in zip(spans, fetched, strict=True)]

    def _fetch_span(self, at: int, end: int) -> bytes:
        content = self._fetch(at, end - 1)
        if content.total not in (None, self.size):
            raise FileChanged(f"it has {content.total:,} bytes instead of {self.size:,}")
        data = content.data[at - content.first :]
        if len(data) < end - at:
            raise Unreachable(f"{len(data):,} bytes came instead of {end - at:,}")
        is_unasked = len(content.data) > end - at
        if is_unasked or (at == 0 and end == self.size <= MAX_SMALL_BYTES):
            self._begin = content.data
        return data[: end - at]

    def close(self) -> None:
        self._begin = b""

    __del__ = close


def _cut(fetched: list[tuple[int, bytes]], at: int, end: int) -> bytes:
    """Return the bytes from `at` to before `end`, which one of the spans contains."""
    for begin, data in fetched:
        if begin <= at < end <= begin + len(data):
            return data[at - begin : end - begin]
    return b""


def join_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans of bytes that are near to each other, to fetch both by one request.

    >>> join_spans([(0, 10), (90_000, 90_010), (20, 30)])
    [(0, 30), (90000, 90010)]
    """
    joined = list[tuple[int, int]]()
    for at, end in sorted(spans):
        if joined and at <= joined[-1][1] + MAX_GAP_BYTES:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((at, end))
    return joined


class SequentialReader(io.RawIOBase):
    """The stream; reads go to the file, so buffer it."""

    def __init__(self, file: RandomAccessFile) -> None:
        self._file = file
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._file.size)[whence]
        return self._at

    def readall(self) -> bytes:
        data = self._file.read(self._file.size, self._at)
        self._at += len(data)
        return data

    def readinto(self, into: Any) -> int:
        data = self._file.read(len(into), self._at)
        into[: len(data)] = data
        self._at += len(data)
        return len(data)
