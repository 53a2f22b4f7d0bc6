"""Format of a table's index: blocks of 4 KiB, each with a checksum; its header, reader and writer.

Block 0 is the header; the others hold the records, record r for rank r. No record spans two blocks,
so the block of a rank is found by arithmetic, read alone and checked. docs/format/index.md
describes every byte. Only the standard library is imported at the top, so that a single lookup can
use this module.
"""

from __future__ import annotations

import zlib

from puzzle_tablebase.errors import SearchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from struct import Struct
    from typing import IO, Any

    import numpy as np
    import numpy.typing as npt

    from puzzle_tablebase.schema import Columns, Table
else:
    from _struct import Struct  # all that `struct` has, without a module to find and read

MAGIC = b"PTIX"
BLOCK_BYTES = 4096
BODY_BYTES = BLOCK_BYTES - 4
"""Bytes of a block before its checksum."""
HEADER = Struct("<4sHHIIQ32s64s")
"""Magic, format version, 0, bytes of a record and of a block, count, content hash, table name."""
BLOCK_NUMBER = Struct("<Q")
CHECKSUM = Struct("<I")
MAX_NAME_BYTES = 64
BLOCKS_PER_READ = 1 << 8
"""Blocks that are read together, when all are read in order."""


class IndexProblem(Exception):
    """Error for bytes that are not the index of a table; `version`: that of another format."""

    def __init__(self, problem: str, version: int | None = None) -> None:
        super().__init__(problem)
        self.version = version


class Header:
    """The fields of an index's header, as block 0 has them; the table's name without zeros."""

    __slots__ = ("block", "content", "count", "magic", "name", "version", "width", "zero")

    def __init__(self, data: bytes) -> None:
        fields = HEADER.unpack_from(data.ljust(HEADER.size, b"\0"))
        self.magic, self.version, self.zero, self.width, self.block, self.count = fields[:6]
        self.content: bytes = fields[6]
        self.name: bytes = fields[7].rstrip(b"\0")


def parse_header(data: bytes, size: int, table: Table) -> Header:
    """Parse block 0 of a table's index of so many bytes; raise IndexProblem if it does not match.

    The content hash is not compared.
    """
    from puzzle_tablebase.formats import INDEX_VERSION

    header = Header(data)
    if header.magic != MAGIC:
        raise IndexProblem("it is not an index file")
    if len(data) < HEADER.size:
        raise IndexProblem(f"{len(data)} bytes are too few for its header")
    if header.version != INDEX_VERSION:
        raise IndexProblem(f"it has format version {header.version}", header.version)
    check_block(header.content, 0, data)
    if header.name != table.name.encode():
        raise IndexProblem("it is the index of another table")
    width = make_record_struct(table).size
    if (header.zero, header.width, header.block) != (0, width, BLOCK_BYTES):
        raise IndexProblem("its records do not match its table")
    if size != BLOCK_BYTES * count_blocks(width, header.count):
        raise IndexProblem(f"{header.count:,} records do not match its {size:,} bytes")
    return header


def check_block(content: bytes, number: int, data: bytes) -> bytes:
    """Return what a block holds before its checksum; raise IndexProblem if that is wrong."""
    body = data[:BODY_BYTES]
    if data[BODY_BYTES:] != CHECKSUM.pack(compute_checksum(content, number, body)):
        raise IndexProblem(f"the checksum of block {number:,} is wrong")
    return body


def make_record_struct(table: Table) -> Struct:
    """Make the structure of one record of a table's index."""
    return Struct(table.record_format)


def compute_checksum(content: bytes, block: int, body: bytes | memoryview) -> int:
    """Compute a block's checksum.

    It includes the content hash and the block's number, so that a block of another table or from
    another place does not pass.
    """
    return zlib.crc32(body, zlib.crc32(BLOCK_NUMBER.pack(block), zlib.crc32(content)))


def count_blocks(width: int, count: int) -> int:
    """Count the blocks of `count` records of `width` bytes, the header included."""
    return 1 + -(-count // (BODY_BYTES // width))


def compute_index_bytes(table: Table, rows: int) -> int:
    """Compute the bytes of the index of a table with so many rows; 0 if it has none."""
    if not table.index:
        return 0
    return BLOCK_BYTES * count_blocks(make_record_struct(table).size, rows)


def make_record_type(table: Table) -> np.dtype[np.void]:
    """Make the numpy type of a table's index records."""
    import numpy as np

    formats = [f"S{form[:-1]}" if form.endswith("s") else f"<{form}" for _, form in table.index]
    return np.dtype({"names": [name for name, _ in table.index], "formats": formats})


def read_records(
    file: IO[bytes], table: Table, count: int, content: bytes | None = None
) -> Iterator[npt.NDArray[Any]]:
    """Read all records of an index, which must have as many blocks as they need, in chunks.

    The file begins with its header. `content`: the content hash; without it the checksums are not
    compared, because that is done already.
    """
    import numpy as np

    record_type = make_record_type(table)
    per_block, number, begin = BODY_BYTES // record_type.itemsize, 1, 0
    file.seek(BLOCK_BYTES)
    while data := file.read(BLOCKS_PER_READ * BLOCK_BYTES):
        if content is not None:
            for at in range(0, len(data), BLOCK_BYTES):
                check_block(content, number, data[at : at + BLOCK_BYTES])
                number += 1
        blocks = np.frombuffer(data, np.uint8).reshape(-1, BLOCK_BYTES)
        used = np.ascontiguousarray(blocks[:, : per_block * record_type.itemsize])
        records = used.view(record_type).ravel()[: count - begin]
        yield records
        begin += len(records)


def write_index(
    file: IO[bytes], table: Table, count: int, chunks: Iterable[Columns], content: str
) -> None:
    """Write a table's index of `count` records.

    Each chunk has consecutive ranks, with one array for each field. `content`: the content hash.
    """
    import numpy as np

    from puzzle_tablebase.formats import INDEX_VERSION

    record_type = make_record_type(table)
    width, title = record_type.itemsize, table.name.encode()
    if width > BODY_BYTES or len(title) > MAX_NAME_BYTES:
        raise SearchError(f"The records or the name of {table.name} do not fit an index.")
    content_hash = bytes.fromhex(content)

    def write_block(number: int, data: bytes) -> None:
        data = data.ljust(BODY_BYTES, b"\0")
        file.write(data + CHECKSUM.pack(compute_checksum(content_hash, number, data)))

    body_size = BODY_BYTES // width * width
    write_block(
        0, HEADER.pack(MAGIC, INDEX_VERSION, 0, width, BLOCK_BYTES, count, content_hash, title)
    )
    written, number, pending = 0, 1, b""
    for fields in chunks:
        records = np.zeros(len(fields[table.index[0][0]]), record_type)
        for name, _ in table.index:
            with np.errstate(all="ignore"):
                records[name] = fields[name]
            if np.any(records[name] != fields[name]):
                raise SearchError(f"A value of {name} does not fit the index of {table.name}.")
        written += len(records)
        pending += records.tobytes()
        full_blocks = len(pending) // body_size
        for at in range(full_blocks):
            write_block(number + at, pending[at * body_size : (at + 1) * body_size])
        number, pending = number + full_blocks, pending[full_blocks * body_size :]
    if pending:
        write_block(number, pending)
    if written != count:
        raise SearchError(f"The index of {table.name} has {written:,} records, not {count:,}.")
