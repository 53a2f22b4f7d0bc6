"""Format of a table's index: blocks of 4 KiB, each with a checksum; its header, and how it is read.

Block 0 is the header; the others hold the records, record r for rank r. No record spans two blocks,
so the block of a rank is found by arithmetic, read alone and checked. docs/format/index.md
describes every byte. Only the standard library is imported at the top, so that a single lookup can
use this module.
"""

from __future__ import annotations

import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from struct import Struct
    from typing import IO, Any

    import numpy as np
    import numpy.typing as npt

    from puzzle_tablebase.schema import Table
else:
    from _struct import Struct  # all that `struct` has, without a module to find and read

MAGIC = b"PTIX"
INDEX_VERSION = 3
"""Version of the index files, which other languages read without a manifest."""
BLOCK_BYTES = 4096
BODY_BYTES = BLOCK_BYTES - 4
"""Bytes of a block before its checksum."""
HEADER = Struct("<4sHHIIQ32s64s32s")
"""Magic, version, 0, bytes of a record and of a block, count, seed, table name, digest."""
BLOCK_NUMBER = Struct("<Q")
CHECKSUM = Struct("<I")
MAX_NAME_BYTES = 64
BLOCKS_PER_READ = 1 << 8
"""Blocks that are read together, when all are read in order."""


class InvalidIndex(Exception):
    """Error for bytes that are not the index of a table; `version`: that of another format."""

    def __init__(self, problem: str, version: int | None = None) -> None:
        super().__init__(problem)
        self.version = version


class Header:
    """The fields of an index's header, as block 0 has them; the table's name without zeros."""

    __slots__ = ("block", "count", "digest", "magic", "name", "seed", "version", "width", "zero")

    def __init__(self, data: bytes) -> None:
        fields = HEADER.unpack_from(data.ljust(HEADER.size, b"\0"))
        self.magic, self.version, self.zero, self.width, self.block, self.count = fields[:6]
        self.seed: bytes = fields[6]
        """The beginning of what each block's checksum is of: it depends on the table alone."""
        self.name: bytes = fields[7].rstrip(b"\0")
        self.digest: bytes = fields[8]
        """SHA-256 of the checksums of all blocks after the header."""


def parse_header(data: bytes, size: int, table: Table) -> Header:
    """Parse block 0 of a table's index of `size` bytes; raise InvalidIndex if it does not match.

    The digest is not compared: the manifest has it.
    """
    header = Header(data)
    if header.magic != MAGIC:
        raise InvalidIndex("it is not an index file")
    if len(data) < HEADER.size:
        raise InvalidIndex(f"{len(data)} bytes are too few for its header")
    if header.version != INDEX_VERSION:
        raise InvalidIndex(f"it has format version {header.version}", header.version)
    check_block(header.seed, 0, data)
    if header.name != table.name.encode():
        raise InvalidIndex("it is the index of another table")
    width = make_record_struct(table).size
    if (header.zero, header.width, header.block) != (0, width, BLOCK_BYTES):
        raise InvalidIndex("its records do not match its table")
    if size != BLOCK_BYTES * count_blocks(width, header.count):
        raise InvalidIndex(f"{header.count:,} records do not match its {size:,} bytes")
    return header


def check_block(seed: bytes, number: int, data: bytes) -> bytes:
    """Return a block without its checksum; raise InvalidIndex if the checksum is wrong."""
    body = data[:BODY_BYTES]
    if data[BODY_BYTES:] != CHECKSUM.pack(compute_checksum(seed, number, body)):
        raise InvalidIndex(f"the checksum of block {number:,} is wrong")
    return body


def make_record_struct(table: Table) -> Struct:
    """Make the structure of one record of a table's index."""
    return Struct(table.record_format)


def compute_checksum(seed: bytes, block: int, body: bytes | memoryview) -> int:
    """Compute a block's checksum.

    It includes the seed and the block's number, so a block of another table or with another number
    fails. A block of another build passes, so a reader takes all blocks from one file.
    """
    return zlib.crc32(body, zlib.crc32(BLOCK_NUMBER.pack(block), zlib.crc32(seed)))


def count_blocks(width: int, count: int) -> int:
    """Count the blocks of `count` records of `width` bytes, the header included."""
    return 1 + -(-count // (BODY_BYTES // width))


def compute_index_bytes(table: Table, rows: int) -> int:
    """Compute the bytes of the index of a table with `rows` rows; 0 if it has none."""
    if not table.index:
        return 0
    return BLOCK_BYTES * count_blocks(make_record_struct(table).size, rows)


def make_record_type(table: Table) -> np.dtype[np.void]:
    """Make the numpy type of a table's index records."""
    import numpy as np

    formats = [f"S{form[:-1]}" if form.endswith("s") else f"<{form}" for _, form in table.index]
    return np.dtype({"names": [name for name, _ in table.index], "formats": formats})


def read_records(
    file: IO[bytes], table: Table, count: int, seed: bytes | None = None
) -> Iterator[npt.NDArray[Any]]:
    """Read all `count` records of an index in chunks; the index must be complete.

    The file begins with its header. `seed`: that of the blocks; without it, the checksums are not
    compared, for callers that have done so.
    """
    import numpy as np

    record_type = make_record_type(table)
    per_block, number, begin = BODY_BYTES // record_type.itemsize, 1, 0
    file.seek(BLOCK_BYTES)
    while data := file.read(BLOCKS_PER_READ * BLOCK_BYTES):
        if seed is not None:
            for at in range(0, len(data), BLOCK_BYTES):
                check_block(seed, number, data[at : at + BLOCK_BYTES])
                number += 1
        blocks = np.frombuffer(data, np.uint8).reshape(-1, BLOCK_BYTES)
        used = np.ascontiguousarray(blocks[:, : per_block * record_type.itemsize])
        records = used.view(record_type).ravel()[: count - begin]
        yield records
        begin += len(records)
