"""The index of a table: one block is read for one record, and is known to be whole.

Only the standard library's light parts are imported. A file that is missing, short, foreign,
damaged, of another version, or of another table than the manifest lists is never read as an answer.
"""

from __future__ import annotations

import struct

from tablebase.errors import TableDamaged, TableMissing, TableVersionError
from tablebase.tables import FORMAT_VERSION, INDEX_VERSION, MANIFEST
from tablebase.tables.index_format import BLOCK, BODY, CHECKSUM, HEADER, MAGIC, blocks, checksum
from tablebase.tables.repair import mending, unopened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tablebase.puzzle import Table
    from tablebase.tables.store import Opened, Store

AT_ONCE = 256
"""Blocks asked for at once where all are wanted."""
MOST_KEPT = 512
"""Blocks kept at hand: 2 MiB."""


class Index:
    """An open index."""

    def __init__(self, store: Store, stage: str, table: Table) -> None:
        self._path = store.full(table.index_file)
        self._command = mending(stage, store)
        content = _listed(store, table)
        if content is None:
            raise TableMissing(self._path, self._command)
        try:
            self._file: Opened | None = store.opened(table.index_file)
        except OSError as error:
            raise unopened(self._path, error, self._command) from error
        self._kept: dict[int, bytes] = {}
        data = self._read(0, BLOCK)
        if data[:4] != MAGIC:
            raise self._damaged("it is not an index file")
        if len(data) < HEADER.size:
            raise self._damaged(f"{len(data)} bytes are too few for its header")
        _, version, zero, width, block, count, self._content, name = HEADER.unpack_from(data)
        if version != INDEX_VERSION:
            raise TableVersionError(self._path, version, INDEX_VERSION, self._command)
        self._whole(0, data)
        if name.rstrip(b"\0") != table.name.encode():
            raise self._damaged("it is the index of another table")
        size = self._file.size
        if (zero, width, block) != (0, struct.calcsize(table.record), BLOCK):
            raise self._damaged("its records do not match its table")
        if size != BLOCK * blocks(width, count):
            raise self._damaged(f"{count:,} records do not match its {size:,} bytes")
        if self._content.hex() != content:
            raise self._damaged("it was made from a different table than the published one")
        self.width = width
        self.count = count
        self._each = BODY // width
        self._unpack = struct.Struct(table.record).unpack_from

    def record(self, rank: int) -> tuple[Any, ...]:
        """The fields of a rank's record."""
        if not 0 <= rank < self.count:
            raise self._damaged(f"it has no record {rank:,}")
        number, at = divmod(rank, self._each)
        body = self._kept.get(number) or self._block(number)
        return self._unpack(body, at * self.width)

    def stretches(self, begin: int = 0, end: int | None = None) -> Iterator[bytes]:
        """All records, or some, those of a block at a time, each block whole."""
        end, each = self.count if end is None else end, self._each
        last = blocks(self.width, end)
        for first in range(1 + begin // each, last, AT_ONCE):
            some = range(first, min(first + AT_ONCE, last))
            data = self._read(first, len(some) * BLOCK)
            for at, block in enumerate(some):
                body = self._whole(block, data[at * BLOCK : (at + 1) * BLOCK])
                before = (block - 1) * each
                left, right = max(begin - before, 0), min(end - before, each)
                yield body[left * self.width : right * self.width]

    def records(self) -> bytes:
        """All records on end."""
        return b"".join(self.stretches())

    def close(self) -> None:
        """Let go of the file; the index answers no more."""
        self._kept = {}
        if self._file:
            self._file.close()
            self._file = None

    def _block(self, number: int) -> bytes:
        """The records of a block, counted from 0 after the header."""
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        body = self._whole(number + 1, self._read(number + 1, BLOCK))
        self._kept[number] = body
        return body

    def _read(self, block: int, size: int) -> bytes:
        if not self._file:
            raise ValueError(f"{self._path} is closed")
        try:
            return self._file.read(size, block * BLOCK)
        except OSError as error:
            raise unopened(self._path, error, self._command) from error

    def _whole(self, number: int, data: bytes) -> bytes:
        body = data[:BODY]
        found = data[BODY:]
        if found != CHECKSUM.pack(checksum(self._content, number, body)):
            raise self._damaged(f"the checksum of block {number:,} is wrong")
        return body

    def _damaged(self, problem: str) -> TableDamaged:
        return TableDamaged(self._path, problem, self._command)


def _listed(store: Store, table: Table) -> str | None:
    """The content hash that the manifest gives to the table whose index this is, if it lists it.

    A manifest written by this program is read by its text alone: importing a JSON parser takes
    longer than an answer. One that lists no such index is parsed: it may be broken.
    """
    try:
        text = store.read(MANIFEST)
    except OSError as error:
        refused = unopened(store.full(MANIFEST), error, "")
        if isinstance(refused, TableMissing):
            return None
        raise refused from error
    head = b'{\n "format_version": %d,\n' % FORMAT_VERSION
    key = b'\n  "%s": "' % table.index_file.encode()
    at = text.find(key) + len(key)
    if text.startswith(head) and at >= len(key) and text.endswith(b"\n}\n"):
        return text[at : at + 64].decode("ascii", "replace")
    from tablebase.tables.manifest import parse_manifest

    parse_manifest(text, store)
    return None
