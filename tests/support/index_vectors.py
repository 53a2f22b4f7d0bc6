"""Writer of `docs/format/vectors/`: small valid and faulty indexes, with the expected results.

It follows docs/format/index.md and shares no code with the program, so that each can reveal errors
of the other. `python -m tests.support.index_vectors` writes them again.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from math import factorial
from pathlib import Path
from random import Random

from tests.support import sliding_oracle

FOLDER = Path(__file__).parents[2] / "docs" / "format" / "vectors"
LIST = "vectors.json"


@dataclass(frozen=True)
class Vector:
    """A file, what a reader expects of it, and the results that the reader must give."""

    file: str
    name: str
    width: int
    content: str
    why: str
    fault: str
    opens: bool
    sound: bool
    records: dict[str, str] = field(default_factory=dict)
    refused: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class IndexSpec:
    """An index to be written, before its blocks have checksums."""

    name: str
    width: int
    count: int

    @property
    def content(self) -> bytes:
        return hashlib.sha256(self.name.encode()).digest()

    def record(self, number: int) -> bytes:
        return bytes((7 * number + 3 * at + number // 256) % 251 for at in range(self.width))

    def header(self, **changed: object) -> bytes:
        fields: dict[str, object] = {
            "magic": b"PTIX",
            "version": 2,
            "zero": 0,
            "width": self.width,
            "block": 4096,
            "count": self.count,
            "content": self.content,
            "name": self.name.encode(),
        }
        return struct.pack("<4sHHIIQ32s64s", *(fields | changed).values())

    def bodies(self) -> list[bytes]:
        per_block = 4092 // self.width
        firsts = range(0, self.count, per_block)
        numbers = (range(first, min(first + per_block, self.count)) for first in firsts)
        return [self.header(), *(b"".join(map(self.record, chunk)) for chunk in numbers)]

    def file(self, header: bytes | None = None, *, content: bytes | None = None) -> bytes:
        bodies = self.bodies()
        bodies[0] = header or bodies[0]
        return b"".join(
            block(content or self.content, number, body) for number, body in enumerate(bodies)
        )


@dataclass(frozen=True)
class BoardSpec(IndexSpec):
    """The index of a sliding board of up to 10 cells."""

    distances: bytes = b""

    def record(self, number: int) -> bytes:
        return self.distances[number : number + 1]


def block(content: bytes, number: int, body: bytes) -> bytes:
    """Return a body padded to its full length, followed by its checksum."""
    padded = body.ljust(4092, b"\0")
    crc = zlib.crc32(content + number.to_bytes(8, "little") + padded)
    return padded + crc.to_bytes(4, "little")


def flip_bit(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 16]) + data[at + 1 :]


def replace_block(data: bytes, number: int, new: bytes) -> bytes:
    """Return a file in which one block is replaced."""
    return data[: 4096 * number] + new + data[4096 * (number + 1) :]


THREE = IndexSpec("three", 2, 3)
CROSSING = IndexSpec("crossing", 64, 130)
WHOLE = (
    (THREE, "one block of records"),
    (CROSSING, "records on three blocks, the last of them nearly empty"),
    (IndexSpec("uneven", 5, 819), "two bytes of a block are left over: no record straddles two"),
    (IndexSpec("full", 4, 1023), "the records fill their block to its last byte"),
    (IndexSpec("wide", 4092, 2), "a record is all of a block"),
    (IndexSpec("bits", 45, 91), "rows of 360 bits: 90 records in a block"),
    (IndexSpec("empty", 8, 0), "no records: the header alone"),
    (IndexSpec("n" * 64, 1, 2), "a name of 64 bytes, with no zero byte after it"),
)

BOARDS = ((2, 2, 4), (2, 3, 5), (2, 3, 6), (2, 4, 7), (2, 4, 8))
"""Rows, columns, and the cell of the goal's blank."""


def make_intact(index: IndexSpec, why: str) -> tuple[Vector, bytes]:
    per_block = 4092 // index.width
    near = (at + step for at in range(0, index.count + 1, per_block) for step in (-1, 0, 1))
    numbers = sorted({n for n in (*near, index.count - 1) if 0 <= n < index.count})
    vector = Vector(
        f"whole-{index.name[:8]}.idx",
        index.name,
        index.width,
        index.content.hex(),
        why,
        "",
        opens=True,
        sound=True,
        records={str(number): index.record(number).hex() for number in numbers},
        refused=[index.count],
    )
    return vector, index.file()


