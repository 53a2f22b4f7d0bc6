"""The picture and the examples of docs/format, made from the published files as it describes."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from math import factorial
from pathlib import Path

from puzzle_tablebase.puzzles import eight, senet
from puzzle_tablebase.tables.index_format import HEADER
from tests.support.default_tables import INDEXES
from tests.support.format_page import place_of, record_of

STATE, POSITION = "378546201", "ABAAABBB.B...A."
FIELDS = (
    ("magic", "bytes", "always `PTIX`"),
    ("version", "u16", "format version of the file"),
    ("zero", "u16", "for later use"),
    ("width", "u32", "bytes in a record, 1 to 4,092"),
    ("block", "u32", "bytes in a block"),
    ("count", "u64", "number of records"),
    ("content", "bytes", "the table's content hash, as `manifest.json` has it in hexadecimal"),
    (
        "name",
        "bytes",
        (
            "the table's name in UTF-8, filled up with zero bytes; "
            "a name of 64 bytes has no zero byte after it"
        ),
    ),
)
"""The header's fields: name, type and meaning."""


def make_parts(outputs: Path) -> dict[str, str]:
    """Make the generated parts of the page on the file, by their marks."""
    return {
        "picture": format_picture(outputs),
        "header": format_header(outputs),
        "worked example": format_example(outputs),
    }


def make_rank_parts(outputs: Path) -> dict[str, str]:
    """Make the generated parts of the page on ranks and records, by their marks."""
    return {"rank of a state": format_state_rank(), "line of play": format_line(outputs)}


def format_picture(outputs: Path) -> str:
    """Format a picture of `eight.idx`: its blocks, with what each part of them holds."""
    data = (outputs / "eight.idx").read_bytes()
    _, version, _, width, _, count, content, name = HEADER.unpack_from(data)
    each, last = 4092 // width, len(data) // 4096 - 1
    records = [
        (block, range((block - 1) * each, min(block * each, count))) for block in (1, 2, last)
    ]
    title = name.rstrip(bytes(1)).decode()
    fields = f"PTIX {version} 0 {width} 4096 {count} {content.hex()[:4]}… {title}, zeros"
    bodies = [("0", fields)]
    for block, numbers in records:
        shown = f"records {numbers[0]}, {numbers[1]}, … {numbers[-1]}"
        bodies.append((str(block), shown if len(numbers) == each else f"{shown}, zeros"))
    bodies.insert(3, ("…", "…"))
    size = max(len(body) for _, body in bodies)
    rule = f"       +{'-' * (size + 2)}+----------+\n"
    lines = [f"block  | {'4,092 bytes':<{size}} | 4 bytes  |\n", rule]
    for label, body in bodies:
        lines.append(f"{label:>5}  | {body:<{size}} | checksum |\n")
    return f"`eight.idx`, {len(data):,} bytes:\n\n```text\n{''.join(lines)}{rule}```\n"


def format_table(titles: str, rows: Iterable[Iterable[object]]) -> str:
    """Format a Markdown table: numbers with separators, bytes in hexadecimal."""
    names = titles.split(", ")
    lines = [f"| {' | '.join(names)} |", f"| {' | '.join('---' for _ in names)} |"]
    lines += [f"| {' | '.join(map(_format_cell, row))} |" for row in rows]
    return "".join(f"{re.sub('  +', ' ', line)}\n" for line in lines)


def _format_cell(value: object) -> str:
    if isinstance(value, bytes):
        return f"`{value.hex(' ')}`"
    return f"{value:,}" if isinstance(value, int) else str(value)


def format_dump(data: bytes, *offsets: int) -> str:
    """Format lines of 16 bytes as `xxd` prints them."""
    lines = []
    for at in offsets:
        line = data[at : at + 16]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in line)
        lines.append(f"{at:08x}: {line.hex(' ')}  {text}\n")
    return f"```hexdump\n{''.join(lines)}```\n"


