"""Tables on any static HTTP host, read in parts: `https://host/tables`.

Nothing is asked for twice: the manifest is fetched once and gives the sizes of all other files, so
a file is opened without a request, and a small one is fetched whole. A query in the URL, as of a
signed address, is sent with every request and never shown.
"""

from __future__ import annotations

import io
import json
from threading import Lock
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from tablebase.errors import StoreError
from tablebase.tables import MANIFEST
from tablebase.tables.http_client import Content, HttpClient
from tablebase.tables.sequential_reader import SequentialReader
from tablebase.tables.store import FileChanged, RandomAccessFile, Store, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

MAX_SMALL_BYTES = 1 << 20
"""Files up to this size are fetched whole, by one request."""
READ_BYTES = 4 << 20
"""Bytes of each request when a file is read sequentially."""
MAX_GAP_BYTES = 16 << 10
"""Ranges this near to each other are fetched as one."""
MAX_TOGETHER = 8
"""The most requests at a time."""


class HttpStore(Store):
    """A read-only store on a static host."""

    def __init__(self, url: str) -> None:
        self._url = url
        scheme, place, path, self._query, _ = urlsplit(url)
        path = path.rstrip("/")
        self._base = f"{scheme}://{place}{path}"
        self._shown = f"{scheme}://{place.rpartition('@')[2]}{path}"
        self._client = HttpClient()
        self._lock = Lock()
        self._manifest: bytes | None = None
        self._sizes: dict[str, int] = {}
        self._is_fresh = False

    def __str__(self) -> str:
        return self._shown

    def __reduce__(self) -> tuple[object, ...]:
        return HttpStore, (self._url,)

    def locate(self, name: str) -> str:
        return f"{self._shown}/{name}"

    def is_read_only(self) -> bool:
        return True

    def list_names(self, begin: str = "") -> list[str]:
        """Return no names: static hosts list no files, and nothing unfinished is in them."""
        return []

    def fetch(self, name: str, first: int = 0, last: int | None = None) -> Content:
        """Fetch a file, or a part of it."""
        url = f"{self._base}/{quote(name)}{f'?{self._query}' if self._query else ''}"
        return self._client.fetch(url, first, last, is_fresh=self._is_fresh)

    def get_size(self, name: str) -> int:
        """Return the bytes of a file, by a request for its first byte."""
        if name == MANIFEST:
            return len(self.read(name))
        content = self.fetch(name, 0, 0)
        if content.total is not None:
            return content.total
        listed = self._find_listed_size(name)
        if listed is None:
            raise Unreachable("the host does not say how long it is")
        return listed

    def _find_listed_size(self, name: str) -> int | None:
        if self._manifest is None and name != MANIFEST:
            self.read(MANIFEST)
        return self._sizes.get(name)

    def read(self, name: str) -> bytes:
        if name != MANIFEST:
            return super().read(name)
        with self._lock:
            if self._manifest is None:
                self._manifest = self.fetch(name).data
                self._sizes = _list_sizes(self._manifest)
            return self._manifest

    def open(self, name: str) -> IO[bytes]:
        if name == MANIFEST:
            return io.BytesIO(self.read(name))
        return io.BufferedReader(SequentialReader(self.open_random_access(name)), READ_BYTES)

    def open_random_access(self, name: str) -> RandomAccessFile:
        size = self._find_listed_size(name)
        return HttpFile(self, name, self.get_size(name) if size is None else size)

    def refresh(self) -> bool:
        """Forget the manifest, and have caches on the way ask the host for all that follows."""
        with self._lock:
            self._manifest, self._is_fresh = None, True
        return True

    def open_subfolder(self, name: str) -> Store:
        query = f"?{self._query}" if self._query else ""
        return HttpStore(f"{self._base}/{quote(name)}{query}")

    def write_atomically(
        self, *names: str, durable: bool = True, shared: bool = False
    ) -> AbstractContextManager[list[IO[bytes]]]:
        raise self._refuse()

    def update(self, name: str, change: Callable[[bytes | None], bytes]) -> None:
        raise self._refuse()

    def remove(self, name: str) -> None:
        raise self._refuse()

    def make_ready(self) -> None:
        raise self._refuse()

    def lock(self) -> AbstractContextManager[None]:
        raise self._refuse()

    def _refuse(self) -> StoreError:
        problem = "only folders and s3:// can be written to"
        return StoreError(self._shown, problem, "Choose one with --outputs.")


class HttpFile(RandomAccessFile):
    """A file that is read by requests for ranges; a small one is fetched whole."""

    is_remote = True

    def __init__(self, store: HttpStore, name: str, size: int) -> None:
        self._store, self._name = store, name
        self.size = size
        self._begin = b""
        """The beginning of the file, as far as it was fetched whole."""
        self._versions: set[str] = set()

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

        with ThreadPoolExecutor(min(len(spans), MAX_TOGETHER)) as pool:
            return [*pool.map(lambda span: (span[0], self._fetch_span(*span)), spans)]

    def _fetch_span(self, at: int, end: int) -> bytes:
        content = self._store.fetch(self._name, at, end - 1)
        if content.total not in (None, self.size):
            raise FileChanged(f"it has {content.total:,} bytes, the manifest lists {self.size:,}")
        data = content.data[at - content.first :]
        if len(data) < end - at:
            raise Unreachable(f"{len(data):,} bytes came instead of {end - at:,}")
        self._versions.add(content.version)
        is_unasked = len(content.data) > end - at
        if is_unasked or (at == 0 and end == self.size <= MAX_SMALL_BYTES):
            self._begin = content.data
        return data[: end - at]

    def has_changed(self) -> bool:
        """Return whether the parts that were read are of several versions of the file."""
        return len(self._versions) > 1

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


def _list_sizes(manifest: bytes) -> dict[str, int]:
    """Return the bytes of each file that a manifest lists; none if it is no manifest."""
    sizes: dict[str, int] = {}

    def note_size(entry: dict[str, Any]) -> dict[str, Any]:
        if isinstance(entry.get("file"), str) and isinstance(entry.get("bytes"), int):
            sizes[entry["file"]] = entry["bytes"]
        return entry

    try:
        json.loads(manifest, object_hook=note_size)
    except (ValueError, RecursionError):
        return {}
    return sizes
