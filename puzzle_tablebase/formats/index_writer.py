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
    """Make the seed of a table's blocks.

    It is known before the search, so tasks can write their blocks in any order.
    """
    described = [INDEX_VERSION, table.name, table.index, table.recipe.parameters]
    text = json.dumps(described, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()


class WrittenRecords(NamedTuple):
    """Consecutive records of an index: the blocks that have all of theirs are in its file.

    `first`: the rank of the first record; `checksums`: those of the blocks. `head` and `tail` are
    the bytes of the records before and after them, whose blocks need others, too.
    """

    first: int
    records: int
    head: bytes
    checksums: npt.NDArray[np.uint32]
    tail: bytes


class BlockEncoder:
    """The blocks of a table's index of `count` records, as bytes; no file is needed."""

    def __init__(self, table: Table, count: int) -> None:
        self.table, self.count = table, count
        self._type = make_record_type(table)
        self.width = self._type.itemsize
        if self.width > BODY_BYTES or len(table.name.encode()) > MAX_NAME_BYTES:
            raise SearchError(f"The records or the name of {table.name} do not fit an index.")
        self._seed = make_seed(table)
        self.per_block = BODY_BYTES // self.width

    def encode_records(self, fields: Columns, begin: int, end: int) -> bytes:
        """Return the bytes of the records `begin` to `end` of arrays, one for each field."""
        records = np.zeros(end - begin, self._type)
        for name, _ in self.table.index:
            values = fields[name][begin:end]
            with np.errstate(all="ignore"):
                records[name] = values
            if np.any(records[name] != values):
                title = self.table.name
                raise SearchError(f"A value of {name} does not fit the index of {title}.")
        return records.tobytes()

    def encode_blocks(self, first: int, data: bytes) -> tuple[bytes, npt.NDArray[np.uint32]]:
        """Return the blocks of consecutive records that fill them, and their checksums.

        `first`: the number of blocks with records before them.
        """
        size = self.per_block * self.width
        count = -(-len(data) // size)
        blocks = np.zeros((count, BLOCK_BYTES), np.uint8)
        bodies = np.frombuffer(data.ljust(count * size, b"\0"), np.uint8)
        blocks[:, :size] = bodies.reshape(count, size)
        checksums = np.array(
            [
                compute_checksum(self._seed, number, block[:BODY_BYTES].data)
                for number, block in enumerate(blocks, first + 1)
            ],
            "<u4",
        )
        blocks[:, BODY_BYTES:] = checksums[:, None].view(np.uint8)
        return blocks.tobytes(), checksums

    def encode_header(self, digest: bytes) -> bytes:
        """Return block 0 of an index with this digest."""
        header = HEADER.pack(
            *(MAGIC, INDEX_VERSION, 0, self.width, BLOCK_BYTES, self.count),
            *(self._seed, self.table.name.encode(), digest),
        )
        body = header.ljust(BODY_BYTES, b"\0")
        return body + CHECKSUM.pack(compute_checksum(self._seed, 0, body))

    def make_error(self, problem: str) -> SearchError:
        count, title = f"{self.count:,} records", self.table.name
        return SearchError(f"The index of {title} has {problem}; expected: {count}.")


def write_records(
    file: IO[bytes], encoder: BlockEncoder, first: int, fields: Columns
) -> WrittenRecords:
    """Write the blocks of consecutive records to an index, the first of which has this rank.

    Tasks may write to the same file, each the records that it has. `fields`: an array for each
    field.
    """
    end, per_block = first + len(fields[encoder.table.index[0][0]]), encoder.per_block
    if end > encoder.count:
        raise encoder.make_error(f"a record {end - 1:,}")
    begin = min(-(-first // per_block) * per_block, end)
    stop = end if end == encoder.count else max(begin, end - end % per_block)
    step = per_block * BLOCKS_PER_WRITE
    checksums = [np.zeros(0, "<u4")]
    for at in range(begin, stop, step):
        data = encoder.encode_records(fields, at - first, min(at + step, stop) - first)
        checksums.append(_write_blocks(file, encoder, at // per_block, data))
    head = encoder.encode_records(fields, 0, begin - first)
    tail = encoder.encode_records(fields, stop - first, end - first)
    return WrittenRecords(first, end - first, head, np.concatenate(checksums), tail)


def _write_blocks(
    file: IO[bytes], encoder: BlockEncoder, first: int, data: bytes
) -> npt.NDArray[np.uint32]:
    """Write the blocks of consecutive records that fill them; return the checksums."""
    blocks, checksums = encoder.encode_blocks(first, data)
    file.seek((first + 1) * BLOCK_BYTES)
    file.write(blocks)
    return checksums


class IndexWriter:
    """The writer of a table's index of `count` records, which come in any order, each once.

    A block is written as soon as all its records are there; the header is last.
    """

    def __init__(self, file: IO[bytes], table: Table, count: int) -> None:
        self._file, self._encoder = file, BlockEncoder(table, count)
        blocks = count_blocks(self._encoder.width, count) - 1
        self._checksums, self._is_written = np.zeros(blocks, "<u4"), np.zeros(blocks, np.bool_)
        self._partial = dict[int, dict[int, bytes]]()
        """The records of incomplete blocks: by block, then by the rank of the first."""

    def write(self, first: int, fields: Columns) -> None:
        """Write consecutive records, the first of which has this rank: an array for each field."""
        self.add(write_records(self._file, self._encoder, first, fields))

    def add(self, written: WrittenRecords) -> None:
        """Add records whose blocks are in the file already."""
        first, records, head, checksums, tail = written
        self._add_part(first, head)
        self._set_checksums(-(-first // self._encoder.per_block), checksums)
        self._add_part(first + records - len(tail) // self._encoder.width, tail)

    def _add_part(self, first: int, data: bytes) -> None:
        """Add records of an incomplete block; write the block once it is complete."""
        if not data:
            return
        number = first // self._encoder.per_block
        parts = self._partial.setdefault(number, {})
        parts[first] = data
        begin = number * self._encoder.per_block
        records = min(begin + self._encoder.per_block, self._encoder.count) - begin
        if sum(map(len, parts.values())) == records * self._encoder.width:
            whole = b"".join(parts[at] for at in sorted(parts))
            self._set_checksums(number, _write_blocks(self._file, self._encoder, number, whole))
            del self._partial[number]

    def _set_checksums(self, first: int, checksums: npt.NDArray[np.uint32]) -> None:
        """Set the checksums of consecutive blocks that are in the file."""
        span = slice(first, first + len(checksums))
        if self._is_written[span].any():
            raise self._encoder.make_error("some records twice")
        self._is_written[span] = True
        self._checksums[span] = checksums

    def finish(self) -> str:
        """Write the header, once all records are there, and return the digest."""
        if not self._is_written.all():
            raise self._encoder.make_error(f"only {self._is_written.sum():,} of its blocks")
        digest = hashlib.sha256(self._checksums.tobytes())
        self._file.seek(0)
        self._file.write(self._encoder.encode_header(digest.digest()))
        return digest.hexdigest()
