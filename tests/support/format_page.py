"""The pages and cases of `docs/format`, and records located by its formula."""

import hashlib
import json
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.schema import Table
from tests.support.shell import ROOT

DOC = ROOT / "docs" / "format" / "index.md"
PAGES = (DOC, DOC.with_name("ranks.md"))
VECTORS = DOC.with_name("vectors")
CODES = {"unreachable": 1, "malformed": 2}
"""The exit codes of this program for a key without an answer, by the type of error in a case."""

Row = dict[str, str]


def text() -> str:
    return "".join(page.read_text("utf-8") for page in PAGES)


def section(title: str) -> str:
    """Return the text under a heading."""
    sections = re.split(r"^#+ ", text(), flags=re.MULTILINE)
    return next(section for section in sections if section.startswith(title))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.replace("`", "").strip("|").split("|")]


def tables_under(title: str) -> list[list[Row]]:
    """Return the tables under a heading, each row as a mapping from column names."""
    result: list[list[Row]] = []
    for block in re.findall(r"(?:^\|.*\n)+", section(title), re.MULTILINE):
        head, _, *rows = block.splitlines()
        result.append([dict(zip(cells(head), cells(row), strict=True)) for row in rows])
    return result


def read_fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text(), re.MULTILINE | re.DOTALL)


def read_cases(puzzle: str) -> list[dict[str, Any]]:
    """Read the published cases of a puzzle."""
    cases = map(json.loads, DOC.with_name("cases.jsonl").read_text("utf-8").splitlines())
    return [case for case in cases if case["puzzle"] == puzzle]


def number_in(cell: str) -> int:
    return int(cell.replace(",", ""), 0)


def numbers_in(rows: list[Row], column: str) -> list[int]:
    return [number_in(row[column]) for row in rows]


def all_records(outputs: Path, table: Table) -> npt.NDArray[np.uint8]:
    """Return all records, located by the document's formula, one row each."""
    width = struct.calcsize(table.record_format)
    blocks = np.fromfile(outputs / table.index_file, np.uint8).reshape(-1, 4096)
    count = struct.unpack("<Q", blocks[0, 16:24].tobytes())[0]
    used = 4092 // width * width
    return blocks[1:, :used].reshape(-1, width)[:count]


def make_index(name: str, width: int, records: bytes, seed: bytes) -> bytes:
    """Return the bytes of an index as the document says, block by block."""
    size, count = 4092 // width * width, len(records) // width
    bodies = [records[at : at + size].ljust(4092, b"\0") for at in range(0, len(records), size)]
    checksums = [_checksum(seed, number, body) for number, body in enumerate(bodies, 1)]
    header = struct.pack("<4sHHIIQ", b"PTIX", 3, 0, width, 4096, count) + seed
    header += name.encode().ljust(64, b"\0") + hashlib.sha256(b"".join(checksums)).digest()
    header = header.ljust(4092, b"\0")
    blocks = zip([header, *bodies], [_checksum(seed, 0, header), *checksums], strict=True)
    return b"".join(body + checksum for body, checksum in blocks)


def _checksum(seed: bytes, number: int, body: bytes) -> bytes:
    return zlib.crc32(seed + number.to_bytes(8, "little") + body).to_bytes(4, "little")


TYPES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q"}


def layout_of(rows: list[Row]) -> str:
    """Return the `struct` format of a table of fields, whose offsets must follow on each other."""
    sizes = numbers_in(rows, "size")
    assert numbers_in(rows, "offset") == [sum(sizes[:at]) for at in range(len(sizes))]
    letters = [TYPES.get(row["type"], f"{row['size']}s") for row in rows]
    assert [struct.calcsize(f"<{letter}") for letter in letters] == sizes
    return "<" + "".join(letters)
