"""The writer of indexes, whose blocks are written as their records come, and the header last."""

from __future__ import annotations

import hashlib
import json
from typing import IO, TYPE_CHECKING

import numpy as np

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats import INDEX_VERSION
from puzzle_tablebase.formats.index import (
    BLOCK_BYTES,
    BODY_BYTES,
    CHECKSUM,
    HEADER,
    MAGIC,
    MAX_NAME_BYTES,
    compute_checksum,
    count_blocks,
    make_record_type,
)
from puzzle_tablebase.schema import Table

if TYPE_CHECKING:
    from puzzle_tablebase.schema import Columns


def make_seed(table: Table) -> bytes:
    """Make the seed of a table's blocks: known before its search, so that blocks may be written in
    any order, by whoever has their records."""
    described = [INDEX_VERSION, table.name, table.index, table.recipe.parameters]
    text = json.dumps(described, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()


class IndexWriter:
    """The writer of a table's index of `count` records, which come in any order, each once.

    A block is written as soon as all its records are there; the header is last.
    """

    def __init__(self, file: IO[bytes], table: Table, count: int) -> None:
        self._file, self._table, self._count = file, table, count
        self._type = make_record_type(table)
        self._width = self._type.itemsize
        if self._width > BODY_BYTES or len(table.name.encode()) > MAX_NAME_BYTES:
            raise SearchError(f"The records or the name of {table.name} do not fit an index.")
        self._seed = make_seed(table)
        self._per_block = BODY_BYTES // self._width
        blocks = count_blocks(self._width, count) - 1
        self._checksums, self._is_written = np.zeros(blocks, "<u4"), np.zeros(blocks, np.bool_)
        self._begun = dict[int, dict[int, bytes]]()
        """For blocks some of whose records are there: these, by the rank of the first."""
        self._place = -1
        """Where the file's next byte is written, if that is known."""

    def write(self, first: int, fields: Columns) -> None:
        """Write consecutive records, the first of which has this rank: an array for each field."""
        records = np.zeros(len(fields[self._table.index[0][0]]), self._type)
        for name, _ in self._table.index:
            with np.errstate(all="ignore"):
                records[name] = fields[name]
            if np.any(records[name] != fields[name]):
                title = self._table.name
                raise SearchError(f"A value of {name} does not fit the index of {title}.")
        end = first + len(records)
        if end > self._count:
            raise self._make_error(f"a record {end - 1:,}")
        begin = min(-(-first // self._per_block) * self._per_block, end)
        stop = end if end == self._count else max(begin, end - end % self._per_block)
        head, blocks, tail = np.split(records, [begin - first, stop - first])
        self._keep(first, head.tobytes())
        self._write_blocks(begin // self._per_block, blocks.tobytes())
        self._keep(stop, tail.tobytes())

    def _keep(self, first: int, data: bytes) -> None:
        """Keep records of one block until its others are there."""
        if not data:
            return
        number = first // self._per_block
        begun = self._begun.setdefault(number, {})
        begun[first] = data
        begin = number * self._per_block
        size = (min(begin + self._per_block, self._count) - begin) * self._width
        if sum(map(len, begun.values())) == size:
            self._write_blocks(number, b"".join(begun[at] for at in sorted(begun)))
            del self._begun[number]

    def _write_blocks(self, first: int, data: bytes) -> None:
        """Write the blocks of consecutive records, all of theirs."""
        size = self._per_block * self._width
        count = -(-len(data) // size)
        if not count:
            return
        blocks = np.zeros((count, BLOCK_BYTES), np.uint8)
        bodies = np.frombuffer(data.ljust(count * size, b"\0"), np.uint8)
        blocks[:, :size] = bodies.reshape(count, size)
        span = slice(first, first + count)
        if self._is_written[span].any():
            raise self._make_error("some records twice")
        self._is_written[span] = True
        self._checksums[span] = [
            compute_checksum(self._seed, number, block[:BODY_BYTES].data)
            for number, block in enumerate(blocks, first + 1)
        ]
        blocks[:, BODY_BYTES:] = self._checksums[span, None].view(np.uint8)
        self._write_at((first + 1) * BLOCK_BYTES, blocks.tobytes())

    def _write_at(self, place: int, data: bytes) -> None:
        if place != self._place:
            self._file.seek(place)
        self._file.write(data)
        self._place = place + len(data)

    def finish(self) -> str:
        """Write the header, once all records are there, and return the digest."""
        if not self._is_written.all():
            raise self._make_error(f"only {self._is_written.sum():,} of its blocks")
        digest = hashlib.sha256(self._checksums.tobytes())
        header = HEADER.pack(
            *(MAGIC, INDEX_VERSION, 0, self._width, BLOCK_BYTES, self._count),
            *(self._seed, self._table.name.encode(), digest.digest()),
        )
        body = header.ljust(BODY_BYTES, b"\0")
        self._write_at(0, body + CHECKSUM.pack(compute_checksum(self._seed, 0, body)))
        return digest.hexdigest()

    def _make_error(self, problem: str) -> SearchError:
        count = f"{self._count:,} records"
        return SearchError(f"The index of {self._table.name} has {problem}; expected: {count}.")
