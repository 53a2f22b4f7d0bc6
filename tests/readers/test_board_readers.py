"""Every reader of sliding boards, compared with the cases and with a breadth-first search."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from queries import open_tables
from tablebase.errors import GoalUnreachable
from tablebase.tables.manifest import Entry, IndexEntry
from tablebase.tables.store import Folder
from tests import often
from tests.readers.test_javascript_reader import ask
from tests.support import sliding_oracle
from tests.support.document_reader import SlidingFiles, iter_views
from tests.support.index_cases import read_cases
from tests.support.index_vectors import BOARDS, FOLDER, BoardSpec, make_board
from tests.support.reader_programs import COMMANDS, run
from tests.support.tampered import sha256, write_manifest

Distances = Mapping[str, int | None]
GOALS = (
    ("2x2", "3120"),
    ("2x3", "143250"),
    ("3x2", "123450"),
    ("3x2", "125034"),
    ("2x4", "72345601"),
    ("4x2", "62345071"),
    ("3x3", "867254301"),
    ("3x3", "314265708"),
)


def publish(folder: Path, boards: Iterable[BoardSpec]) -> None:
    """Write the indexes of boards and list them in a manifest."""
    entries = {}
    for board in boards:
        path = folder / f"{board.name}.idx"
        path.write_bytes(board.file())
        index = IndexEntry(path.name, board.count, path.stat().st_size, sha256(path))
        entries[board.name] = Entry(
            None, board.count, board.content.hex(), "a test", {}, "", index, None
        )
    write_manifest(Folder(folder), entries)


def ask_page_reader(folder: Path, board: str, goal: str, states: list[str]) -> Distances:
    files = SlidingFiles(folder)
    return {state: files.find_distance(board, goal, state) for state in states}


def ask_program(folder: Path, board: str, goal: str, states: list[str]) -> Distances:
    result: dict[str, int | None] = {}
    with open_tables(str(folder)) as tables:
        reader = tables.sliding(board)
        for state in states:
            try:
                answer = reader.probe(state, goal, solution=True)
            except GoalUnreachable:
                result[state] = None
                continue
            result[state] = answer.distance
            require_solution(board, goal, state, answer.distance, answer.solution or "")
    return result


def ask_package(
    folder: Path, questions: Mapping[tuple[str, str], Distances]
) -> dict[tuple[str, str], Distances]:
    """Ask all questions in one process."""
    keys = [(board, goal, state) for (board, goal), known in questions.items() for state in known]
    words: list[list[Any]] = [
        ["sliding", board, state, {"goal": goal}] for board, goal, state in keys
    ]
    result: dict[tuple[str, str], dict[str, int | None]] = {question: {} for question in questions}
    for (board, goal, state), told in zip(keys, ask(folder, *words), strict=True):
        if "error" in told:
            assert told["error"][0] == 1, told
            result[board, goal][state] = None
            continue
        answer = told["answer"]
        result[board, goal][state] = answer["distance"]
        require_solution(board, goal, state, answer["distance"], answer["solution"])
    return {**result}


def ask_copied_reader(
    command: list[str], folder: Path, board: str, goal: str, states: list[str]
) -> Distances:
    """Ask a reader of `examples/`, which ends at the first key without an answer."""
    result: dict[str, int | None] = {}
    while remaining := states[len(result) :]:
        text = run(*command, folder, f"{board}:{goal}", stdin=" ".join(remaining))
        lines = text.out.splitlines()
        for state, line in zip(remaining, lines, strict=False):
            key, distance, best, solution = line.replace("-", "").split(" ")
            assert key == state
            assert best.startswith(solution[:1])
            result[state] = int(distance)
            require_solution(board, goal, state, int(distance), solution)
        if len(result) < len(states):
            assert (text.code, "swap any two tiles" in text.err) == (1, True), text
            result[remaining[len(lines)]] = None
    return result


def require_solution(board: str, goal: str, state: str, distance: int, solution: str) -> None:
    """Require that a solution leads to the goal in so many moves."""
    rows, columns = map(int, board.split("x"))
    assert len(solution) == distance
    for letter in solution:
        state = sliding_oracle.neighbours(state, rows, columns)[letter]
    assert state == goal


def require_answers(
    folder: Path, programs: Path, questions: Mapping[tuple[str, str], Distances]
) -> None:
    """Require that every reader gives these distances, by board and goal."""
    commands = {name: compile_it(programs) for name, compile_it in COMMANDS.items()}
    wrong, package = [], ask_package(folder, questions)
    for (board, goal), known in questions.items():
        asked = folder, board, goal, sorted(known, key=lambda state: known[state] is None)
        told = {
            "page": ask_page_reader(*asked),
            "program": ask_program(*asked),
            "package": package[board, goal],
        }
        told |= {name: ask_copied_reader(command, *asked) for name, command in commands.items()}
        wrong += [(board, goal, name) for name, answers in told.items() if answers != known]
    assert wrong == []


def list_questions(tables: set[str]) -> dict[tuple[str, str], dict[str, int | None]]:
    """List the distances of the cases whose goals are read from these tables."""
    questions: dict[tuple[str, str], dict[str, int | None]] = {}
    goals = {
        (case["board"], case["goal"])
        for case in read_cases("sliding")
        if case.get("table") in tables
    }
    for case in read_cases("sliding"):
        if (question := (case["board"], case.get("goal", ""))) in goals:
            distance = case["answer"]["distance"] if "answer" in case else None
            questions.setdefault(question, {})[case["key"]] = distance
    return questions


@pytest.mark.parametrize("size", sorted({(rows, columns) for rows, columns, _ in BOARDS}))
def test_every_reader_answers_as_the_cases_say(
    size: tuple[int, int], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    boards = [make_board(*board) for board in BOARDS if board[:2] == size]
    publish(tmp_path, boards)
    for board in boards:
        written = (tmp_path / f"{board.name}.idx").read_bytes()
        assert written == (FOLDER / f"{board.name}.idx").read_bytes()
    questions = list_questions({board.name for board in boards})
    assert len(questions) > 3
    require_answers(tmp_path, tmp_path_factory.mktemp("programs"), questions)


def test_every_reader_answers_as_the_cases_of_a_larger_board_say(
    large_boards: Path, tmp_path: Path
) -> None:
    questions = list_questions({"sliding_3x4_12"})
    assert max(filter(None, questions["3x4", "123456789ab0"].values())) == 42
    assert len(questions) > 3
    require_answers(large_boards, tmp_path, questions)


@pytest.mark.parametrize("board", ["2x3", "3x2"])
def test_without_a_goal_it_is_the_last_corner(board: str, tmp_path: Path) -> None:
    """A table of another goal is listed before that of the corner."""
    publish(tmp_path, [make_board(2, 3, 5), make_board(2, 3, 6)])
    (told,) = ask(tmp_path, ["sliding", board, "123450"])
    assert (told["answer"]["goal"], told["answer"]["distance"]) == ("123450", 0)
    with open_tables(str(tmp_path)) as tables:
        assert tables.sliding(board).probe("123450").distance == 0


@pytest.mark.parametrize(("board", "goal"), GOALS)
def test_every_reader_answers_as_a_search_finds(
    board: str, goal: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Half of all orders of the tiles are reached."""
    rows, columns = map(int, board.split("x"))
    known = sliding_oracle.distances(goal, rows, columns)
    cell, _ = next(iter_views(rows, columns, goal, goal))
    publish(tmp_path, [make_board(min(rows, columns), max(rows, columns), cell)])
    rng = Random(goal)
    reached = rng.sample(sorted(known), min(len(known), often(60, 2000)))
    twin = str.maketrans("12", "21")
    states = {state: known[state] for state in reached}
    unreached: Distances = {state.translate(twin): None for state in reached[:3]}
    assert not unreached.keys() & known.keys()
    questions = {(board, goal): {**states, **unreached}}
    require_answers(tmp_path, tmp_path_factory.mktemp("programs"), questions)
