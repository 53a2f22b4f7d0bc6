"""The numbers in `docs/index-format.md`, against the real files."""

import doctest
import hashlib
import json
import re
import struct
import zlib
from itertools import combinations, pairwise
from math import factorial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pipeline.puzzle import Table
from pipeline.puzzles import eight, knight, senet
from pipeline.tables.index import HEADER
from queries.tables import Tables
from tests.reader_programs import EXAMPLES
from tests.shell import ROOT
from tests.test_readers import LINES, TABLES

DOC = ROOT / "docs" / "index-format.md"
BOARD = knight.Board(*knight.PAIRS_BOARD)

# ---- the document: how it is read -----------------------------------------------------------

Row = dict[str, str]


def _text() -> str:
    return DOC.read_text("utf-8")


def _section(title: str) -> str:
    """The text under a heading."""
    sections = re.split(r"^#+ ", _text(), flags=re.MULTILINE)
    return next(section for section in sections if section.startswith(title))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.replace("`", "").strip("|").split("|")]


def _tables(title: str) -> list[list[Row]]:
    """The tables under a heading, a row by its columns' names."""
    found: list[list[Row]] = []
    for block in re.findall(r"(?:^\|.*\n)+", _section(title), re.MULTILINE):
        head, _, *rows = block.splitlines()
        found.append([dict(zip(_cells(head), _cells(row), strict=True)) for row in rows])
    return found


def _fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", _text(), re.MULTILINE | re.DOTALL)


def _number(cell: str) -> int:
    return int(cell.replace(",", ""), 0)


def _numbers(rows: list[Row], column: str) -> list[int]:
    return [_number(row[column]) for row in rows]


def _record(outputs: Path, table: Table, rank: int) -> bytes:
    """A record by the document's own rule."""
    width = struct.calcsize(table.record)
    data = (outputs / table.index_file).read_bytes()
    return data[64 + width * rank : 64 + width * (rank + 1)]


FILES = "The index files"
EIGHT = "8-puzzle: "
SENET = "Senet: "
KNIGHT = "Knight's tours: "
TYPES = {"u8": "B", "u16": "H", "u32": "I"}


def _layout(rows: list[Row]) -> str:
    """The `struct` format of a table of fields, whose offsets must follow on each other."""
    sizes = _numbers(rows, "size")
    assert _numbers(rows, "offset") == [sum(sizes[:at]) for at in range(len(sizes))]
    letters = [TYPES.get(row["type"], f"{row['size']}s") for row in rows]
    assert [struct.calcsize(f"<{letter}") for letter in letters] == sizes
    return "<" + "".join(letters)


# ---- the document: files and header ---------------------------------------------------------


def test_the_files_are_those_that_the_document_lists(outputs: Path) -> None:
    rows = _tables(FILES)[0]
    assert {row["file"] for row in rows} == set(TABLES)
    for row in rows:
        data = (outputs / row["file"]).read_bytes()
        _, _, width, count, *_ = HEADER.unpack_from(data)
        assert [width, count, len(data)] == [
            _number(row[key]) for key in ("width", "records", "bytes")
        ]
        assert len(data) == 64 + width * count
        assert width == struct.calcsize(TABLES[row["file"]].record)


def test_the_header_is_laid_out_as_the_document_says(outputs: Path) -> None:
    (rows,) = _tables("The header")
    assert _layout(rows) == HEADER.format
    data = (outputs / "eight.idx").read_bytes()
    found = HEADER.unpack_from(data)
    for row, value in zip(rows, found, strict=True):
        shown = row["in eight.idx"]
        if row["field"] == "content":
            assert shown == value.hex()
        elif isinstance(value, bytes):
            assert shown == value.rstrip(b"\0").decode()
        else:
            assert _number(shown) == value
    names = {HEADER.unpack_from((outputs / file).read_bytes())[4] for file in TABLES}
    assert sorted(len(name.rstrip(b"\0")) for name in names)[-1] == 16


