"""The index of a table, mapped and checked whole: header, size, checksum, and the manifest's word.

Only the standard library's light parts are imported. A file that is missing, short, foreign,
damaged, of another version, or of another table than the manifest lists is never read as an answer.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib

from pipeline.errors import TableDamaged, TableMissing, TableVersionError
from pipeline.tables import FORMAT_VERSION, MANIFEST
from pipeline.tables.index import CRC_AT, HEADER, MAGIC
from pipeline.tables.mending import DEFAULT_FOLDER, mending, unopened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pipeline.puzzle import Table


def tables_folder(asked: object) -> str:
    """Where the tables are: as asked, or `PIPELINE_OUTPUTS`, or `outputs`."""
    return str(asked or os.environ.get("PIPELINE_OUTPUTS") or DEFAULT_FOLDER)


# all pages at once where the system can: the checksum reads every one of them anyway
_MAPPED = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)


class Index:
    """An open index: `data` is the records' bytes."""

    __slots__ = ("_unpack", "data", "width")

    def __init__(self, folder: str, stage: str, table: Table) -> None:
        path = os.path.join(folder, table.index_file)
        command = mending(stage, folder)
        content = _listed(folder, table)
        if content is None:
            raise TableMissing(path, command)
        try:
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size < HEADER.size:
                    problem = f"{size} bytes do not hold its header of {HEADER.size}"
                    raise TableDamaged(path, problem, command)
                data = memoryview(mmap.mmap(file.fileno(), 0, flags=_MAPPED, prot=mmap.PROT_READ))
        except OSError as error:
            raise unopened(path, error, command) from error
        magic, version, width, count, name, hashed, crc = HEADER.unpack_from(data)
        if magic != MAGIC:
            raise TableDamaged(path, "it does not begin as an index does", command)
        if version != FORMAT_VERSION:
            raise TableVersionError(path, version, FORMAT_VERSION, command)
        if name.rstrip(b"\0") != table.name.encode():
            raise TableDamaged(path, "it is the index of another table", command)
        if width != struct.calcsize(table.record) or size != HEADER.size + width * count:
            raise TableDamaged(path, f"{size} bytes are not its {count} records", command)
        if zlib.crc32(data[HEADER.size :], zlib.crc32(data[:CRC_AT])) != crc:
            raise TableDamaged(path, "its checksum is wrong", command)
        if hashed.hex() != content:
            raise TableDamaged(path, "it was made from another table than is published", command)
        self.data = data[HEADER.size :]
        self.width = width
        self._unpack = struct.Struct(table.record).unpack_from

    def record(self, rank: int) -> tuple[Any, ...]:
        """The fields of a rank's record."""
        return self._unpack(self.data, rank * self.width)


def _listed(folder: str, table: Table) -> str | None:
    """The content hash that the manifest gives to the table whose index this is, if it lists it.

    A manifest written by this program is read by its text alone: importing a JSON parser would cost
    more than all the rest of a lookup. One that lists no such index is parsed: it may be broken.
    """
    path = os.path.join(folder, MANIFEST)
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        refused = unopened(path, error, mending("", folder, force=True))
        if isinstance(refused, TableMissing):
            return None
        raise refused from error
    head = b'{\n "format_version": %d,\n' % FORMAT_VERSION
    key = b'\n  "%s": "' % table.index_file.encode()
    at = text.find(key) + len(key)
    if text.startswith(head) and at >= len(key) and text.endswith(b"\n}\n"):
        return text[at : at + 64].decode("ascii", "replace")
    from pipeline.tables.manifest import parse_manifest

    parse_manifest(text.decode("utf-8", "replace"), path)
    return None
