"""The readers in `examples/`, run on the real files.

Those in C and Python share no code with this program; those in JavaScript use its package.
"""

import json
import os
import random
import re
import sys
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser, expect

from queries import open_tables
from queries.api import Tables
from tablebase.puzzles import eight, senet
from tablebase.puzzles import sliding as sliding
from tablebase.puzzles.knight.board import KnightBoard
from tests import often
from tests.support.default_tables import INDEXES
from tests.support.format_page import number_in, tables_under
from tests.support.hosts import run_python_server
from tests.support.reader_programs import COMMANDS, EXAMPLES, run, tool
from tests.support.shell import ROOT, Said
from tests.support.tampered import change_header

BOARD = KnightBoard(8, 8)


@pytest.fixture(scope="module", params=sorted(COMMANDS))
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the command of one of the readers."""
    return COMMANDS[request.param](tmp_path_factory.mktemp("reader"))


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

# ---- what they answer -----------------------------------------------------------------------


def test_a_reader_answers_for_any_state(reader: list[str], outputs: Path, tables: Tables) -> None:
    distances = pl.read_parquet(outputs / "eight.parquet", columns=["state", "distance"])
    hardest = distances.filter(pl.col("distance") == pl.col("distance").max())["state"].to_list()
    assert len(hardest) == 2
    ranks = random.Random(20).sample(range(eight.PUZZLE.size), 1000)
    states = [eight.unrank(rank) for rank in ranks] + hardest
    states += [eight.GOALS["corner"], eight.GOALS["centre"]]
    wanted = [eight_line(tables, state) for state in states]
    text = run(*reader, outputs, "eight", stdin="\n".join(states))
    assert (text.code, text.out.splitlines(), text.err) == (0, wanted, "")


def test_a_reader_answers_for_any_position(
    reader: list[str], outputs: Path, tables: Tables
) -> None:
    rows = pl.read_parquet(outputs / "senet.parquet", columns=["position", "plies"])
    reached = rows.drop_nulls()
    sample = pl.concat(
        [reached.sample(often(200, 500), seed=15), reached.filter(pl.col("plies").is_in([0, 15]))]
    )
    positions = [*sample["position"], senet.OPENING]
    wanted = [senet_line(tables, position) for position in positions]
    text = run(*reader, outputs, "senet", stdin="\n".join(positions))
    assert (text.code, text.out.splitlines(), text.err) == (0, wanted, "")
    for never in rows.filter(pl.col("plies").is_null())["position"][:3]:
        text = run(*reader, outputs, "senet", senet.OPENING, never, senet.OPENING)
        assert text.out == senet_line(tables, senet.OPENING) + "\n"
        assert (text.code, text.err) == (1, f"reader: {never} is never reached from the opening\n")


def test_a_reader_answers_for_any_pair_of_squares(
    reader: list[str], outputs: Path, tables: Tables
) -> None:
    pairs = [
        f"{BOARD.name_square(start)} {BOARD.name_square(finish)}"
        for start in range(64)
        for finish in range(64)
        if BOARD.can_join(start, finish)
    ]
    assert len(pairs) == 2048
    pairs = random.Random(21).sample(pairs, often(300, len(pairs)))
    wanted = [knight_line(tables, pair) for pair in pairs]
    text = run(*reader, outputs, "knight", stdin="\n".join(pairs))
    assert (text.code, text.out.splitlines(), text.err) == (0, wanted, "")
    for start, finish in (("a1", "c3"), ("b1", "b1"), ("h8", "a1")):
        text = run(*reader, outputs, "knight", start, finish, "b1", "a3")
        sentence = f"no tour leads from {start} to {finish}: it ends on the other colour"
        assert text == Said(1, "", f"reader: {sentence}\n")


@pytest.fixture(scope="module")
def board_folder(large_boards: Path) -> Path:
    """Return a folder with the tables of a board of 12 cells, which have a bit for each state."""
    return large_boards


@pytest.mark.parametrize(
    ("board", "goal"), [("3x4", ""), ("4x3", ""), ("3x4", "7a5391b24860"), ("4x3", "05a739b12486")]
)
def test_a_reader_walks_to_the_goal_of_a_board(
    board: str, goal: str, reader: list[str], board_folder: Path
) -> None:
    states: list[str] = []
    with open_tables(str(board_folder)) as opened:
        table, rng = opened.sliding(board), random.Random(goal)
        wanted = []
        while len(states) < often(10, 200):
            state = "".join(rng.sample("0123456789ab", 12))
            answer = table.get(state, None, goal=goal or None, solution=True)
            if answer is not None:
                states.append(state)
                wanted.append(f"{state} {answer.distance} {answer.best_moves} {answer.solution}")
    text = run(*reader, board_folder, f"{board}:{goal}" if goal else board, *states)
    assert (text.code, text.out.splitlines(), text.err) == (0, wanted, "")


def test_a_reader_rejects_a_bad_board(reader: list[str], board_folder: Path) -> None:
    example = sliding.parse_board("3x4").example
    for key, code, problem in (
        ("12", 2, "is not a state"),
        ("123456789abc", 2, "is not a state"),
        ("213456789ab0", 1, "swap any two tiles"),
    ):
        text = run(*reader, board_folder, "3x4", example, key)
        assert (text.code, text.out) == (code, f"{example} 0 - -\n")
        assert problem in text.err
    assert run(*reader, board_folder, "2x6", example).code == 3


def test_the_document_lists_the_index_of_a_board(board_folder: Path) -> None:
    data = (board_folder / "sliding_3x4_12.idx").read_bytes()
    (listed,) = [row for row in tables_under("Index files")[1] if "sliding" in row["file"]]
    assert [45, 665_280, len(data) // 4096, len(data)] == [
        number_in(listed[key]) for key in ("width", "records", "blocks", "bytes")
    ]


def test_a_reader_takes_keys_as_arguments(reader: list[str], outputs: Path, tables: Tables) -> None:
    states = ["378546201", "123456780", "876543210"]
    text = run(*reader, outputs, "eight", *states, stdin="not read")
    assert text == Said(0, "".join(f"{eight_line(tables, state)}\n" for state in states), "")
    position = "ABAAABBB.B...A."
    text = run(*reader, outputs, "senet", position, stdin="not read")
    assert text == Said(0, senet_line(tables, position) + "\n", "")
    text = run(*reader, outputs, "knight", "b1", "a3", "a3", "b1", stdin="not read")
    pairs = "".join(f"{knight_line(tables, pair)}\n" for pair in ("b1 a3", "a3 b1"))
    assert text == Said(0, pairs, "")


@pytest.mark.parametrize("puzzle", ["eight", "senet", "knight"])
def test_a_reader_accepts_empty_input(reader: list[str], outputs: Path, puzzle: str) -> None:
    assert run(*reader, outputs, puzzle, stdin=" \n") == Said(0, "", "")


# ---- what they refuse -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "state",
    [
        "",
        "12345678",
        "1234567800",
        "113456780",
        "１23456780",
        "12345678\x1b[31m",
        "378546201" * 100,
    ],
)
def test_a_reader_rejects_a_bad_state(
    reader: list[str], outputs: Path, tables: Tables, state: str
) -> None:
    good = eight_line(tables, "378546201") + "\n"
    ways = [run(*reader, outputs, "eight", "378546201", state, "123456780")]
    if "\x1b" in state:
        ways.append(run(*reader, outputs, "eight", stdin=f"378546201\n{state}\n123456780"))
    for text in ways:
        assert (text.code, text.out) == (2, good)
        assert "is not a state, which has each digit 0-8 once: 378546201" in text.err
        assert "\x1b" not in text.err


@pytest.mark.parametrize(
    ("puzzle", "words", "problem"),
    [
        ("senet", [""], "is not a position, five each of A, B and .: ABABABABAB....."),
        ("senet", ["ABABABABAB...."], "is not a position"),
        ("senet", ["ABABABABAB......"], "is not a position"),
        ("senet", ["ABABABABABA...."], "is not a position"),
        ("senet", ["ababababab....."], "is not a position"),
        ("senet", ["ABABABABAB....\x1b"], "is not a position"),
        ("knight", ["i1", "a3"], "is not a square, one of a1 to h8: b1"),
        ("knight", ["b1", "a9"], "is not a square"),
        ("knight", ["b1", "a3x"], "is not a square"),
        ("knight", ["b1", ""], "is not a square"),
        ("knight", ["b1"], "lacks the square where the tour ends: b1 a3"),
    ],
)
def test_a_reader_rejects_a_bad_key(
    reader: list[str], outputs: Path, puzzle: str, words: list[str], problem: str
) -> None:
    text = run(*reader, outputs, puzzle, *words)
    assert (text.code, text.out) == (2, "")
    assert problem in text.err
    assert text.err.count("\n") == 1, "a sentence, and no traceback"
    assert "\x1b" not in text.err


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


KEYS = {
    "eight": ("eight.idx", ["378546201"]),
    "senet": ("senet.idx", ["ABAAABBB.B...A."]),
    "knight": ("knight_tours_8x8.idx", ["b1", "a3"]),
}


@pytest.mark.parametrize("puzzle", KEYS)
def test_a_reader_checks_the_file_of_every_puzzle(
    reader: list[str], outputs: Path, tmp_path: Path, puzzle: str
) -> None:
    """Try a file of each kind; `test_index_vectors.py` tries every fault."""
    name, words = KEYS[puzzle]
    data = (outputs / name).read_bytes()
    other = next(file for file in INDEXES if file != name)
    for damaged, problem in (
        (data[:4096] + bytes(len(data) - 4096), "damaged"),
        (data[:-1], "too short or too long"),
        ((outputs / other).read_bytes(), "the index of another table"),
    ):
        (tmp_path / name).write_bytes(damaged)
        text = run(*reader, tmp_path, puzzle, *words)
        assert (text.code, text.out) == (3, "")
        assert problem in text.err
        assert text.err.count("\n") == 1, "a sentence, and no traceback"


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


# ---- those that use the package -------------------------------------------------------------


def run_in_node(*words: str | Path) -> Said:
    return run(tool("node"), EXAMPLES / "reader.mjs", *words)


def test_the_node_reader_prints_the_answers_of_the_package(
    outputs: Path, board_folder: Path, tables: Tables
) -> None:
    states = ["378546201", "123804765"]
    said = run_in_node(outputs, "eight", *states)
    assert (said.code, said.err) == (0, "")
    for state, line in zip(states, said.out.splitlines(), strict=True):
        answer, expected = json.loads(line), tables.answer("eight", state, path=True).to_dict()
        assert answer == {name: expected[name] for name in answer}
        assert {"distance", "best_moves", "solution", "path"} <= answer.keys()
    position = json.loads(run_in_node(outputs, "senet", "ABAAABBB.B...A.").out)
    assert (position["plies"], position["moves"]) == (2, "9-14 4x7")
    assert json.loads(run_in_node(outputs, "knight", "b1", "a3").out)["closed"]
    board = json.loads(run_in_node(board_folder, "3x4", "0369147a258b").out)
    assert board["distance"] == 37


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["eight", "12345678"], 2, '"12345678" is not a state of 3x3'),
        (["knight", "b1", "b1"], 1, "No tour leads from b1 to b1"),
        (["eight"], 2, "usage: reader.mjs PLACE"),
        (["9x9", "1"], 2, '"9x9" is not a sliding board'),
    ],
)
def test_the_node_reader_reports_a_question_without_an_answer(
    outputs: Path, words: list[str], code: int, problem: str
) -> None:
    said = run_in_node(outputs, *words)
    assert (said.code, said.out, said.err.count("\n")) == (code, "", 1)
    assert said.err.startswith(f"reader: {problem}")


def test_the_node_reader_names_tables_that_are_not_there(tmp_path: Path) -> None:
    said = run_in_node(tmp_path, "eight", "378546201")
    place = tmp_path / "manifest.json"
    assert said == Said(3, "", f"reader: {place} cannot be read: it does not exist.\n")


def test_the_page_answers_typed_states(browser: Browser, outputs: Path, tmp_path: Path) -> None:
    for folder in ("examples", "queries"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "outputs").symlink_to(outputs)
    with run_python_server(tmp_path) as url:
        page = browser.new_page()
        asked = list[str]()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{url}/examples/read_eight.html")
        output = page.locator("#output")
        expect(output).to_contain_text('"solution": "UULDDRURULLDDRRULDLURULDDRR"')
        page.fill("#state", " 123804765 ")
        expect(output).to_contain_text('"goal": "centre"')
        page.fill("#state", "<img src=x onerror=alert(1)>")
        expect(output).to_have_text(
            re.compile('^"<img src=x onerror=alert[(]1[)]>" is not a state')
        )
        assert page.locator("img").count() == 0
        assert all(address.startswith(url) for address in asked)
        page.close()
