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
    from collections.abc import Iterable
    from typing import IO

    import numpy as np

    from tablebase.puzzle import Columns, Table

MAGIC = b"PTIX"
BLOCK_BYTES = 4096
BODY_BYTES = BLOCK_BYTES - 4
"""Bytes of a block before its checksum."""
HEADER = struct.Struct("<4sHHIIQ32s64s")
"""Magic, format version, zero, width and size of block, count, content hash, the table's name."""
BLOCK_NUMBER = struct.Struct("<Q")
CHECKSUM = struct.Struct("<I")
MAX_NAME_BYTES = 64


def compute_checksum(content: bytes, block: int, body: bytes | memoryview) -> int:
    """A block's checksum: it tells another table's block, and one in another place, from this."""
    return zlib.crc32(body, zlib.crc32(BLOCK_NUMBER.pack(block), zlib.crc32(content)))


def count_blocks(width: int, count: int) -> int:
    """How many blocks hold so many records of that width, the header's included."""
    return 1 + -(-count // (BODY_BYTES // width))


def make_record_type(table: Table) -> np.dtype[np.void]:
    """A record as numpy has it."""
    import numpy as np

    formats = [f"S{form[:-1]}" if form.endswith("s") else f"<{form}" for _, form in table.index]
    return np.dtype({"names": [name for name, _ in table.index], "formats": formats})


def write_index(
    file: IO[bytes], table: Table, count: int, chunks: Iterable[Columns], content: str
) -> None:
    """Write a table's index of so many records, from one array a field, some ranks at a time."""
    import numpy as np

    from tablebase.errors import SearchError
    from tablebase.tables import INDEX_VERSION

    form = make_record_type(table)
    width, title = form.itemsize, table.name.encode()
    if width > BODY_BYTES or len(title) > MAX_NAME_BYTES:
        raise SearchError(f"The records or the name of {table.name} do not fit an index.")
    content_hash = bytes.fromhex(content)

    def write_block(number: int, data: bytes) -> None:
        data = data.ljust(BODY_BYTES, b"\0")
        file.write(data + CHECKSUM.pack(compute_checksum(content_hash, number, data)))

    step = BODY_BYTES // width * width
    write_block(
        0, HEADER.pack(MAGIC, INDEX_VERSION, 0, width, BLOCK_BYTES, count, content_hash, title)
    )
    written, number, waiting = 0, 1, b""
    for fields in chunks:
        records = np.zeros(len(fields[table.index[0][0]]), form)
        for name, _ in table.index:
            records[name] = fields[name]
            if records[name].dtype.kind == "u" and np.any(records[name] != fields[name]):
                raise SearchError(f"A value of {name} does not fit the index of {table.name}.")
        written += len(records)
        waiting += records.tobytes()
        whole = len(waiting) // step
        for at in range(whole):
            write_block(number + at, waiting[at * step : (at + 1) * step])
        number, waiting = number + whole, waiting[whole * step :]
    if waiting:
        write_block(number, waiting)
    if written != count:
        raise SearchError(f"The index of {table.name} has {written:,} records, not {count:,}.")
