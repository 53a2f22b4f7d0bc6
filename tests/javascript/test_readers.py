"""The published cases, and the readers of sliding boards, compared with them and with a search.

The reader to copy, alone in an empty folder, answers the cases of all its puzzles, and
`tests/formats/test_document_reader.py` tests those of tours by rank.
"""

import io
import json
import runpy
import shutil
import sys
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from puzzle_tablebase.formats.manifest import Entry, IndexEntry
from puzzle_tablebase.puzzles.fifteen import PUZZLE as FIFTEEN
from puzzle_tablebase.puzzles.fifteen import Pattern, make_tables
from puzzle_tablebase.puzzles.senet import PUZZLE as SENET
from puzzle_tablebase.puzzles.sliding import EIGHT, find_goal, parse_board
from puzzle_tablebase.queries.files import IndexReader
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.stores import Folder
from tests import first, usual_or_nightly
from tests.support import shell, sliding_oracle
from tests.support.build_recorder import build_tables
from tests.support.format_page import CODES, VECTORS, read_cases
from tests.support.reader_programs import compile_reader, query_package, run
from tests.support.shell import ROOT
from tests.support.tampered import sha256, write_manifest

PUZZLES = ("eight", "sliding", "senet", "knight")
Distances = dict[str, int | None]
Questions = dict[tuple[str, str], Distances]
"""By board and goal, the distance of each state, None if it does not reach the goal."""
Answers = dict[str, tuple[int, str, str] | None]
"""For each state its distance, its best moves and a solution."""
GOALS = [
    ("2x2", "3120"), ("2x3", "143250"), ("3x2", "123450"), ("3x2", "125034"), ("2x4", "72345601"),
    ("4x2", "62345071"), ("3x3", "867254301"), ("3x3", "314265708"),
]  # fmt: skip


