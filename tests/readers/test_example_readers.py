"""The readers in `examples/`, run on the real files, and with outputs that cannot be written.

Those in C and Python share no code with this program; those in JavaScript use its package.
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser, expect

from puzzle_tablebase.puzzles import eight, senet
from puzzle_tablebase.puzzles import sliding as sliding
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.queries.api import Tables
from tests import usual_or_nightly
from tests.support.hosts import run_python_server
from tests.support.index_cases import read_cases
from tests.support.reader_programs import COMMANDS, EXAMPLES, run, tool
from tests.support.shell import ROOT, Said, environment
from tests.support.tampered import change_header

BOARD = KnightBoard(8, 8)
CODES = {"unreachable": 1, "malformed": 2}
"""The exit codes of the readers for a key without an answer."""


PROGRAMS: dict[str, Callable[[Path], list[str]]] = {
    **COMMANDS, "mjs": lambda _: [tool("node"), str(EXAMPLES / "reader.mjs")]
}  # fmt: skip
CLOSED = {"c": -signal.SIGPIPE, "py": 2, "mjs": 2}
"""The exit code of each program whose output is closed: the system ends the one in C."""


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    """Return a function that returns the command of a reader, which it compiles once."""
    return cache(lambda name: PROGRAMS[name](tmp_path_factory.mktemp("reader")))


@pytest.fixture(params=sorted(COMMANDS))
def reader(request: pytest.FixtureRequest, commands: Callable[[str], list[str]]) -> list[str]:
    """Return the command of one of the readers in C and Python."""
    return commands(request.param)


def eight_line(tables: Tables, state: str) -> str:
    """Return the line that a reader has to print for a state."""
    text = tables.eight.probe(state)
    solution = tables.eight.solution(state)
    facts = (text.goal, text.distance, text.solutions, text.best_moves or "-", solution or "-")
    return " ".join([state, *map(str, facts)])


def senet_line(tables: Tables, position: str) -> str:
    text = tables.senet.probe(position)
    plies = [
        "-" if plies is None else str(plies)
        for plies in (text.plies, text.plies_even, text.plies_odd)
    ]
    return " ".join([position, *plies, str(text.lines), text.dice or "-", text.moves or "-"])


def knight_line(tables: Tables, pair: str) -> str:
    start, finish = pair.split()
    text = tables.knight.probe(start, to=finish)
    return f"{pair} {'closed' if text.closed else 'open'} {text.path}"


LINES = {"eight": eight_line, "senet": senet_line, "knight": knight_line}


def choose_keys(puzzle: str, outputs: Path) -> list[str]:
    """Choose keys that have an answer, the farthest and the nearest among them."""
    if puzzle == "eight":
        ranks = random.Random(20).sample(range(eight.PUZZLE.size), 1000)
        hardest = ["867254301", "647850321"]
        return [*map(eight.unrank, ranks), *hardest, eight.GOALS["corner"], eight.GOALS["centre"]]
    if puzzle == "senet":
        rows = pl.read_parquet(outputs / "senet.parquet", columns=["position", "plies"])
        sample = rows.drop_nulls().sample(usual_or_nightly(200, 500), seed=15)
        ends = rows.filter(pl.col("plies").is_in([0, 15]))
        return [*sample["position"], *ends["position"]]
    pairs = [(one, other) for one in range(64) for other in range(64) if BOARD.can_join(one, other)]
    assert len(pairs) == 2048
    chosen = random.Random(21).sample(pairs, usual_or_nightly(300, len(pairs)))
    return [f"{BOARD.name_square(one)} {BOARD.name_square(other)}" for one, other in chosen]


@pytest.mark.parametrize("puzzle", LINES)
def test_a_reader_answers_for_any_key(
    reader: list[str], puzzle: str, outputs: Path, tables: Tables
) -> None:
    keys = choose_keys(puzzle, outputs)
    text = run(*reader, outputs, puzzle, stdin="\n".join(keys))
    wanted = [LINES[puzzle](tables, key) for key in keys]
    assert (text.code, text.out.splitlines(), text.err) == (0, wanted, "")
    assert run(*reader, outputs, puzzle, stdin=" \n") == Said(0, "", "")


GOOD = {
    "eight": ["378546201", "123456780"],
    "senet": ["ABAAABBB.B...A.", senet.OPENING],
    "knight": ["b1 a3", "a3 b1"],
}
PROBLEMS = {
    ("eight", "malformed"): "is not a state, which has each digit 0-8 once: 378546201",
    ("senet", "malformed"): "is not a position, five each of A, B and .: ABABABABAB.....",
    ("senet", "unreachable"): "reader: {} is never reached from the opening",
    ("knight", "malformed"): "is not a square, one of a1 to h8: b1",
    ("knight", "unreachable"): "reader: no tour leads from {} to {}: it ends on the other colour",
}
MALFORMED = {
    "eight": [["12345678\x1b[31m"], ["378546201" * 100]],
    "senet": [[""], ["ABABABABAB......"], ["ababababab....."], ["ABABABABAB....\x1b"]],
    "knight": [["b1", ""]],
}
"""Keys that are no keys, besides those of the cases."""


@pytest.mark.parametrize("puzzle", LINES)
def test_a_reader_ends_at_a_key_without_an_answer(
    reader: list[str], puzzle: str, outputs: Path, tables: Tables
) -> None:
    """Ask good keys before and after it: those before it are answered."""
    cases = [case for case in read_cases(puzzle) if "error" in case and "goal" not in case]
    asked = [
        (case["key"].split() if puzzle == "knight" else [case["key"]], case["error"])
        for case in cases
    ]
    asked += [(words, "malformed") for words in MALFORMED[puzzle]]
    good = " ".join(GOOD[puzzle]).split()
    lines = "".join(f"{LINES[puzzle](tables, key)}\n" for key in GOOD[puzzle])
    for words, error in asked:
        ways = [run(*reader, outputs, puzzle, *good, *words, *good, stdin="not read")]
        if max(map(len, words)) > 10:
            ways.append(run(*reader, outputs, puzzle, stdin=" ".join([*good, *words, *good])))
        for said in ways:
            assert (said.code, said.out) == (CODES[error], lines), words
            assert PROBLEMS[puzzle, error].format(*words) in said.err
            assert said.err.count("\n") == 1, "a sentence, and no traceback"
            assert "\x1b" not in said.err
    if puzzle == "knight":
        said = run(*reader, outputs, puzzle, *good, "b1")
        assert (said.code, said.out) == (2, lines)
        assert "lacks the square where the tour ends: b1 a3" in said.err


def test_a_reader_rejects_a_bad_board(
    reader: list[str], large_boards: Path, small_boards: Path
) -> None:
    for case in read_cases("sliding"):
        if case.get("error") == "malformed":
            board, folder = case["board"], large_boards if case["board"] == "3x4" else small_boards
            example = sliding.parse_board(board).example
            said = run(*reader, folder, board, example, case["key"])
            assert (said.code, said.out) == (2, f"{example} 0 - -\n")
            assert "is not a state" in said.err
    assert run(*reader, large_boards, "2x6", sliding.parse_board("2x6").example).code == 3


@pytest.mark.parametrize("words", [[], ["outputs"], ["outputs", "chess"]])
def test_a_reader_prints_its_usage(reader: list[str], words: list[str]) -> None:
    text = run(*reader, *words)
    assert (text.code, text.out) == (2, "")
    assert "usage: reader" in text.err
    assert "FOLDER eight|senet|knight|ROWSxCOLUMNS[:GOAL] [KEY...]" in text.err


def test_a_reader_reads_only_the_blocks_of_its_answer(
    reader: list[str], outputs: Path, tables: Tables, tmp_path: Path
) -> None:
    """Fill all other blocks with random bytes, in a file too long to be read whole."""
    state = "152703846"
    path_states = tables.eight.path(state)
    states = {*path_states, *(after for here in path_states for _, after in eight.moves(here))}
    needed = {1 + eight.rank(each) // 2046 for each in states}
    assert len(needed) > 3
    data = (outputs / "eight.idx").read_bytes()
    long = change_header(data[:4096], count=2046 * 2**28)
    path = tmp_path / "eight.idx"
    path.write_bytes(long + random.Random(4).randbytes(len(data) - 4096))
    os.truncate(path, 4096 * (1 + 2**28))

    def put(number: int, wrong: int = 0) -> None:
        block = bytearray(data[4096 * number : 4096 * (number + 1)])
        block[4000] ^= wrong
        with path.open("r+b") as file:
            file.seek(4096 * number)
            file.write(block)

    for number in needed:
        put(number)
    wanted = Said(0, eight_line(tables, state) + "\n", "")
    assert run(*reader, tmp_path, "eight", state) == wanted
    for number in needed:
        put(number, wrong=1)
        text = run(*reader, tmp_path, "eight", state)
        assert (text.code, text.out, text.err.count("\n")) == (3, "", 1)
        assert "not whole" in text.err
        put(number)
    assert run(*reader, tmp_path, "eight", state) == wanted


def test_a_reader_names_an_unreadable_file(reader: list[str], tmp_path: Path) -> None:
    ways = [run(*reader, tmp_path / "nowhere", "eight", "378546201")]
    (tmp_path / "eight.idx").mkdir()
    ways.append(run(*reader, tmp_path, "eight", "378546201"))
    for text in ways:
        assert (text.code, text.out) == (3, "")
        assert "eight.idx" in text.err
        assert text.err.count("\n") == 1, "a sentence, and no traceback"


def test_the_python_reader_needs_only_the_standard_library() -> None:
    text = (EXAMPLES / "reader.py").read_text("utf-8")
    imported = set(re.findall(r"^(?:import|from) ([a-z]+)", text, re.MULTILINE))
    assert imported <= sys.stdlib_module_names


def run_in_node(*words: str | Path) -> Said:
    return run(tool("node"), EXAMPLES / "reader.mjs", *words)


def test_the_node_reader_prints_the_answers_of_the_package(
    outputs: Path, large_boards: Path, tables: Tables
) -> None:
    states = ["378546201", "123804765"]
    said = run_in_node(outputs, "eight", *states)
    assert (said.code, said.err) == (0, "")
    for state, line in zip(states, said.out.splitlines(), strict=True):
        answer, expected = json.loads(line), tables.answer("eight", state, path=True).to_dict()
        assert answer == {name: expected[name] for name in answer}
        assert {"distance", "best_moves", "solution", "path"} <= answer.keys()
    assert json.loads(run_in_node(outputs, "senet", "ABAAABBB.B...A.").out)["moves"] == "9-14 4x7"
    assert json.loads(run_in_node(outputs, "knight", "b1", "a3").out)["closed"]
    assert json.loads(run_in_node(large_boards, "3x4", "0369147a258b").out)["distance"] == 37


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["outputs", "eight", "12345678"], 2, '"12345678" is not a state of 3x3'),
        (["outputs", "knight", "b1", "b1"], 1, "No tour leads from b1 to b1"),
        (["outputs", "eight"], 2, "usage: reader.mjs PLACE"),
        (["outputs", "9x9", "1"], 2, '"9x9" is not a sliding board'),
        (["no", "eight", "378546201"], 3, "no/manifest.json cannot be read: it does not exist."),
    ],
)
def test_the_node_reader_reports_a_question_without_an_answer(
    place: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, problem: str
) -> None:
    monkeypatch.chdir(place)
    said = run_in_node(*words)
    assert (said.code, said.out, said.err.count("\n")) == (code, "", 1)
    assert said.err.startswith(f"reader: {problem}")


def test_the_page_answers_typed_states(browser: Browser, outputs: Path, tmp_path: Path) -> None:
    for folder in ("examples", "queries"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "outputs").symlink_to(outputs)
    hostile = "<img src=x onerror=alert(1)>"
    with run_python_server(tmp_path) as url:
        page, asked = browser.new_page(), list[str]()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{url}/examples/read_eight.html")
        output = page.locator("#output")
        expect(output).to_contain_text('"solution": "UULDDRURULLDDRRULDLURULDDRR"')
        page.fill("#state", " 123804765 ")
        expect(output).to_contain_text('"goal": "centre"')
        page.fill("#state", hostile)
        expect(output).to_have_text(re.compile(f'^"{re.escape(hostile)}" is not a state'))
        assert page.locator("img").count() == 0
        assert all(address.startswith(url) for address in asked)
        page.close()


def run_reader(command: list[str], output: int, *words: object) -> tuple[int, str]:
    """Run a reader with an output; return its exit code and its message."""
    words = (*command, *words)
    ended = subprocess.run(
        [*map(str, words)],
        env=environment(), stdout=output, stderr=subprocess.PIPE, timeout=120, check=False,
    )  # fmt: skip
    return ended.returncode, ended.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full disk to try")
@pytest.mark.parametrize("keys", [1, 5000])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_reader_reports_a_full_disk(
    commands: Callable[[str], list[str]], outputs: Path, name: str, keys: int
) -> None:
    with open("/dev/full", "wb") as full:
        words = (outputs, "eight", *["123456780"] * keys)
        code, text = run_reader(commands(name), full.fileno(), *words)
    assert code == 2
    assert re.match("reader: (standard output cannot be written|ENOSPC: no space left)", text)
    assert text.count("\n") == 1, "a sentence, and no traceback"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_reader_with_a_closed_output_has_no_traceback(
    commands: Callable[[str], list[str]], outputs: Path, name: str
) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb"):
        code, text = run_reader(commands(name), write_end, outputs, "eight", "378546201")
    assert code == CLOSED[name]
    assert text.count("\n") == (code == 2), "a sentence at most, and no traceback"
