"""The test vectors in `docs/format/vectors`: `python -m tools.format_vectors` writes them.

A test compares them with what this module makes. Valid files are written by the program; a faulty
file is one of these with some bytes changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from puzzle_tablebase.formats.encoder import encode_table
from puzzle_tablebase.formats.index import (
    BLOCK_BYTES,
    BODY_BYTES,
    CHECKSUM,
    HEADER,
    Header,
    compute_checksum,
    make_record_struct,
)
from puzzle_tablebase.formats.index_writer import IndexWriter
from puzzle_tablebase.pipeline.kinds import make
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.workers import open_workers
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.schema import Recipe, Table
from tools.sessions import ROOT

FOLDER = ROOT / "docs" / "format" / "vectors"
BOARDS = ["sliding_2x2", "sliding_2x3_all", "sliding_2x4_all"]
LONG_NAME = "n" * 64
FIELDS = ("magic", "version", "zero", "width", "block", "count", "seed", "name", "digest")


class Vector(NamedTuple):
    """A file, with what a reader expects and the results of reading it."""

    file: str
    table: Table
    data: bytes
    digest: str
    """That of the index that the manifest lists."""
    why: str
    fault: str = ""
    opens: bool = True
    is_sound: bool = True
    wrong_blocks: tuple[int, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Describe the vector as an object of `vectors.json`."""
        width = make_record_struct(self.table).size
        per_block, count = BODY_BYTES // width, Header(self.data).count if self.opens else 0
        firsts = range(0, count, per_block)
        ends = {at + step for at in firsts for step in (-1, 0, 1)} | {count - 1}
        records, refused = dict[str, str](), [count] if self.opens else []
        for rank in sorted(ends & {*range(count)}):
            number, offset = divmod(rank, per_block)
            begin = BLOCK_BYTES * (1 + number) + offset * width
            if 1 + number in self.wrong_blocks:
                refused.append(rank)
            else:
                records[str(rank)] = self.data[begin : begin + width].hex()
        return {
            "file": self.file,
            "name": self.table.name,
            "width": width,
            "digest": self.digest,
            "why": self.why,
            "fault": self.fault,
            "opens": self.opens,
            "sound": self.is_sound,
            "records": records,
            "refused": refused,
        }


def make_table(name: str, width: int) -> Table:
    """Make the table of a vector that belongs to no puzzle."""
    return Table(name, "", "", (), Recipe("graph"), (("record", f"{width}s"),))


def write_index(table: Table, count: int, first: int = 0) -> bytes:
    """Write an index; byte b of record r is 7r + 3b + `first`, modulo 256."""
    file, width = BytesIO(), make_record_struct(table).size
    numbers = 7 * np.arange(count)[:, None] + 3 * np.arange(width) + first
    records = np.ascontiguousarray(numbers.astype(np.uint8)).view(f"S{width}").ravel()
    writer = IndexWriter(file, table, count)
    writer.write(0, {"record": records})
    writer.finish()
    return file.getvalue()


def build_index(table: Table) -> bytes:
    """Build the index of a sliding board."""
    with open_workers(jobs=1) as workers:
        data, rows, index = make(table, SLIDING, Tasks(workers)), BytesIO(), BytesIO()
        encode_table(rows, index, table, data, "distance")
    return index.getvalue()


def list_vectors() -> Iterator[Vector]:
    """List all vectors."""
    yield from list_valid()
    yield from list_unopened()
    yield from list_damaged()


def list_valid() -> Iterator[Vector]:
    """List the valid files: tables of every form, and sliding boards."""
    for name, width, count, why in [
        ("three", 2, 3, "one block of records"),
        ("crossing", 64, 130, "records on three blocks, the last of them nearly empty"),
        ("uneven", 5, 819, "two bytes of a block are left over: no record straddles two"),
        ("full", 4, 1023, "the records fill their block to its last byte"),
        ("wide", 4092, 2, "a record is all of a block"),
        ("bits", 45, 91, "rows of 360 bits: 90 records in a block"),
        ("empty", 8, 0, "no records: the header alone"),
        (LONG_NAME, 1, 2, "a name of 64 bytes, with no zero byte after it"),
    ]:
        table = make_table(name, width)
        data = write_index(table, count)
        yield Vector(f"whole-{name[:8]}.idx", table, data, Header(data).digest.hex(), why)
    for table in (each for board in BOARDS for each in SLIDING.find_tables(board)):
        data, why = build_index(table), "the distances of a sliding board's states"
        yield Vector(table.index_file, table, data, Header(data).digest.hex(), why)


THREE, CROSSING = make_table("three", 2), make_table("crossing", 64)


