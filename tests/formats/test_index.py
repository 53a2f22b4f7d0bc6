"""What `docs/format/index.md` and `ranks.md` say of every index, against the real files."""

import hashlib
import re
import struct
import zlib
from functools import partial
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import pytest

from puzzle_tablebase.errors import TablebaseError
from puzzle_tablebase.formats.index import BLOCK_BYTES, BODY_BYTES, HEADER
from puzzle_tablebase.notation.senet import OPENING
from puzzle_tablebase.puzzles import senet
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.sliding import EIGHT
from puzzle_tablebase.queries.tables import Tables
from tests.support import format_page as page
from tests.support.default_tables import INDEXES


def test_the_document_lists_the_index_files(outputs: Path, large_boards: Path) -> None:
    rows = {row["file"]: row for row in page.tables_under("Index files")[1]}
    assert {name for name in rows if not name.endswith("on request")} == set(INDEXES)
    files = {name: outputs / name for name in INDEXES}
    files["sliding_3x4_12.idx, on request"] = large_boards / "sliding_3x4_12.idx"
    for name, file in files.items():
        row, data = rows[name], file.read_bytes()
        _, _, _, width, _, count, *_ = HEADER.unpack_from(data)
        listed = [page.number_in(row[key]) for key in ("width", "records", "bytes")]
        assert listed == [width, count, len(data)]
    for row in rows.values():
        columns = ("width", "records", "blocks", "bytes")
        width, count, blocks, size = (page.number_in(row[key]) for key in columns)
        assert (blocks, size) == (1 + -(-count // (4092 // width)), 4096 * blocks), row["file"]


def test_the_header_is_laid_out_as_the_document_says(outputs: Path) -> None:
    (rows,) = page.tables_under("The header")
    assert page.layout_of(rows) == HEADER.format
    block = (outputs / "eight.idx").read_bytes()[:BODY_BYTES]
    for row, value in zip(rows, HEADER.unpack_from(block), strict=True):
        if row["type"] != "bytes":
            expected = f"{value:,}"
        elif row["field"] in ("seed", "digest"):
            expected = value.hex()
        else:
            expected = value.rstrip(b"\0").decode()
        assert row["in eight.idx"] == expected
    assert not any(block[HEADER.size :])
    assert f"zero bytes follow these {HEADER.size}." in page.section("The header")


def test_the_requested_range_is_the_block_of_the_example(outputs: Path) -> None:
    block = 1 + EIGHT.rank("378546201") // (4092 // 2)
    first, last = 4096 * block, 4096 * (block + 1) - 1
    assert f"\nRange: bytes={first}-{last}\n" in page.text()
    size = (outputs / "eight.idx").stat().st_size
    assert f"Content-Range: bytes {first}-{last}/{size}\n" in page.text()


def test_a_block_is_laid_out_as_the_document_says(outputs: Path) -> None:
    (rows,) = page.tables_under("The file")
    assert page.layout_of(rows) == f"<{BODY_BYTES}sI"
    assert sum(page.numbers_in(rows, "size")) == BLOCK_BYTES
    for file in INDEXES:
        data = (outputs / file).read_bytes()
        seed = data[24:56]
        ends = (data[at + 4092 : at + 4096] for at in range(4096, len(data), 4096))
        assert hashlib.sha256(b"".join(ends)).digest() == data[120:152]
        for number in range(len(data) // 4096):
            block = data[4096 * number : 4096 * (number + 1)]
            crc = zlib.crc32(seed + number.to_bytes(8, "little") + block[:4092])
            assert crc.to_bytes(4, "little") == block[4092:]


@pytest.mark.parametrize("puzzle", ["eight", "senet", "knight"])
def test_the_program_answers_the_cases(puzzle: str, tables: Tables) -> None:
    more = {"solution": True} if puzzle == "eight" else {}
    for case in page.read_cases(puzzle):
        key, _, finish = case["key"].partition(" ")
        options = {"to": finish} if finish else {"goal": case["goal"]} if "goal" in case else {}
        probe = partial(getattr(tables, puzzle).probe, key, **more, **options)
        if "error" in case:
            with pytest.raises(TablebaseError) as caught:
                probe()
            assert caught.value.exit_code == page.CODES[case["error"]], case
        else:
            assert case["answer"].items() <= probe().to_dict().items(), case


def test_the_bytes_in_the_document_are_those_of_the_file(outputs: Path) -> None:
    data = (outputs / "eight.idx").read_bytes()
    lines = "".join(page.read_fenced("hexdump")).splitlines()
    for line in lines:
        at = int(line[:8], 16)
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data[at : at + 16])
        assert line == f"{at:08x}: {data[at : at + 16].hex(' ')}  {shown}"
    assert len(lines) == 10


def test_the_checksum_is_computed_as_the_document_says() -> None:
    result = re.findall("`(0x[0-9A-F]{8})`", page.section("The checksum"))
    polynomial, begin, check = (int(number, 16) for number in result)
    crc = begin
    for byte in b"123456789":
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (polynomial if crc & 1 else 0)
    assert crc ^ 0xFFFFFFFF == zlib.crc32(b"123456789") == check


def test_the_records_of_the_8_puzzle(outputs: Path) -> None:
    """Compare which states are unreachable with the tile pairs out of order."""
    cells = EIGHT.list_states().view(np.uint8).reshape(-1, 9)
    is_odd = np.zeros(len(cells), dtype=np.bool_)
    for first, later in combinations(range(9), 2):
        is_odd ^= (cells[:, later] < cells[:, first]) & (cells[:, later] != ord("0"))
    layout = page.tables_under("8-puzzle: ")[0]
    for file in ("eight.idx", "eight_edge.idx"):
        assert page.layout_of(layout) == INDEXES[file].record_format
        assert [row["field"] for row in layout] == [name for name, _ in INDEXES[file].index]
        fields = page.all_records(outputs, INDEXES[file])
        assert len(fields) == factorial(9)
        unreached = fields[:, 0] == 255
        assert np.array_equal(unreached, fields[:, 1] == 0)
        assert np.array_equal(unreached, is_odd & (file == "eight_edge.idx"))


def test_the_goal_follows_from_the_pairs_out_of_order() -> None:
    even, odd = page.tables_under("8-puzzle: ")[1]
    _, eight_file, edge_file = even
    cells = {"corner": even[eight_file], "centre": odd[eight_file], "edge": even[edge_file]}
    for name, cell in cells.items():
        assert cell == f"{EIGHT.goals[name]}, called {name}"
        found = EIGHT.find_reachable_goal(EIGHT.goals[name])
        assert (found == "centre") == (name == "centre")


def test_the_records_of_senet(outputs: Path) -> None:
    table, layout = INDEXES["senet.idx"], page.tables_under("Senet: ")[0]
    assert page.layout_of(layout) == table.record_format
    assert [row["field"] for row in layout] == [name for name, _ in table.index]
    dtype = np.dtype([(name, f"<u{struct.calcsize(letter)}") for name, letter in table.index])
    result = page.all_records(outputs, table).view(dtype).ravel()
    fewest = np.minimum(result["plies_even"], result["plies_odd"])
    assert np.array_equal(result["lines"] == 0, fewest == 255)
    opening = np.arange(len(result)) == senet.rank(OPENING)
    largest = 0
    for side in ("even", "odd"):
        plies, last = result[f"plies_{side}"], result[f"last_{side}"]
        reached = plies != 255
        assert np.all(plies[reached] % 2 == (side == "odd"))
        assert np.array_equal(last == 0, ~reached | (opening & (side == "even")))
        largest = max(largest, plies[reached].max())
    most = fewest[fewest < 255].max()
    sentence = f"Plies are at most {largest}, the smaller of the two at most {most}."
    assert sentence in " ".join(page.section("Senet: ").split())


def test_the_records_of_the_knight(outputs: Path) -> None:
    table = INDEXES["knight_tours_8x8.idx"]
    layout = page.tables_under("Knight's tours: ")[0]
    assert page.layout_of(layout) == table.record_format
    board, tours = KnightBoard(8, 8), page.all_records(outputs, table)
    assert np.array_equal(32 * tours[:, 0].astype(int) + tours[:, 63] // 2, np.arange(len(tours)))
    for start in range(64):
        others = [end for end in range(64) if board.is_light(end) != board.is_light(start)]
        assert tours[32 * start : 32 * (start + 1), 63].tolist() == others
    assert "a1 is 0, b1 is 1, h8 is 63" in page.section("Knight's tours: ")
    assert [board.name_square(square) for square in (0, 1, 63)] == ["a1", "b1", "h8"]
