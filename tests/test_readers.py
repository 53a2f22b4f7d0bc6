"""The readers in `examples/` and the numbers in `docs/index-format.md`, against the real files."""

import doctest
import hashlib
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from itertools import combinations, pairwise
from math import factorial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pipeline.puzzle import Table
from pipeline.puzzles import eight, knight, puzzles, senet
from pipeline.tables.index import HEADER
from queries import open_tables
from queries.tables import Tables
from tests.shell import ROOT, Said, environment

EXAMPLES = ROOT / "examples"
DOC = ROOT / "docs" / "index-format.md"
TABLES = {table.index_file: table for found in puzzles() for table in found.tables if table.index}
BOARD = knight.Board(*knight.PAIRS_BOARD)

# ---- the readers ----------------------------------------------------------------------------

IN_NODE = """
// The functions of the page, asked as the other readers are; then the page itself, by its events.
const { readFileSync } = require("node:fs");
const [html, how, path, ...given] = process.argv.slice(2);
const script = /<script>\\n(.*)<\\/script>/s.exec(readFileSync(html, "utf8"))[1];
const textOnly = { set(on, key, value) {
  if (key !== "textContent") throw new Error(`the page sets ${key}`);
  on[key] = value;
  return true;
} };
const page = { file: { files: [] }, state: { value: "" }, output: new Proxy({}, textOnly) };
const made = new Function("document", `${script}; return { openIndex, answer };`);
const { openIndex, answer } = made({ getElementById: (id) => page[id] });
const file = path && (() => readFileSync(path));
async function typed() {
  page.file.onchange();
  if (page.output.textContent !== undefined) throw new Error("an answer without a file");
  page.file.files = [{ arrayBuffer: async () => Uint8Array.from(file()).buffer }];
  for (const state of given) {
    page.state.value = state;
    await page.state.oninput();
    console.log(JSON.stringify(page.output.textContent));
  }
}
function asked() {
  const index = openIndex(file());
  for (const state of given.length ? given : readFileSync(0, "utf8").match(/\\S+/g) ?? []) {
    const { goal, distance, solutions, best, solution } = answer(index, state);
    console.log(`${state} ${goal} ${distance} ${solutions} ${best || "-"} ${solution || "-"}`);
  }
}
(async () => (how === "typed" ? typed() : asked()))().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
"""


def _tool(name: str) -> str:
    """The path of a program. Without it the test is skipped, and fails in CI."""
    found = shutil.which(name)
    if found:
        return found
    sentence = f"{name} is not installed, so the reader that needs it cannot be tested."
    if os.environ.get("CI") == "true":
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


