"""One `Tables` asked from many threads: every answer is that of one thread."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path
from threading import Barrier

import pytest

from queries import open_tables
from queries.api import Tables
from queries.eight import MAX_GOALS
from tablebase.errors import TablebaseError
from tablebase.puzzles.fifteen import PARTITIONS
from tablebase.puzzles.fifteen import PUZZLE as FIFTEEN
from tablebase.puzzles.sliding import PUZZLE as SLIDING
from tablebase.puzzles.sliding import parse_board
from tests import often
from tests.support.build_recorder import build_tables
from tests.support.tampered import link_copy

THREADS = 8
Question = Callable[[Tables], object]
STATES = ["".join(state) for state in random.Random(1).sample([*permutations("012345678")], 400)]
GOALS = STATES[: MAX_GOALS + 2]
SMALL_BOARDS = ["".join(tiles) for tiles in permutations("012345")]
FIFTEEN_BOARDS = ["123456789abcde0f", "123456789a0cdebf", "1234567890abdefc", "12345678a9bcdef0"]
POSITIONS = ["ABAAABBB.B...A.", "BAABABABAB.....", "AAAAABBBBB.....", "ABABABABAB....."]


def make_question(chance: random.Random) -> Question:
    """Make a question of any puzzle; one in ten takes milliseconds, and few build large frames."""
    state, goal = chance.sample(STATES, 2)
    square, number = f"{chance.choice('abcde')}{chance.randint(1, 5)}", chance.randrange(300)
    position, frame_goal = chance.choice(POSITIONS), chance.choice(GOALS)
    rarity = chance.random()
    if rarity < 0.005:
        return lambda tables: tables.eight.annotate([state, goal, None], goal=frame_goal).rows()
    if rarity < 0.02:
        return lambda tables: tables.knight.probe(square, board="6x6", number=number)
    small, board = chance.choice(SMALL_BOARDS), chance.choice(FIFTEEN_BOARDS)
    if rarity < 0.1:
        return chance.choice(
            [
                lambda tables: tables.eight.annotate([state, goal]).rows(),
                lambda tables: tables.sliding("2x3").annotate([small, state]).rows(),
                lambda tables: tables.knight.probe(square, board="5x5", number=number),
                lambda tables: tables.knight.count(square, "6x6"),
                lambda tables: tables.fifteen.probe(board),
            ]
        )
    questions: list[Question] = [
        lambda tables: tables.eight.probe(state),
        lambda tables: tables.eight.distance(state),
        lambda tables: tables.eight.probe(state, goal),
        lambda tables: tables.answer("eight", state, path=True),
        lambda tables: tables.senet.probe(position),
        lambda tables: tables.knight.probe(square, number=number % 32),
        lambda tables: tables.sliding("2x3").probe(small),
        lambda tables: tables.sliding("3x2").path(small),
    ]
    return chance.choice(questions)


def ask(tables: Tables, question: Question) -> object:
    try:
        return question(tables)
    except TablebaseError as error:
        return str(error)


@pytest.fixture(scope="module")
def every_puzzle(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with tables of every puzzle."""
    folder = link_copy(outputs, tmp_path_factory.mktemp("every_puzzle"))
    build_tables(folder, SLIDING, *parse_board("2x3").tables)
    build_tables(folder, FIFTEEN, *PARTITIONS["5-5-5"].make_tables())
    return folder


def test_threads_get_the_answers_of_one(every_puzzle: Path) -> None:
    chance = random.Random(0)
    questions = [make_question(chance) for _ in range(often(500, 10_000))]
    with open_tables(str(every_puzzle)) as alone:
        expected = [ask(alone, question) for question in questions]
    begin = Barrier(THREADS)

    def ask_many(number: int) -> list[int]:
        """Return the questions with another answer, of many drawn for this thread."""
        drawn = random.Random(number).choices(range(len(questions)), k=often(125, 12_500))
        begin.wait()
        return [at for at in drawn if ask(shared, questions[at]) != expected[at]]

    with open_tables(str(every_puzzle)) as shared, ThreadPoolExecutor(THREADS) as pool:
        assert [*pool.map(ask_many, range(THREADS))] == [[]] * THREADS


def test_frames_of_few_goals_stay_in_memory(outputs: Path) -> None:
    with open_tables(str(outputs)) as tables:
        for goal in GOALS:
            tables.eight.annotate(STATES[:3], goal=goal)
        assert len(tables.eight._rows_by_goal) == MAX_GOALS
