"""The published cases, and every reader of sliding boards, compared with them and with a search.

Each reader's tests ask the other cases, and `tests/index/test_document_reader.py` those of tours
by rank.
"""

import json
import shutil
from pathlib import Path
from random import Random

import pytest

from puzzle_tablebase.formats.manifest import Entry, IndexEntry
from puzzle_tablebase.puzzles.fifteen import PUZZLE as FIFTEEN
from puzzle_tablebase.puzzles.fifteen import Pattern, make_tables
from puzzle_tablebase.puzzles.sliding import find_goal, parse_board
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.queries.index_reader import IndexReader
from puzzle_tablebase.stores.folder import Folder
from tests import first, usual_or_nightly
from tests.readers.test_example_readers import CODES
from tests.readers.test_javascript_reader import ask
from tests.support import sliding_oracle
from tests.support.build_recorder import build_tables
from tests.support.default_tables import INDEXES
from tests.support.format_page import VECTORS, read_cases, record_of
from tests.support.reader_programs import compile_reader, run
from tests.support.tampered import sha256, write_manifest

Distances = dict[str, int | None]
Questions = dict[tuple[str, str], Distances]
"""By board and goal, the distance of each state, None if it does not reach the goal."""
Told = dict[str, tuple[int, str, str] | None]
"""For each state its distance, its best moves and a solution."""
GOALS = [
    ("2x2", "3120"), ("2x3", "143250"), ("3x2", "123450"), ("3x2", "125034"), ("2x4", "72345601"),
    ("4x2", "62345071"), ("3x3", "867254301"), ("3x3", "314265708"),
]  # fmt: skip


@pytest.fixture
def boards(tmp_path: Path) -> Path:
    """Make a folder with the boards of the test vectors, and a manifest."""
    entries = {}
    for vector in json.loads((VECTORS / "vectors.json").read_text("utf-8")):
        if (name := vector["name"]).startswith("sliding"):
            path = Path(shutil.copy(VECTORS / vector["file"], tmp_path))
            count = max(map(int, vector["records"])) + 1
            index = IndexEntry(path.name, count, path.stat().st_size, sha256(path))
            entries[name] = Entry(None, count, vector["content"], "a test", "", {}, index)
    write_manifest(Folder(tmp_path), entries)
    return tmp_path


def ask_program(folder: Path, board: str, goal: str, states: list[str]) -> Told:
    with open_tables(str(folder)) as tables:
        reader = tables.sliding(board)
        answers = {state: reader.get(state, None, goal=goal, solution=True) for state in states}
    return {
        state: (answer.distance, answer.best_moves, str(answer.solution)) if answer else None
        for state, answer in answers.items()
    }


def ask_package(folder: Path, board: str, goal: str, states: list[str]) -> Told:
    """Ask the JavaScript package."""
    result: Told = {}
    told = ask(folder, *(["sliding", board, state, {"goal": goal}] for state in states))
    for state, facts in zip(states, told, strict=True):
        assert facts.get("error", [1])[0] == 1, facts
        answer = facts.get("answer")
        names = ("distance", "best_moves", "solution")
        result[state] = answer and tuple(answer[name] for name in names)
    return result


def ask_reader_in_c(command: list[str], folder: Path, place: str, states: list[str]) -> Told:
    """Ask the reader in C, which ends at the first key without an answer."""
    result: Told = {}
    while remaining := states[len(result) :]:
        text = run(*command, folder, place, stdin=" ".join(remaining))
        for state, line in zip(remaining, text.out.splitlines(), strict=False):
            key, distance, best, solution = line.replace("-", "").split(" ")
            assert key == state
            result[state] = int(distance), best, solution
        if len(result) < len(states):
            assert text.code == 1, text
            result[states[len(result)]] = None
    return result


def require_answers(folder: Path, programs: Path, questions: Questions) -> None:
    """Require these distances of every reader, the same best moves, and solutions to the goal."""
    command = compile_reader(programs)
    for (board, goal), known in questions.items():
        states = sorted(known, key=lambda state: known[state] is None)
        program = ask_program(folder, board, goal, states)
        package = ask_package(folder, board, goal, states)
        in_c = ask_reader_in_c(command, folder, f"{board}:{goal}", states)
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


def test_every_reader_answers_as_the_cases_say(boards: Path, tmp_path: Path) -> None:
    questions = list_questions({path.stem for path in boards.glob("*.idx")})
    require_answers(boards, tmp_path, questions)


def test_every_reader_answers_as_the_cases_of_a_larger_board_say(
    large_boards: Path, tmp_path: Path
) -> None:
    questions = list_questions({"sliding_3x4_12"})
    assert max(filter(None, questions["3x4", "123456789ab0"].values())) == 42
    require_answers(large_boards, tmp_path, questions)


def test_without_a_goal_it_is_the_last_corner(boards: Path) -> None:
    """A table of another goal is listed before that of the corner."""
    for options in ([], [{"goal": None}], [{"goal": "corner"}]):
        (told,) = ask(boards, ["sliding", "3x2", "123450", *options])
        assert (told["answer"]["goal"], told["answer"]["distance"]) == ("123450", 0)


@pytest.mark.parametrize(("board", "goal"), first(4, GOALS))
def test_every_reader_answers_as_a_search_finds(
    board: str, goal: str, boards: Path, small_boards: Path, tmp_path: Path
) -> None:
    rows, columns = map(int, board.split("x"))
    known = sliding_oracle.distances(goal, rows, columns)
    reached = Random(goal).sample(sorted(known), min(len(known), usual_or_nightly(60, 2000)))
    twin = str.maketrans("12", "21")
    states = [*reached, *(state.translate(twin) for state in reached[:3])]
    folder = small_boards if board == "3x3" else boards
    require_answers(folder, tmp_path, {(board, goal): {each: known.get(each) for each in states}})


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
    for puzzle in ("eight", "senet", "knight", "sliding"):
        kinds = {case.get("error") for case in read_cases(puzzle)}
        assert kinds == {None, *CODES}, puzzle


def test_the_ranks_of_the_cases_lead_to_records_with_their_answers(outputs: Path) -> None:
    for case in (*read_cases("eight"), *read_cases("senet"), *read_cases("knight")):
        if "rank" not in case:
            continue
        record = record_of(outputs, INDEXES[f"{case['table']}.idx"], case["rank"])
        answer = case.get("answer", {"distance": 255, "solutions": 0, "plies": 255})
        if case["puzzle"] == "eight":
            assert [*record] == [answer["distance"], answer["solutions"]]
        elif case["puzzle"] == "senet":
            assert min(record[0], record[2]) == answer["plies"]
        else:
            path = "".join(f"{'abcdefgh'[at % 8]}{at // 8 + 1}" for at in record)
            assert path == answer["path"]


def test_a_pattern_answers_as_the_cases_say(tmp_path: Path) -> None:
    (table,) = [each for each in make_tables("6-6-3") if each.name == "fifteen_123"]
    build_tables(tmp_path, FIFTEEN, table)
    index = IndexReader(Folder(tmp_path), table)
    for case in read_cases("fifteen"):
        rank = Pattern(4, 4, (1, 2, 3)).rank([int(mark, 16) for mark in case["key"]])
        assert (rank, index.read_record(rank)) == (case["rank"], (case["answer"]["distance"],))