def test_the_hex_dump_is_the_real_header(outputs: Path) -> None:
    header = (outputs / "eight.idx").read_bytes()[:64]
    lines = []
    for at in range(0, 64, 16):
        line = header[at : at + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in line)
        lines.append(f"{at:08x}: {line.hex(' ')}  {shown}\n")
    assert _fenced("hexdump") == ["".join(lines)]


def test_the_manifest_has_what_a_careful_reader_compares(outputs: Path) -> None:
    manifest = json.loads((outputs / "manifest.json").read_text("utf-8"))
    assert set(manifest["indexes"]) == set(TABLES)
    for file, table in TABLES.items():
        data = (outputs / file).read_bytes()
        assert data[28:60].hex() == manifest["indexes"][file]
        sha256 = manifest["tables"][table.name]["index"]["sha256"]
        assert hashlib.sha256(data).hexdigest() == sha256


def test_the_python_in_the_document_runs(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(outputs)
    said: list[str] = []
    examples = doctest.DocTestParser().get_doctest("\n".join(_fenced("pycon")), {}, "doc", None, 0)
    assert len(examples.examples) >= 5
    ended = doctest.DocTestRunner().run(examples, out=said.append)
    assert ended.failed == 0, "".join(said)


def test_the_checksum_is_made_as_the_document_says() -> None:
    polynomial, begin = (int(number, 16) for number in re.findall("`(0x[0-9A-F]{8})`", _text()))
    crc = begin
    for byte in b"123456789":
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (polynomial if crc & 1 else 0)
    assert crc ^ 0xFFFFFFFF == zlib.crc32(b"123456789")


# ---- the document: 8-puzzle -----------------------------------------------------------------


def _odd() -> npt.NDArray[np.bool_]:
    """For every state whether an odd number of tile pairs stand out of order."""
    cells = eight.PUZZLE.states().view(np.uint8).reshape(-1, 9)
    odd = np.zeros(len(cells), dtype=np.bool_)
    for first, later in combinations(range(9), 2):
        odd ^= (cells[:, later] < cells[:, first]) & (cells[:, later] != ord("0"))
    return odd


def test_the_records_of_the_8_puzzle(outputs: Path) -> None:
    layout = _tables(EIGHT)[0]
    for file in ("eight.idx", "eight_edge.idx"):
        assert _layout(layout) == TABLES[file].record
        assert [row["field"] for row in layout] == [name for name, _ in TABLES[file].index]
        fields = np.fromfile(outputs / file, np.uint8, offset=64).reshape(-1, 2)
        assert len(fields) == factorial(9)
        unreached = fields[:, 0] == 255
        assert np.array_equal(unreached, fields[:, 1] == 0)
        assert np.array_equal(unreached, _odd() & (file == "eight_edge.idx"))


def test_the_goal_follows_from_the_pairs_out_of_order() -> None:
    even, odd = (row for row in _tables(EIGHT)[1])
    in_eight, in_edge = list(even)[1:]
    assert even[in_eight] == _called("corner")
    assert odd[in_eight] == _called("centre")
    assert even[in_edge] == _called("edge")
    assert not eight.odd(eight.LAYOUTS["corner"])
    assert not eight.odd(eight.LAYOUTS["edge"])
    assert eight.odd(eight.LAYOUTS["centre"])


def _called(layout: str) -> str:
    return f"{eight.LAYOUTS[layout]}, called {layout}"


def test_the_worked_rank_of_the_8_puzzle() -> None:
    *rows, total = _tables(EIGHT)[2]
    state = "".join(row["digit"] for row in rows)
    assert f"For `{state}`, the tiles alone" in _section(EIGHT)
    for cell, row in enumerate(rows):
        after = [digit for digit in state[cell:] if digit < state[cell]]
        assert [int(row["cell"]), int(row["smaller digits after it"])] == [cell, len(after)]
        assert int(row["smaller tiles after it"]) == len(set(after) - {"0"})
        assert _number(row["factorial"]) == factorial(8 - cell)
        assert _number(row["product"]) == factorial(8 - cell) * len(after)
    assert _number(total["product"]) == sum(_numbers(rows, "product")) == eight.rank(state)
    pairs = _number(total["smaller tiles after it"])
    assert pairs == sum(_numbers(rows, "smaller tiles after it"))
    assert f"{pairs} is even: the goal is corner." in _section(EIGHT)


def test_the_example_records_of_the_8_puzzle(outputs: Path) -> None:
    for row in _tables(EIGHT)[3]:
        table = TABLES[row["file"]]
        rank = eight.rank(eight.parse(row["state"]))
        record = _record(outputs, table, rank)
        assert [_number(row["rank"]), _number(row["byte"])] == [rank, 64 + 2 * rank]
        assert bytes.fromhex(row["record"]) == record
        assert [int(row["distance"]), int(row["solutions"])] == list(record)


def test_the_worked_walk_of_the_8_puzzle(tables: Tables) -> None:
    rows = _tables(EIGHT)[4]
    table = tables.eight
    states = [row["state"] for row in rows]
    assert f"From `{states[0]}`:" in _section(EIGHT)
    assert states == table.path(states[0])
    assert "".join(row["taken"] for row in rows) == table.solution(states[0])
    for row in rows:
        state = row["state"]
        assert _number(row["rank"]) == eight.rank(state)
        assert int(row["distance"]) == table.distance(state)
        after = [f"{way} {table.distance(there)}" for way, there in eight.moves(state)]
        assert row["distances after each move"] == ", ".join(after)


# ---- the document: Senet --------------------------------------------------------------------


def test_the_records_of_senet(outputs: Path) -> None:
    table = TABLES["senet.idx"]
    layout = _tables(SENET)[0]
    assert _layout(layout) == table.record
    assert [row["field"] for row in layout] == [name for name, _ in table.index]
    kind = np.dtype([(name, f"<u{struct.calcsize(letter)}") for name, letter in table.index])
    found = np.fromfile(outputs / "senet.idx", kind, offset=64)
    fewest = np.minimum(found["plies_even"], found["plies_odd"])
    assert np.array_equal(found["lines"] == 0, fewest == 255)
    opening = np.arange(len(found)) == senet.rank(senet.OPENING)
    for side in ("even", "odd"):
        plies, last = found[f"plies_{side}"], found[f"last_{side}"]
        reached = plies != 255
        assert np.all(plies[reached] % 2 == (side == "odd"))
        assert np.array_equal(last == 0, ~reached | (opening & (side == "even")))
    most = max(int(found[name][found[name] < 255].max()) for name in ("plies_even", "plies_odd"))
    said = f"Plies are at most {most}, the smaller of the two at most {fewest[fewest < 255].max()}."
    assert said in " ".join(_section(SENET).split())


def test_the_worked_rank_of_senet() -> None:
    rows = _tables(SENET)[1]
    position = "".join(row["character"] for row in rows)
    assert f"For `{position}`:" in _section(SENET)
    assert _numbers(rows, "square") == list(range(1, 16))
    total = 0
    for at, row in enumerate(rows):
        left = {piece: position[at:].count(piece) for piece in ".AB"}
        assert [int(count) for count in row["left: . A B"].split()] == list(left.values())
        for smaller in ".A":
            ways = 0
            if smaller < row["character"] and left[smaller]:
                rest = {**left, smaller: left[smaller] - 1}
                ways = factorial(sum(rest.values()))
                for count in rest.values():
                    ways //= factorial(count)
            shown = row[f"with {smaller} here"]
            assert ways == (_number(shown) if shown else 0)
            total += ways
    assert total == senet.rank(position)
    assert f"columns, {total:,}, is the rank" in _section(SENET)


def test_the_example_records_of_senet(outputs: Path) -> None:
    table = TABLES["senet.idx"]
    for row in _tables(SENET)[2]:
        rank = senet.rank(senet.parse(row["position"]))
        record = _record(outputs, table, rank)
        assert [_number(row["rank"]), _number(row["byte"])] == [rank, 64 + 8 * rank]
        assert bytes.fromhex(row["record"]) == record
        values = [_number(row[name]) for name, _ in table.index]
        assert values == list(struct.unpack(table.record, record))


def test_the_worked_walk_of_senet(outputs: Path, tables: Tables) -> None:
    """Each step followed by the document's own words."""
    table = TABLES["senet.idx"]
    names = [name for name, _ in table.index]
    rows = _tables(SENET)[3]
    for row, before in pairwise(rows):
        position, plies = row["position"], int(row["plies"])
        record = _record(outputs, table, senet.rank(position))
        values = dict(zip(names, struct.unpack(table.record, record), strict=True))
        side = ("even", "odd")[plies % 2]
        assert row["field"] == f"last_{side}"
        assert [values[f"plies_{side}"], values[f"last_{side}"]] == [plies, int(row["last move"])]
        throw, start, end = (int(row[key]) for key in ("throw", "from", "to"))
        assert (16 * throw + start, start + throw) == (int(row["last move"]), end)
        squares = list(position)
        squares[start - 1], squares[end - 1] = squares[end - 1], squares[start - 1]
        assert (before["position"], int(before["plies"])) == ("".join(squares), plies - 1)
    assert rows[-1]["position"] == senet.OPENING
    assert f"The opening is\n`{senet.OPENING}`" in _section(SENET)
    dice = [row["throw"] for row in rows[-2::-1]]
    assert "".join(dice) == tables.senet.probe(rows[0]["position"]).dice
    assert f"the line with the throws {', '.join(dice)}." in _section(SENET)


# ---- the document: knight -------------------------------------------------------------------


def test_the_records_of_the_knight(outputs: Path) -> None:
    table = TABLES["knight_tours_8x8.idx"]
    layout = _tables(KNIGHT)[0]
    assert _layout(layout) == table.record
    tours = np.fromfile(outputs / table.index_file, np.uint8, offset=64).reshape(-1, 64)
    assert np.array_equal(32 * tours[:, 0].astype(int) + tours[:, 63] // 2, np.arange(len(tours)))
    for start in range(64):
        others = [end for end in range(64) if BOARD.light(end) != BOARD.light(start)]
        assert tours[32 * start : 32 * (start + 1), 63].tolist() == others
    assert "a1 is 0, b1 is 1, h8 is 63" in _section(KNIGHT)
    assert [BOARD.name(square) for square in (0, 1, 63)] == ["a1", "b1", "h8"]


def test_the_example_records_of_the_knight(outputs: Path) -> None:
    table = TABLES["knight_tours_8x8.idx"]
    for row in _tables(KNIGHT)[1]:
        ends = []
        for cell in (row["start"], row["end"]):
            name, number = cell.split(" = ")
            ends.append(BOARD.number(name))
            assert ends[-1] == int(number)
        rank = 32 * ends[0] + ends[1] // 2
        record = _record(outputs, table, rank)
        assert [_number(row["record"]), _number(row["byte"])] == [rank, 64 + 64 * rank]
        assert bytes.fromhex(row["first squares"]) == record[:4]
        assert bytes.fromhex(row["last squares"]) == record[-4:]


# ---- the document: what is left -------------------------------------------------------------


def test_every_sum_in_the_text_is_right() -> None:
    sums = re.findall(r"(\d+) \+ (\d+) × ([\d,]+) =\s+([\d,]+\d)", _text())
    assert len(sums) == 2
    for base, width, rank, total in sums:
        assert int(base) + int(width) * _number(rank) == _number(total)


def test_the_answers_in_the_text_are_those_that_the_readers_give(tables: Tables) -> None:
    (shown,) = _fenced("text")
    asked = [line.split() for line in shown.splitlines()]
    # a key is a word, the knight's two
    kinds = {9: ("eight", 1), 15: ("senet", 1), 2: ("knight", 2)}
    wanted = []
    for words in asked:
        puzzle, count = kinds[len(words[0])]
        wanted.append(LINES[puzzle](tables, " ".join(words[:count])))
    assert shown.splitlines() == wanted
    assert {kinds[len(words[0])][0] for words in asked} == set(LINES)


def test_the_readers_in_the_text_are_those_that_exist() -> None:
    found = re.findall(r"^\| \[`(.*?)`\]\((.*?)\)", _text(), re.MULTILINE)
    assert sorted(name for name, _ in found) == sorted(path.name for path in EXAMPLES.glob("read*"))
    for name, link in found:
        assert (DOC.parent / link).resolve() == EXAMPLES / name
