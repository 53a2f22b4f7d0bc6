"""The index of a table: blocks of 4 KiB, each with its checksum; record r answers for rank r.

Block 0 is the header, the others hold records that never straddle two of them, so that the block
of a rank is found by arithmetic, read alone, and known to be whole. docs/index-format.md has every
byte. Only the standard library is imported, so that a lone lookup can share these words.
"""

from __future__ import annotations

import struct
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

    from tablebase.puzzle import Columns, Table

MAGIC = b"PTIX"
BLOCK = 4096
BODY = BLOCK - 4
"""Bytes of a block before its checksum."""
HEADER = struct.Struct("<4sHHIIQ32s64s")
"""Magic, format version, zero, width and size of block, count, content hash, the table's name."""
NUMBER = struct.Struct("<Q")
CHECKSUM = struct.Struct("<I")
MOST_NAME = 64


def checksum(content: bytes, block: int, body: bytes | memoryview) -> int:
    """A block's checksum: it tells another table's block, and one in another place, from this."""
    return zlib.crc32(body, zlib.crc32(NUMBER.pack(block), zlib.crc32(content)))


def blocks(width: int, count: int) -> int:
    """How many blocks hold so many records of that width, the header's included."""
    return 1 + -(-count // (BODY // width))


def write_index(file: IO[bytes], table: Table, fields: Columns, content: str) -> int:
    """Write a table's index from one array a field; returns the number of records."""
    import numpy as np

    from tablebase.errors import SearchError
    from tablebase.tables import FORMAT_VERSION

    names = [name for name, _ in table.index]
    formats = [letter if letter.endswith("s") else f"<{letter}" for _, letter in table.index]
    formats = [f"S{letter[:-1]}" if letter.endswith("s") else letter for letter in formats]
    count = len(fields[names[0]])
    records = np.zeros(count, dtype={"names": names, "formats": formats})
    for name in names:
        records[name] = fields[name]
        if records[name].dtype.kind == "u" and np.any(records[name] != fields[name]):
            raise SearchError(f"A value of {name} does not fit the index of {table.name}.")
    width, title = records.itemsize, table.name.encode()
    if width > BODY or len(title) > MOST_NAME:
        raise SearchError(f"The records or the name of {table.name} do not fit an index.")
    hashed = bytes.fromhex(content)
    body = memoryview(records.tobytes())
    step = BODY // width * width
    header = HEADER.pack(MAGIC, FORMAT_VERSION, 0, width, BLOCK, count, hashed, title)
    for number in range(blocks(width, count)):
        data = bytes(body[(number - 1) * step : number * step]) if number else header
        data = data.ljust(BODY, b"\0")
        file.write(data + CHECKSUM.pack(checksum(hashed, number, data)))
    return count