def rank_board(rows: int, columns: int, state: str) -> int:
    """Return the rank of a state of a board with no more rows than columns."""
    places = "".join(state[column::columns] for column in range(columns))
    tiles = places.replace("0", "")
    number = factorial(len(tiles)) // 2 * places.index("0")
    for at, tile in enumerate(tiles[:-2]):
        smaller = sum(later < tile for later in tiles[at:])
        number += smaller * (factorial(len(tiles) - at - 1) // 2)
    return number


def list_views(rows: int, columns: int, goal: str, state: str) -> list[tuple[int, str]]:
    """List the cell in the name of the file of a goal, with the state as it is read there, for
    each way to lay the board that the page allows."""
    high, long = sorted((rows, columns))
    laid = []
    for turned in [rows > columns] + [True] * (rows == columns):
        for down, across in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
            cells = [
                column * columns + row if turned else row * columns + column
                for row in range(high)[::down]
                for column in range(long)[::across]
            ]
            laid.append([[marks[cell] for cell in cells] for marks in (goal, state)])
    last = max(goal_marks.index("0") for goal_marks, _ in laid)
    views = []
    for goal_marks, marks in laid:
        if goal_marks.index("0") == last:
            names = {"0": "0"}
            for tile in goal_marks:
                names.setdefault(tile, "0123456789abcdef"[len(names)])
            views.append((last + 1, "".join(names[mark] for mark in marks)))
    return views


def make_board(rows: int, columns: int, cell: int) -> BoardSpec:
    """Make the index of the goal with the blank on a cell, counted from 1."""
    tiles = "123456789"[: rows * columns - 1]
    known = sliding_oracle.distances(f"{tiles[: cell - 1]}0{tiles[cell - 1 :]}", rows, columns)
    distances = bytearray(len(known))
    for state, distance in known.items():
        distances[rank_board(rows, columns, state)] = distance
    return BoardSpec(f"sliding_{rows}x{columns}_{cell}", 1, len(known), bytes(distances))


def list_goals(rows: int, columns: int, cell: int) -> Iterator[str]:
    """Yield goals of a board, wide or tall, that are read from a file: with the blank on each cell
    that mirroring can lay on the file's, the tiles in order and, on the last of them, in another.
    """
    high, long = sorted((rows, columns))
    row, column = divmod(cell - 1, long)
    if rows > columns:
        row, column = column, row
    lines = sorted({row, rows - 1 - row}), sorted({column, columns - 1 - column})
    cells = {at * columns + across for at in lines[0] for across in lines[1]}
    if rows == columns:
        cells |= {at % columns * columns + at // columns for at in cells}
    tiles = [*"123456789"[: high * long - 1]]
    for blank in sorted(cells):
        yield "".join([*tiles[:blank], "0", *tiles[blank:]])
    Random(cell).shuffle(tiles)
    yield "".join([*tiles[:blank], "0", *tiles[blank:]])


def list_distances(rows: int, columns: int, goal: str) -> dict[str, int | None]:
    """List some states with their distances: the goal, the farthest one, and others; None for two
    of them with two tiles exchanged, which do not reach the goal."""
    known = sliding_oracle.distances(goal, rows, columns)
    farthest = min(known, key=lambda state: (-known[state], state))
    states = [goal, farthest, *Random(goal).sample(sorted(known), 2)]
    exchange = str.maketrans("12", "21")
    return {state: known[state] for state in states} | {
        state.translate(exchange): None for state in states[1:3]
    }


def make_board_vector(rows: int, columns: int, cell: int) -> tuple[Vector, bytes]:
    index = make_board(rows, columns, cell)
    vector, data = make_intact(index, "the distances of a sliding board's states")
    return replace(vector, file=f"{index.name}.idx"), data


def list_not_opened() -> Iterator[tuple[str, str, str, bytes]]:
    """Yield files that must be refused when they are opened: name, fault, reason, bytes."""
    data = THREE.file()
    for name, fault, why, changed in (
        ("magic", "foreign", "it begins with PTIY", {"magic": b"PTIY"}),
        ("version-1", "version", "version 1", {"version": 1}),
        ("version-3", "version", "version 3", {"version": 3}),
        ("zero", "later", "zero is 1", {"zero": 1}),
        ("block-512", "later", "blocks of 512 bytes", {"block": 512}),
        ("width-0", "width", "records of no bytes", {"width": 0}),
        ("width-4", "width", "records of 4 bytes where the table's are of 2", {"width": 4}),
        ("width-4093", "width", "records wider than a body", {"width": 4093}),
        ("count-more", "size", "more records than the file has room for", {"count": 2047}),
        ("count-none", "size", "no records, but a block of them", {"count": 0}),
        ("count-most", "size", "so many that a sum in 64 bits overflows", {"count": 2**64 - 1}),
        ("other-name", "name", "the name of another table", {"name": b"thre"}),
        ("no-name", "name", "no name", {"name": b""}),
        ("name-tail", "name", "bytes behind the zero that ends the name", {"name": b"three\0x"}),
    ):
        yield name, fault, why, THREE.file(THREE.header(**changed))
    unsealed = THREE.header(version=258) + data[120:]
    yield "version-258", "version", "version 258, whose checksum is not this one's", unsealed
    other = hashlib.sha256(b"another build").digest()
    built_again = THREE.file(THREE.header(content=other), content=other)
    yield "other-content", "content", "made from another table than is published", built_again
    for at, part in ((30, "content"), (58, "name"), (99, "filling"), (4093, "checksum")):
        flipped = flip_bit(data, at)
        yield f"header-{part}-bit", "header", f"a bit of the header's {part} is another", flipped
    for name, fault, why, changed_data in (
        ("nothing", "foreign", "no bytes at all", b""),
        ("three-bytes", "foreign", "three bytes", data[:3]),
        ("zeros", "foreign", "zeros alone", bytes(8192)),
        ("version-cut", "header", "five bytes, half of a version", THREE.header(version=1)[:5]),
        ("header-short", "header", "100 bytes do not hold the header", data[:100]),
        ("header-cut", "header", "the last byte of the header's block is missing", data[:4095]),
        ("header-alone", "size", "the block of records is missing", data[:4096]),
        ("byte-short", "size", "the last byte is missing", data[:-1]),
        ("byte-long", "size", "one byte follows the last block", data + b"\0"),
        ("block-long", "size", "a block follows the last", data + block(THREE.content, 2, b"")),
    ):
        yield name, fault, why, changed_data


def list_not_answered() -> Iterator[tuple[str, str, bytes, Iterable[int]]]:
    """Yield files of which some blocks must be refused: name, reason, bytes, block numbers."""
    data = CROSSING.file()
    one, two = data[4096:8192], data[8192:12288]
    rebuilt = CROSSING.file(content=hashlib.sha256(b"another build").digest())[8192:12288]
    other = IndexSpec("another", 64, 130).file()[8192:12288]
    zeros = block(CROSSING.content, 3, CROSSING.bodies()[3] + b"\1")
    yield from (
        ("record-bit", "a bit of a record is another", flip_bit(data, 8192 + 5), [2]),
        ("filling-bit", "a bit behind the last record is another", flip_bit(data, 13287), [3]),
        ("checksum-bit", "a bit of a checksum is another", flip_bit(data, 8192 + 4095), [2]),
        (
            "swapped",
            "two blocks stand in each other's place",
            replace_block(replace_block(data, 1, two), 2, one),
            [1, 2],
        ),
        ("twice", "a block stands in another's place too", replace_block(data, 2, one), [2]),
        ("hole", "a block is all zeros", replace_block(data, 2, bytes(4096)), [2]),
        ("older-block", "a block of another build", replace_block(data, 2, rebuilt), [2]),
        ("foreign-block", "a block of another table", replace_block(data, 2, other), [2]),
        ("filling", "a byte behind the last record is no zero", replace_block(data, 3, zeros), []),
        (
            "header-filling",
            "a byte behind the header's 120 is no zero",
            CROSSING.file(CROSSING.header() + b"\1"),
            [],
        ),
    )


def vectors() -> Iterator[tuple[Vector, bytes]]:
    for index, why in WHOLE:
        yield make_intact(index, why)
    for rows, columns, cell in BOARDS:
        yield make_board_vector(rows, columns, cell)
    identity = THREE.name, THREE.width, THREE.content.hex()
    for name, fault, why, data in list_not_opened():
        yield Vector(f"{name}.idx", *identity, why, fault, opens=False, sound=False), data
    records = {str(n): THREE.record(n).hex() for n in range(2)}
    fewer = "a record less than the file has"
    vector = Vector("count-fewer.idx", *identity, fewer, "filling", True, False, records, [2])
    yield vector, THREE.file(THREE.header(count=2))
    identity = CROSSING.name, CROSSING.width, CROSSING.content.hex()
    numbers = (0, 62, 63, 125, 126, 129)
    for name, why, data, blocks in list_not_answered():
        bad = [number for number in numbers if 1 + number // 63 in blocks]
        good = {str(n): CROSSING.record(n).hex() for n in numbers if n not in bad}
        fault = "block" if bad else "filling"
        yield Vector(f"{name}.idx", *identity, why, fault, True, False, good, bad), data


def list_files() -> dict[str, bytes]:
    """Return every file of the folder, by name."""
    pairs = list(vectors())
    files = {vector.file: data for vector, data in pairs}
    assert len(files) == len(pairs)
    text = json.dumps([asdict(vector) for vector, _ in pairs], indent=1)
    return {**files, LIST: f"{text}\n".encode()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.iterdir():
        path.unlink()
    for name, data in list_files().items():
        (FOLDER / name).write_bytes(data)
