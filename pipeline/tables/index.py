"""The index of a table: a 64-byte header, then fixed-width records; record r answers for rank r.

Header, little-endian: magic `PTIX`, format version and record width (16 bits each), record count
(32 bits), table name (16 bytes, zero-padded), the table's content hash (32 bytes), and the CRC-32
of all the rest of the file. Only the standard library is imported, so that a lone lookup can
share these words.
"""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

    from pipeline.puzzle import Columns, Table

HEADER = struct.Struct("<4sHHI16s32sI")
MAGIC = b"PTIX"
CRC_AT = HEADER.size - 4


def write_index(file: IO[bytes], table: Table, fields: Columns, content: str) -> int:
    """Write a table's index from one array a field; returns the number of records."""
    import zlib

    import numpy as np

    from pipeline.tables import FORMAT_VERSION

    names = [name for name, _ in table.index]
    formats = [letter if letter.endswith("s") else f"<{letter}" for _, letter in table.index]
    formats = [f"S{letter[:-1]}" if letter.endswith("s") else letter for letter in formats]
    count = len(fields[names[0]])
    records = np.zeros(count, dtype={"names": names, "formats": formats})
    for name in names:
        records[name] = fields[name]
        if records[name].dtype.kind == "u" and np.any(records[name] != fields[name]):
            from pipeline.errors import SearchError

            raise SearchError(f"A value of {name} does not fit the index of {table.name}.")
    body = records.tobytes()
    header = HEADER.pack(
        MAGIC,
        FORMAT_VERSION,
        records.itemsize,
        count,
        table.name.encode(),
        bytes.fromhex(content),
        0,
    )
    crc = zlib.crc32(body, zlib.crc32(header[:CRC_AT]))
    for part in (header[:CRC_AT], struct.pack("<I", crc), body):
        file.write(part)
    return count