def format_header(outputs: Path) -> str:
    data = (outputs / "eight.idx").read_bytes()
    rows, offset = [], 0
    for (name, kind, meaning), value in zip(FIELDS, HEADER.unpack_from(data), strict=True):
        shown = value
        if isinstance(value, bytes):
            shown = f"`{value.hex() if name == 'content' else value.rstrip(bytes(1)).decode()}`"
        size = len(value) if isinstance(value, bytes) else int(kind[1:]) // 8
        rows.append((offset, size, kind, name, meaning, shown))
        offset += size
    dump = format_dump(data, 0, 16, 32, 48, 4080)
    table = format_table("offset, size, type, field, meaning, in `eight.idx`", rows)
    return f"{table}\nThe header of `eight.idx`, and the end of its block:\n\n{dump}"


def format_example(outputs: Path) -> str:
    data, rank = (outputs / "eight.idx").read_bytes(), eight.rank(STATE)
    record = record_of(outputs, INDEXES["eight.idx"], rank)
    block, at = place_of(len(record), rank)
    each = 4092 // len(record)
    place, end = rank % each, 4096 * block + 4092
    (checksum,) = struct.unpack_from("<I", data, end)
    return (
        f"The 8-puzzle state `{STATE}` has "
        f"[rank](ranks.md#8-puzzle-eightidx-and-eight_edgeidx) {rank:,}, "
        f"and records\nof {len(record)} bytes go {each:,} to a block. {rank:,} = {block - 1} × "
        f"{each:,} + {place}, so its record is number {place} of block {block}\nand begins at byte "
        f"4,096 × {block} + {len(record)} × {place} = {at:,}. In that block:\n\n"
        f"{format_dump(data, at - at % 16, end - end % 16)}\n"
        f"The record, at `{at:08x}`, is `{record.hex(' ')}`: {record[0]} moves, {record[1]} "
        f"shortest solutions. The checksum, at `{end:08x}`,\nis `{checksum:#010x}`. In Python:\n"
    )


def format_state_rank() -> str:
    after = [[later for later in STATE[cell:] if later < STATE[cell]] for cell in range(9)]
    total = sum(len(later) * factorial(8 - cell) for cell, later in enumerate(after))
    assert total == eight.rank(STATE)
    products = " + ".join(f"{len(later)} × {8 - cell}!" for cell, later in enumerate(after))
    pairs = [len({*later} - {"0"}) for later in after]
    goal = "even: the goal is corner" if sum(pairs) % 2 == 0 else "odd: the goal is centre"
    _, at = place_of(2, total)
    return (
        f"`{STATE}` has the rank {products}\n= {total:,}, whose "
        f"[record](index.md#a-worked-example) begins at byte {at:,}. Its pairs out of order are\n"
        f"{' + '.join(map(str, pairs))} = {sum(pairs)}, {goal}.\n"
    )


def format_line(outputs: Path) -> str:
    """Format the line of play that leads to a position, walked backwards."""
    table, position, rows = INDEXES["senet.idx"], POSITION, []
    plies: int | None = None
    while plies != 0:
        record = record_of(outputs, table, senet.rank(position))
        names = [name for name, _ in table.index]
        fields = dict(zip(names, struct.unpack(table.record_format, record), strict=True))
        plies = min(fields["plies_even"], fields["plies_odd"]) if plies is None else plies
        field = f"last_{('even', 'odd')[plies % 2]}"
        throw, start = divmod(fields[field], 16)
        rows.append((plies, f"`{position}`", field, fields[field], throw, start, start + throw))
        squares = list(position)
        one, other = start - 1, start + throw - 1
        squares[one], squares[other] = squares[other], squares[one]
        position, plies = "".join(squares), plies - 1
        if not plies:
            rows.append((0, f"`{position}`", "", "", "", "", ""))
    assert position == senet.OPENING
    return format_table("plies, position, field, last move, throw, from, to", rows)
