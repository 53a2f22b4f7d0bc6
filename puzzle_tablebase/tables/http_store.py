"""Tables on any static HTTP host, read in parts: `https://host/tables`.

Nothing is asked for twice: the manifest is fetched once and gives the sizes of all other files, so
a file is opened without a request, and a small one is fetched whole. A query in the URL, as of a
signed address, is sent with every request and never shown.
"""

from __future__ import annotations

import io
import json
from functools import partial
from threading import Lock
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from puzzle_tablebase.errors import BadRequest, Unreachable
from puzzle_tablebase.errors import quote as show
from puzzle_tablebase.tables import MANIFEST
from puzzle_tablebase.tables.http_client import LIMITS, HttpClient, HttpLimits
from puzzle_tablebase.tables.range_file import READ_BYTES, Content, RangeFile, SequentialReader
from puzzle_tablebase.tables.store import RandomAccessFile, Store

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


class HttpStore(Store):
    """A read-only store on a static host."""

    is_read_only = True

    def __init__(self, url: str, limits: HttpLimits = LIMITS) -> None:
        self._url, self._limits = url, limits
        try:
            scheme, place, path, self._query, _ = urlsplit(url)
        except ValueError:  # half an address of IPv6
            place = ""
        if not place:
            raise BadRequest(f"{show(url)} names no host", "Example: https://example.org/tables")
        path = path.rstrip("/")
        self._base = f"{scheme}://{place}{path}"
        self._shown = f"{scheme}://{place.rpartition('@')[2]}{path}"
        self._client = HttpClient(self._tell_wait, limits)
        self._lock = Lock()
        self._manifest: bytes | None = None
        self._sizes: dict[str, int] = {}
        self._is_fresh = False

    def __str__(self) -> str:
        return self._shown

    def __reduce__(self) -> tuple[object, ...]:
        return HttpStore, (self._url, self._limits)

    def locate(self, name: str) -> str:
        return f"{self._shown}/{name}"

    def list_names(self, begin: str = "") -> list[str]:
        """Return no names: static hosts list no files, and nothing unfinished is in them."""
        return []

    def ask_one_question(self) -> AbstractContextManager[object]:
        return self._client.ask_one_question()

    def _tell_wait(self, seconds: int) -> None:
        if self.on_wait:
            self.on_wait(self._shown, seconds)

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
        return RangeFile(partial(self.fetch, name), self.get_size(name) if size is None else size)

    def refresh(self) -> None:
        """Forget the manifest, and have caches on the way ask the host for all that follows."""
        with self._lock:
            self._manifest, self._is_fresh = None, True


def _list_sizes(manifest: bytes) -> dict[str, int]:
    """Return the bytes of each file that a manifest lists; none if it is no manifest.

    A file with versions of several sizes is left out.
    """
    sizes: dict[str, int] = {}
    differing = set[str]()

    def note_size(entry: dict[str, Any]) -> dict[str, Any]:
        file, size = entry.get("file"), entry.get("bytes")
        if isinstance(file, str) and isinstance(size, int) and sizes.setdefault(file, size) != size:
            differing.add(file)
        return entry

    try:
        json.loads(manifest, object_hook=note_size)
    except (ValueError, RecursionError):
        return {}
    return {file: size for file, size in sizes.items() if file not in differing}