@pytest.fixture(scope="module")
def reader_in_c(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return compile_reader(tmp_path_factory.mktemp("compiled"))


@pytest.fixture
def boards(tmp_path: Path) -> Path:
    """Make a folder with the boards of the test vectors, and a manifest."""
    entries = {}
    for vector in json.loads((VECTORS / "vectors.json").read_text("utf-8")):
        if (name := vector["name"]).startswith("sliding"):
            path = Path(shutil.copy(VECTORS / vector["file"], tmp_path))
            count = max(map(int, vector["records"])) + 1
            size, content = path.stat().st_size, sha256(path)
            index = IndexEntry(path.name, count, size, content, vector["digest"])
            entries[name] = Entry(None, count, content, "a test", "", {}, index)
    write_manifest(Folder(tmp_path), entries)
    return tmp_path


def query_program(folder: Path, board: str, goal: str, states: list[str]) -> Answers:
    with open_tables(str(folder)) as tables:
        reader = tables.sliding(board)
        answers = {state: reader.get(state, None, goal=goal, solution=True) for state in states}
    return {
        state: (answer.distance, answer.best_moves, str(answer.solution)) if answer else None
        for state, answer in answers.items()
    }


def query_in_javascript(folder: Path, questions: Questions) -> dict[tuple[str, str], Answers]:
    """Query the JavaScript package, in one process."""
    asked = [(question, state) for question, states in questions.items() for state in states]
    responses = query_package(
        folder, *(["sliding", board, state, {"goal": goal}] for (board, goal), state in asked)
    )
    assert {facts.get("error", [1])[0] for facts in responses} == {1}
    get_facts = itemgetter("distance", "best_moves", "solution")
    answers: dict[tuple[str, str], Answers] = {question: {} for question in questions}
    for (question, state), facts in zip(asked, responses, strict=True):
        answer = facts.get("answer")
        answers[question][state] = get_facts(answer) if answer else None
    return answers


def query_reader_in_c(command: list[str], folder: Path, board: str, states: list[str]) -> Answers:
    """Query the reader in C, which ends at the first key without an answer."""
    result: Answers = {}
    while remaining := states[len(result) :]:
        text = run(*command, folder, board, stdin=" ".join(remaining))
        for state, line in zip(remaining, text.out.splitlines(), strict=False):
            key, distance, best, solution = line.replace("-", "").split(" ")
            assert key == state
            result[state] = int(distance), best, solution
        if len(result) < len(states):
            assert text.code == 1, text
            result[states[len(result)]] = None
    return result


def require_answers(folder: Path, command: list[str], questions: Questions) -> None:
    """Require these distances of every reader, the same best moves, and solutions to the goal."""
    in_javascript = query_in_javascript(folder, questions)
    for (board, goal), known in questions.items():
        states = sorted(known, key=lambda state: known[state] is None)
        program = query_program(folder, board, goal, states)
        package = in_javascript[board, goal]
        in_c = query_reader_in_c(command, folder, f"{board}:{goal}", states)
        rows, columns = map(int, board.split("x"))
        for answers in (program, package, in_c):
            assert {state: row and row[0] for state, row in answers.items()} == known
            for state, answer in answers.items():
                if answer:
                    assert answer[:2] == (program[state] or ())[:2], state
                    path = sliding_oracle.replay(state, answer[2], rows, columns)
                    assert (len(path) - 1, path[-1]) == (answer[0], goal), state


def list_questions(tables: set[str]) -> Questions:
    """List the distances of the cases whose goals are read from these tables."""
    cases = [case for case in read_cases("sliding") if "goal" in case]
    goals = {(case["board"], case["goal"]) for case in cases if case.get("table") in tables}
    questions: Questions = {goal: {} for goal in sorted(goals)}
    for case in cases:
        if (question := (case["board"], case["goal"])) in goals:
            questions[question][case["key"]] = case.get("answer", {}).get("distance")
    assert len(questions) > 3
    return questions


def test_every_reader_answers_as_the_cases_say(
    boards: Path, large_boards: Path, reader_in_c: list[str]
) -> None:
    questions = list_questions({path.stem for path in boards.glob("*.idx")})
    require_answers(boards, reader_in_c, questions)
    questions = list_questions({"sliding_3x4_12"})
    assert max(filter(None, questions["3x4", "123456789ab0"].values())) == 42
    require_answers(large_boards, reader_in_c, questions)


def test_without_a_goal_it_is_the_last_corner(boards: Path) -> None:
    """A table of another goal is listed before that of the corner."""
    options: tuple[list[Any], ...] = ([], [{"goal": None}], [{"goal": "corner"}])
    for response in query_package(
        boards, *(["sliding", "3x2", "123450", *each] for each in options)
    ):
        assert (response["answer"]["goal"], response["answer"]["distance"]) == ("123450", 0)


@pytest.mark.parametrize(("board", "goal"), first(4, GOALS))
def test_every_reader_answers_as_a_search_finds(
    board: str, goal: str, boards: Path, small_boards: Path, reader_in_c: list[str]
) -> None:
    rows, columns = map(int, board.split("x"))
    known = sliding_oracle.distances(goal, rows, columns)
    reached = Random(goal).sample(sorted(known), min(len(known), usual_or_nightly(60, 2000)))
    swapped = str.maketrans("12", "21")
    states = [*reached, *(state.translate(swapped) for state in reached[:3])]
    folder = small_boards if board == "3x3" else boards
    questions = {(board, goal): {each: known.get(each) for each in states}}
    require_answers(folder, reader_in_c, questions)


def test_the_program_reads_boards_as_the_cases_say() -> None:
    cases = [case for case in read_cases("sliding") if "read_as" in case]
    for case in cases:
        board = parse_board(case["board"])
        view = board.view_goal(case["goal"])
        state = view.map_state(case["key"])
        wide, goal = find_goal(case["table"]) or (None, "")
        assert (str(wide), goal) == (str(board.wide), view.table_goal)
        assert (state, board.wide.rank(state)) == (case["read_as"], case["rank"])
    assert {case["board"] for case in cases} == {"2x3", "3x2", "2x4", "4x2", "3x4", "4x3"}
    for puzzle in PUZZLES:
        groups = {case.get("error") for case in read_cases(puzzle)}
        assert groups == {None, *CODES}, puzzle


def test_the_cases_have_the_ranks_of_their_keys(outputs: Path) -> None:
    tours = pl.read_parquet(outputs / "knight_tours_8x8.parquet")["path"]
    for case in (*read_cases("eight"), *read_cases("senet"), *read_cases("knight")):
        if "rank" in case and case["puzzle"] == "knight":
            assert tours[case["rank"]] == case["answer"]["path"]
        elif "rank" in case:
            puzzle = EIGHT if case["puzzle"] == "eight" else SENET
            assert puzzle.rank(case.get("read_as", case["key"])) == case["rank"]


def test_a_pattern_answers_as_the_cases_say(tmp_path: Path) -> None:
    (table,) = [each for each in make_tables("6-6-3") if each.name == "fifteen_123"]
    build_tables(tmp_path, FIFTEEN, table)
    index = IndexReader(Folder(tmp_path), table)
    for case in read_cases("fifteen"):
        rank = Pattern(4, 4, (1, 2, 3)).rank([int(mark, 16) for mark in case["key"]])
        assert (rank, index.read_record(rank)) == (case["rank"], (case["answer"]["distance"],))


# ---- the reader to copy ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the reader into an empty folder."""
    return Path(shutil.copy(ROOT / "examples" / "reader.py", tmp_path_factory.mktemp("copy")))


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_the_reader_answers_every_case_from_bytes(
    puzzle: str, program: Path, outputs: Path, large_boards: Path
) -> None:
    reader = runpy.run_path(str(program))
    folders = (outputs, large_boards, VECTORS)

    def open_index(name: str, width: int) -> object:
        file = next(path for each in folders if (path := each / f"{name}.idx").exists())
        return reader["Index"](io.BytesIO(file.read_bytes()), name, width)

    cases = read_cases(puzzle)
    assert len(cases) > 8
    for case in cases:
        goal = f":{case['goal']}" if "goal" in case else ""
        answer = reader["answer"](open_index, case.get("board", puzzle) + goal, case["key"])
        expected = case.get("answer", {"error": case.get("error")})
        assert {name: answer.get(name) for name in expected} == expected, case


def test_the_reader_is_a_program_that_needs_only_the_standard_library(
    program: Path, outputs: Path
) -> None:
    command = [sys.executable, "-I", "-S", program.name, str(outputs)]
    for puzzle, key in (("eight", "378546201"), ("senet", "ABAAABBB.B...A."), ("knight", "b1 a3")):
        completed = shell.run([*command, puzzle, key, "?"], cwd=program.parent)
        (case,) = [each for each in read_cases(puzzle) if each["key"] == key and "goal" not in each]
        first, second = map(json.loads, completed.out.splitlines())
        assert {"key": key, **case["answer"]}.items() <= first.items()
        assert second == {"key": "?", "error": "malformed"}


def test_a_damaged_block_gives_no_answer(program: Path, outputs: Path) -> None:
    reader: dict[str, Callable[..., Any]] = runpy.run_path(str(program))
    data = bytearray((outputs / "senet.idx").read_bytes())
    data[4096 * 400] ^= 1
    index = reader["Index"](io.BytesIO(data), "senet", 8)
    assert index.read_record(0)
    with pytest.raises(ValueError, match="block 400"):
        index.read_record(399 * 511)