def list_unopened() -> Iterator[Vector]:
    """List the files that must not be opened: most have right checksums."""
    data = write_index(THREE, 3)
    other = write_index(THREE, 3, first=1)
    digest = Header(data).digest.hex()

    def refuse(file: str, fault: str, why: str, changed: bytes) -> Vector:
        return Vector(f"{file}.idx", THREE, changed, digest, why, fault, False, False)

    changes: list[tuple[str, str, str, dict[str, object]]] = [
        ("magic", "foreign", "it begins with PTIY", {"magic": b"PTIY"}),
        ("version-1", "version", "version 1", {"version": 1}),
        ("version-2", "version", "version 2", {"version": 2}),
        ("version-4", "version", "version 4", {"version": 4}),
        ("zero", "later", "zero is 1", {"zero": 1}),
        ("block-512", "later", "blocks of 512 bytes", {"block": 512}),
        ("width-0", "width", "records of no bytes", {"width": 0}),
        ("width-4", "width", "records of 4 bytes where the table's are of 2", {"width": 4}),
        ("width-4093", "width", "records wider than a body", {"width": 4093}),
        ("count-more", "size", "more records than the file has room for", {"count": 2047}),
        ("count-none", "size", "no records, but a block of them", {"count": 0}),
        ("count-most", "size", "so many that a sum in 64 bits overflows", {"count": 2**64 - 1}),
        ("other-name", "name", "the name of another table", {"name": b"threes"}),
        ("no-name", "name", "no name", {"name": b""}),
        ("name-tail", "name", "bytes behind the zero that ends the name", {"name": b"three\0x"}),
    ]
    for file, fault, why, fields in changes:
        yield refuse(file, fault, why, change_header(data, **fields))
    why = "version 259, whose checksum is not this one's"
    yield refuse("version-259", "version", why, edit(data, 5, lambda _: 1))
    why = "another build of the table than is published"
    yield refuse("other-digest", "digest", why, other)
    bits = [("seed", 24), ("name", 57), ("digest", 120), ("filling", 200), ("checksum", 4094)]
    for name, at in bits:
        why = f"a bit of the header's {name} is another"
        yield refuse(f"header-{name}-bit", "header", why, flip(data, at))
    for file, fault, why, size in [
        ("nothing", "foreign", "no bytes at all", 0),
        ("three-bytes", "foreign", "three bytes", 3),
        ("version-truncated", "header", "five bytes, half of a version", 5),
        ("header-short", "header", "100 bytes do not hold the header", 100),
        ("header-truncated", "header", "the last byte of the header's block is missing", 4095),
        ("header-alone", "size", "the block of records is missing", 4096),
        ("byte-short", "size", "the last byte is missing", len(data) - 1),
    ]:
        yield refuse(file, fault, why, data[:size])
    yield refuse("zeros", "foreign", "zeros alone", bytes(len(data)))
    yield refuse("byte-long", "size", "one byte follows the last block", data + b"\0")
    yield refuse("block-long", "size", "a block follows the last", data + data[BLOCK_BYTES:])


def list_damaged() -> Iterator[Vector]:
    """List the files that open, though something in them is wrong."""
    data = write_index(THREE, 3)
    fewer, why = change_header(data, count=2), "a record less than the file has"
    digest = Header(data).digest.hex()
    yield Vector("count-fewer.idx", THREE, fewer, digest, why, "filling", True, False)

    data, older = write_index(CROSSING, 130), write_index(CROSSING, 130, first=1)
    header, one, two, three = split(data)
    digest = Header(data).digest.hex()
    foreign = split(write_index(make_table("passing", 64), 130))

    def damage(file: str, fault: str, why: str, changed: bytes, *wrong: int) -> Vector:
        return Vector(f"{file}.idx", CROSSING, changed, digest, why, fault, True, False, wrong)

    at = 2 * BLOCK_BYTES
    yield damage("record-bit", "block", "a bit of a record is another", flip(data, at + 70), 2)
    why = "a bit behind the last record is another"
    yield damage("filling-bit", "block", why, flip(data, 3 * BLOCK_BYTES + 4000), 3)
    why = "a bit of a checksum is another"
    yield damage("checksum-bit", "block", why, flip(data, at + 4093), 2)
    why = "two blocks are exchanged"
    yield damage("swapped", "block", why, header + two + one + three, 1, 2)
    why = "a block is repeated instead of another"
    yield damage("twice", "block", why, header + one + one + three, 2)
    yield damage("hole", "block", "a block is all zeros", header + one + bytes(len(one)) + three, 2)
    why = "a block of another table"
    yield damage("foreign-block", "block", why, header + one + foreign[2] + three, 2)
    why = "a block of another build of the table: only a check of the whole file finds it"
    yield damage("older-block", "digest", why, header + one + split(older)[2] + three)
    why = "a byte behind the last record is no zero"
    yield damage("filling", "filling", why, reseal(edit(data, 4 * BLOCK_BYTES - 9, lambda _: 1)))
    why = f"a byte behind the header's {HEADER.size} is no zero"
    yield damage("header-filling", "filling", why, reseal(edit(data, 4000, lambda _: 1)))


# ---- changes of bytes ---------------------------------------------------------------------------


def split(data: bytes) -> list[bytes]:
    """Split an index into its blocks."""
    return [data[at : at + BLOCK_BYTES] for at in range(0, len(data), BLOCK_BYTES)]


def edit(data: bytes, at: int, change: Callable[[int], int]) -> bytes:
    """Change a byte."""
    return data[:at] + bytes([change(data[at])]) + data[at + 1 :]


def flip(data: bytes, at: int) -> bytes:
    """Change a bit of a byte."""
    return edit(data, at, lambda byte: byte ^ 4)


def change_header(data: bytes, **fields: object) -> bytes:
    """Return an index with other values in its header."""
    old = dict(zip(FIELDS, HEADER.unpack_from(data), strict=True))
    return reseal(HEADER.pack(*(old | fields).values()) + data[HEADER.size :])


def reseal(data: bytes) -> bytes:
    """Return an index in which every block has a right checksum; the digest stays."""
    seed = Header(data).seed
    bodies = [block[:BODY_BYTES] for block in split(data)]
    checksums = [compute_checksum(seed, number, body) for number, body in enumerate(bodies)]
    return b"".join(
        body + CHECKSUM.pack(checksum) for body, checksum in zip(bodies, checksums, strict=True)
    )


def make_files() -> dict[str, bytes]:
    """Make all files of the folder, by name."""
    vectors = [*list_vectors()]
    text = json.dumps([each.describe() for each in vectors], indent=1)
    return {each.file: each.data for each in vectors} | {"vectors.json": f"{text}\n".encode()}


def main() -> None:
    """Write the folder; what else is there is removed."""
    files = make_files()
    for path in FOLDER.iterdir():
        if path.name not in files:
            path.unlink()
    for name, data in files.items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
