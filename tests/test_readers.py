"""The readers in `examples/`, in C, JavaScript, a page and Python, against the real files."""

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
from pathlib import Path

import pytest

from pipeline.puzzles import eight, puzzles
from pipeline.tables.index import HEADER
from queries.tables import Tables
from tests.shell import ROOT, Said, environment

EXAMPLES = ROOT / "examples"
TABLES = {table.index_file: table for found in puzzles() for table in found.tables if table.index}

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


def printed(tables: Tables, state: str) -> str:
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
    wanted = [printed(tables, state) for state in states]
    said = _run(*reader, outputs / "eight.idx", stdin="\n".join(states))
    assert (said.code, said.out.splitlines(), said.err) == (0, wanted, "")


def test_a_reader_takes_states_as_words_of_its_command(
    reader: list[str], outputs: Path, tables: Tables
) -> None:
    states = ["378546201", "123456780", "876543210"]
    said = _run(*reader, outputs / "eight.idx", *states, stdin="not read")
    assert said == Said(0, "".join(f"{printed(tables, state)}\n" for state in states), "")


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
    good = printed(tables, "378546201") + "\n"
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