def _run(*command: str | Path, stdin: str = "") -> Said:
    ended = subprocess.run(
        list(map(str, command)),
        env=environment(),
        input=stdin.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Said(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def _compiled(folder: Path) -> list[str]:
    program = folder / "read_eight"
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")
    said = _run(_tool("gcc"), "-O2", *strict, "-o", program, EXAMPLES / "read_eight.c")
    assert said.code == 0, said.err
    return [str(program)]


def _in_node(folder: Path, how: str) -> list[str]:
    node = _tool("node")
    harness = folder / "page.cjs"
    harness.write_text(IN_NODE, "utf-8")
    return [node, str(harness), str(EXAMPLES / "read_eight.html"), how]


COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "c": _compiled,
    "mjs": lambda _: [_tool("node"), str(EXAMPLES / "read_eight.mjs")],
    "html": lambda folder: _in_node(folder, "asked"),
    "py": lambda _: [sys.executable, "-I", str(EXAMPLES / "read_eight.py")],
}


@pytest.fixture(scope="module", params=sorted(COMMANDS))
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of one of the readers."""
    return COMMANDS[request.param](tmp_path_factory.mktemp("reader"))


@pytest.fixture(scope="module")
def tables(outputs: Path) -> Tables:
    return open_tables(str(outputs))


def _line(tables: Tables, state: str) -> str:
    """What a reader has to print for a state."""
    said = tables.eight.probe(state)
    solution = tables.eight.solution(state)
    facts = (said.goal, said.distance, said.solutions, said.best_moves or "-", solution or "-")
    return " ".join([state, *map(str, facts)])


def test_a_reader_answers_for_any_state(reader: list[str], outputs: Path, tables: Tables) -> None:
    distances = (outputs / "eight.idx").read_bytes()[HEADER.size :: 2]
    farthest = max(distances)
    hardest = [rank for rank, distance in enumerate(distances) if distance == farthest]
    assert len(hardest) == 2
    ranks = random.Random(20).sample(range(eight.PUZZLE.size), 1000)
    states = [eight.unrank(rank) for rank in ranks + hardest]
    states += [eight.LAYOUTS["corner"], eight.LAYOUTS["centre"]]
    wanted = [_line(tables, state) for state in states]
    said = _run(*reader, outputs / "eight.idx", stdin="\n".join(states))
    assert (said.code, said.out.splitlines(), said.err) == (0, wanted, "")


def test_a_reader_takes_states_as_words_of_its_command(
    reader: list[str], outputs: Path, tables: Tables
) -> None:
    states = ["378546201", "123456780", "876543210"]
    said = _run(*reader, outputs / "eight.idx", *states, stdin="not read")
    assert said == Said(0, "".join(f"{_line(tables, state)}\n" for state in states), "")


def test_a_reader_answers_nothing_to_nothing(reader: list[str], outputs: Path) -> None:
    assert _run(*reader, outputs / "eight.idx", stdin=" \n") == Said(0, "", "")


@pytest.mark.parametrize(
    "state",
    [
        "",
        "12345678",
        "1234567800",
        "123456789",
        "113456780",
        "12345678x",
        "１23456780",
        "12345678\x1b[31m",
        "1 2 3 4 5 6 7 8 0",
        "-23456780",
        "378546201" * 100,
    ],
)
def test_a_reader_refuses_a_bad_state(
    reader: list[str], outputs: Path, tables: Tables, state: str
) -> None:
    good = _line(tables, "378546201") + "\n"
    ways = [_run(*reader, outputs / "eight.idx", "378546201", state, "123456780")]
    if state.strip() and " " not in state:
        ways.append(_run(*reader, outputs / "eight.idx", stdin=f"378546201\n{state}\n123456780"))
    for said in ways:
        assert (said.code, said.out) == (1, good)
        assert "not a state" in said.err
        assert "each digit 0-8 once: 378546201" in said.err
        assert "\x1b" not in said.err


@pytest.mark.parametrize("reader_of", ["c", "mjs", "py"])
def test_a_reader_says_how_it_is_used(reader_of: str, tmp_path: Path) -> None:
    said = _run(*COMMANDS[reader_of](tmp_path))
    assert (said.code, said.out) == (1, "")
    assert "usage" in said.err
    assert "eight.idx 378546201 [more states...]" in said.err


Damage = Callable[[bytes], bytes]


def _resealed(damage: Damage) -> Damage:
    """The same damage, its checksum set right again."""

    def done(data: bytes) -> bytes:
        worse = damage(data)
        crc = zlib.crc32(worse[64:], zlib.crc32(worse[:60]))
        return worse[:60] + struct.pack("<I", crc) + worse[64:]

    return done


def _put(offset: int, new: bytes) -> Damage:
    return lambda data: data[:offset] + new + data[offset + len(new) :]


def _flip(offset: int) -> Damage:
    return lambda data: _put(offset, bytes([data[offset] ^ 1]))(data)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        pytest.param(lambda data: b"", "not an index", id="empty"),
        pytest.param(lambda data: data[:3], "not an index", id="three bytes"),
        pytest.param(lambda data: data[:63], "", id="half a header"),
        pytest.param(_resealed(_put(0, b"PTIY")), "not an index", id="magic"),
        pytest.param(_resealed(_put(4, b"\2")), "not of format version 1", id="version 2"),
        pytest.param(_resealed(_put(5, b"\1")), "not of format version 1", id="version 257"),
        pytest.param(_resealed(_put(6, b"\1")), "the index of another table", id="width"),
        pytest.param(_resealed(_put(8, b"\x7f")), "the index of another table", id="count"),
        pytest.param(_resealed(_put(12, b"E")), "the index of another table", id="name"),
        pytest.param(_resealed(_put(27, b"x")), "the index of another table", id="name's end"),
        pytest.param(_resealed(lambda data: data[:-1]), "too short or too long", id="cut off"),
        pytest.param(_resealed(lambda data: data[:64]), "too short or too long", id="header alone"),
        pytest.param(_resealed(lambda data: data + b"\0"), "too short or too long", id="added to"),
        pytest.param(_flip(30), "damaged", id="content"),
        pytest.param(_flip(60), "damaged", id="checksum, first byte"),
        pytest.param(_flip(63), "damaged", id="checksum, last byte"),
        pytest.param(_flip(64), "damaged", id="first record"),
        pytest.param(_flip(725_823), "damaged", id="last record"),
    ],
)
def test_a_reader_refuses_a_damaged_file(
    reader: list[str], outputs: Path, tmp_path: Path, damage: Damage, problem: str
) -> None:
    path = tmp_path / "eight.idx"
    path.write_bytes(damage((outputs / "eight.idx").read_bytes()))
    said = _run(*reader, path, "378546201")
    assert (said.code, said.out) == (1, "")
    assert problem in said.err
    assert said.err.count("\n") == 1, "a sentence, and no traceback"


@pytest.mark.parametrize("other", sorted(set(TABLES) - {"eight.idx"}))
def test_a_reader_refuses_the_index_of_another_table(
    reader: list[str], outputs: Path, other: str
) -> None:
    said = _run(*reader, outputs / other, "378546201")
    assert (said.code, said.out) == (1, "")
    assert "the index of another table" in said.err


@pytest.mark.parametrize("missing", ["nothing.idx", "."])
def test_a_reader_says_which_file_it_cannot_read(
    reader: list[str], tmp_path: Path, missing: str
) -> None:
    said = _run(*reader, tmp_path / missing, "378546201")
    assert (said.code, said.out) == (1, "")
    assert said.err.count("\n") == 1, "a sentence, and no traceback"


def test_a_missing_tool_fails_in_ci_and_is_said_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    sentence = "gcc is not installed, so the reader that needs it cannot be tested."
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=sentence):
        _tool("gcc")
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match=sentence):
        _tool("gcc")


def test_the_python_reader_needs_the_standard_library_alone() -> None:
    text = (EXAMPLES / "read_eight.py").read_text("utf-8")
    imported = set(re.findall(r"^(?:import|from) ([a-z]+)", text, re.MULTILINE))
    assert imported <= sys.stdlib_module_names


# ---- the page -------------------------------------------------------------------------------


def test_the_page_and_the_node_reader_share_their_code() -> None:
    text = (EXAMPLES / "read_eight.mjs").read_text("utf-8")
    shared = text[text.index("/** The records") : text.index("\ntry {")]
    assert shared.count("function ") == 2
    assert shared in (EXAMPLES / "read_eight.html").read_text("utf-8")


def test_the_page_answers_what_is_typed(outputs: Path, tables: Tables, tmp_path: Path) -> None:
    typed = [" 378546201 ", "123804765", "<img src=x onerror=alert(1)>"]
    said = _run(*_in_node(tmp_path, "typed"), outputs / "eight.idx", *typed)
    assert (said.code, said.err) == (0, "")
    right, goal, wrong = (json.loads(line) for line in said.out.splitlines())
    assert right.splitlines() == [
        "goal: corner",
        "distance: 27",
        "solutions: 15",
        "best: ULR",
        f"solution: {tables.eight.solution('378546201')}",
    ]
    assert goal.splitlines()[:2] == ["goal: centre", "distance: 0"]
    assert wrong.startswith('"<img src=x onerror=alert(1)>" is not a state')


def test_the_page_says_that_a_file_is_bad(outputs: Path, tmp_path: Path) -> None:
    said = _run(*_in_node(tmp_path, "typed"), outputs / "eight_edge.idx", "378546201")
    assert json.loads(said.out) == "the file is the index of another table"


def test_the_page_reaches_for_nothing_and_makes_no_markup() -> None:
    page = (EXAMPLES / "read_eight.html").read_text("utf-8")
    assert "default-src 'none'; script-src 'unsafe-inline'\">" in page
    for word in ("http:", "https:", "//cdn", "fetch", "XMLHttp", "import", "src=", "href=", "eval"):
        assert word not in page
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "setHTML"):
        assert word not in page


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
    assert shown == "".join(f"{_line(tables, line[:9])}\n" for line in shown.splitlines())


def test_the_readers_in_the_text_are_those_that_exist() -> None:
    found = re.findall(r"^\| \[`(.*?)`\]\((.*?)\)", _text(), re.MULTILINE)
    assert sorted(name for name, _ in found) == sorted(
        path.name for path in EXAMPLES.glob("read_*")
    )
    for name, link in found:
        assert (DOC.parent / link).resolve() == EXAMPLES / name
