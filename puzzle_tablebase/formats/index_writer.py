"""The writer of indexes, whose blocks are written as their records come, and the header last."""

from __future__ import annotations

import hashlib
import json
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats.index import (
    BLOCK_BYTES,
    BODY_BYTES,
    CHECKSUM,
    HEADER,
    INDEX_VERSION,
    MAGIC,
    MAX_NAME_BYTES,
    compute_checksum,
    count_blocks,
    make_record_type,
)
from puzzle_tablebase.schema import Table

if TYPE_CHECKING:
    from puzzle_tablebase.schema import Columns


BLOCKS_PER_WRITE = 1 << 6
"""Blocks that are written together."""


def make_seed(table: Table) -> bytes:
    """Make the seed of a table's blocks: known before its search, so that blocks may be written in
    any order, by whoever has their records."""
    described = [INDEX_VERSION, table.name, table.index, table.recipe.parameters]
    text = json.dumps(described, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()


class Written(NamedTuple):
    """Consecutive records of an index: the blocks that have all of theirs are in its file.

    `first`: the rank of the first record; `checksums`: those of the blocks. `head` and `tail` are
    the bytes of the records before and after them, whose blocks need others, too.
    """

    first: int
    records: int
    head: bytes
    checksums: npt.NDArray[np.uint32]
    tail: bytes


class BlockWriter:
    """The writer of blocks of a table's index of `count` records, to their places in a file.

    Several may write to the same file, each the records that it has.
    """

    def __init__(self, file: IO[bytes], table: Table, count: int) -> None:
        self._file, self.table, self.count = file, table, count
        self._type = make_record_type(table)
        self.width = self._type.itemsize
        if self.width > BODY_BYTES or len(table.name.encode()) > MAX_NAME_BYTES:
            raise SearchError(f"The records or the name of {table.name} do not fit an index.")
        self.seed = make_seed(table)
        self.per_block = BODY_BYTES // self.width

    def write(self, first: int, fields: Columns) -> Written:
        """Write the blocks of consecutive records, the first of which has this rank.

        `fields`: an array for each field.
        """
        end = first + len(fields[self.table.index[0][0]])
        if end > self.count:
            raise self.make_error(f"a record {end - 1:,}")
        begin = min(-(-first // self.per_block) * self.per_block, end)
        stop = end if end == self.count else max(begin, end - end % self.per_block)
        step = self.per_block * BLOCKS_PER_WRITE
        checksums = [np.zeros(0, "<u4")]
        for at in range(begin, stop, step):
            data = self._encode(fields, at - first, min(at + step, stop) - first)
            checksums.append(self.write_blocks(at // self.per_block, data))
        head = self._encode(fields, 0, begin - first)
        tail = self._encode(fields, stop - first, end - first)
        return Written(first, end - first, head, np.concatenate(checksums), tail)

    def _encode(self, fields: Columns, begin: int, end: int) -> bytes:
        """Return the bytes of some of the records."""
        records = np.zeros(end - begin, self._type)
        for name, _ in self.table.index:
            values = fields[name][begin:end]
            with np.errstate(all="ignore"):
                records[name] = values
            if np.any(records[name] != values):
                title = self.table.name
                raise SearchError(f"A value of {name} does not fit the index of {title}.")
        return records.tobytes()

    def write_blocks(self, first: int, data: bytes) -> npt.NDArray[np.uint32]:
        """Write the blocks of consecutive records, all of theirs; return their checksums."""
        size = self.per_block * self.width
        count = -(-len(data) // size)
        blocks = np.zeros((count, BLOCK_BYTES), np.uint8)
        bodies = np.frombuffer(data.ljust(count * size, b"\0"), np.uint8)
        blocks[:, :size] = bodies.reshape(count, size)
        checksums = np.array(
            [
                compute_checksum(self.seed, number, block[:BODY_BYTES].data)
                for number, block in enumerate(blocks, first + 1)
            ],
            "<u4",
        )
        blocks[:, BODY_BYTES:] = checksums[:, None].view(np.uint8)
        self.write_at((first + 1) * BLOCK_BYTES, blocks.tobytes())
        return checksums

    def write_at(self, place: int, data: bytes) -> None:
        self._file.seek(place)
        self._file.write(data)

    def make_error(self, problem: str) -> SearchError:
        count = f"{self.count:,} records"
        return SearchError(f"The index of {self.table.name} has {problem}; expected: {count}.")


class IndexWriter:
    """The writer of a table's index of `count` records, which come in any order, each once.

    A block is written as soon as all its records are there; the header is last.
    """

    def __init__(self, file: IO[bytes], table: Table, count: int) -> None:
        self._blocks = BlockWriter(file, table, count)
        blocks = count_blocks(self._blocks.width, count) - 1
        self._checksums, self._is_written = np.zeros(blocks, "<u4"), np.zeros(blocks, np.bool_)
        self._begun = dict[int, dict[int, bytes]]()
        """For blocks some of whose records are there: these, by the rank of the first."""

    def write(self, first: int, fields: Columns) -> None:
        """Write consecutive records, the first of which has this rank: an array for each field."""
        self.add(self._blocks.write(first, fields))

    def add(self, written: Written) -> None:
        """Add records whose blocks are in the file already."""
        first, records, head, checksums, tail = written
        self._keep(first, head)
        self._note(-(-first // self._blocks.per_block), checksums)
        self._keep(first + records - len(tail) // self._blocks.width, tail)

    def _keep(self, first: int, data: bytes) -> None:
        """Keep records of one block until its others are there, and write it then."""
        if not data:
            return
        number = first // self._blocks.per_block
        begun = self._begun.setdefault(number, {})
        begun[first] = data
        begin = number * self._blocks.per_block
        records = min(begin + self._blocks.per_block, self._blocks.count) - begin
        if sum(map(len, begun.values())) == records * self._blocks.width:
            whole = b"".join(begun[at] for at in sorted(begun))
            self._note(number, self._blocks.write_blocks(number, whole))
            del self._begun[number]

    def _note(self, first: int, checksums: npt.NDArray[np.uint32]) -> None:
        """Note the checksums of consecutive blocks that are in the file."""
        span = slice(first, first + len(checksums))
        if self._is_written[span].any():
            raise self._blocks.make_error("some records twice")
        self._is_written[span] = True
        self._checksums[span] = checksums

    def finish(self) -> str:
        """Write the header, once all records are there, and return the digest."""
        if not self._is_written.all():
            raise self._blocks.make_error(f"only {self._is_written.sum():,} of its blocks")
        blocks, digest = self._blocks, hashlib.sha256(self._checksums.tobytes())
        header = HEADER.pack(
            *(MAGIC, INDEX_VERSION, 0, blocks.width, BLOCK_BYTES, blocks.count),
            *(blocks.seed, blocks.table.name.encode(), digest.digest()),
        )
        body = header.ljust(BODY_BYTES, b"\0")
        blocks.write_at(0, body + CHECKSUM.pack(compute_checksum(blocks.seed, 0, body)))
        return digest.hexdigest()
