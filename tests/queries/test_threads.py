"""One `Tables` used by many threads, and sent to other processes: every answer is the same."""

import pickle
import random
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from itertools import permutations
from multiprocessing import get_context
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import polars as pl
import pytest

import puzzle_tablebase as pt
from puzzle_tablebase.errors import TablebaseError
from puzzle_tablebase.queries import bit_layers, boards
from puzzle_tablebase.queries.boards import EightProber
from puzzle_tablebase.queries.files import TableFiles
from puzzle_tablebase.queries.prober import RecordProber
from puzzle_tablebase.queries.readers import RecordReader
from puzzle_tablebase.queries.tables import Tables, open_tables
from puzzle_tablebase.stores import Folder
from tests import usual_or_nightly
from tests.support.jugs import PUZZLE as JUGS
from tests.support.tampered import link_copy

THREADS = 8


@pytest.fixture(autouse=True)
def _few_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep frames of so few goals that a thread removes those of another."""
    monkeypatch.setattr(boards, "MAX_GOALS", 1)
    monkeypatch.setattr(EightProber, "max_single_keys", 0)


STATES = ["".join(state) for state in random.Random(1).sample([*permutations("012345678")], 40)]
GOALS = STATES[:3]
QUESTIONS: list[Callable[[Tables], Any]] = [
    *(partial(lambda state, tables: tables.eight.probe(state), state) for state in STATES),
    *(partial(lambda goal, tables: tables.eight.get(STATES[9], goal), goal) for goal in STATES),
    *(
        partial(lambda goal, tables: tables.eight.annotate(STATES[:9], goal=goal).rows(), goal)
        for goal in GOALS
    ),
    lambda tables: tables.eight.distance("378546201"),
    lambda tables: tables.eight.probe("378546201", "edge"),
    lambda tables: tables.eight.annotate(["378546201", None]).rows(),
    lambda tables: tables.goals("eight").path("123450786"),
    lambda tables: tables.answer("eight", "378546201", path=True),
    lambda tables: tables.sliding("2x3").get("not a state", 0),
    lambda tables: tables.sliding("2x3").annotate(["123450", "501432"]).rows(),
    lambda tables: tables.sliding("3x2").path("501432"),
    lambda tables: tables.fifteen.probe("12345678a9bcdef0").distance,
    lambda tables: tables.senet.probe("ABAAABBB.B...A."),
    lambda tables: tables.senet.probe("AAAAABBBBB....."),
    lambda tables: tables.knight.probe("b1", to="a3"),
    lambda tables: tables.knight.probe("a1", board="6x6", number=12345),
    lambda tables: tables.knight.probe("a1", board="5x5", number=300),
    lambda tables: tables.knight.count("a1", board="6x6"),
    lambda tables: tables.knight.sample(2, seed=7, board="5x5").rows(),
]


def try_question(tables: Tables, question: Callable[[Tables], Any]) -> object:
    try:
        return question(tables)
    except TablebaseError as error:
        return str(error)


@pytest.fixture(scope="module")
def every_puzzle(
    outputs: Path, small_boards: Path, patterns_555: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a folder with tables of every puzzle."""
    folder = tmp_path_factory.mktemp("every_puzzle")
    return link_copy(outputs, folder, small_boards, patterns_555)


@pytest.fixture(scope="module")
def expected(every_puzzle: Path) -> list[object]:
    """Return the answers that one thread gets."""
    with open_tables(str(every_puzzle)) as alone:
        return [try_question(alone, question) for question in QUESTIONS]


def test_threads_get_the_answers_of_one(every_puzzle: Path, expected: list[object]) -> None:
    begin = Barrier(THREADS)

    def query_many(number: int) -> list[int]:
        """Return the questions with another answer, of many drawn for this thread."""
        drawn = random.Random(number).choices(range(len(QUESTIONS)), k=usual_or_nightly(80, 12_500))
        begin.wait()
        return [at for at in drawn if try_question(shared, QUESTIONS[at]) != expected[at]]

    with open_tables(str(every_puzzle)) as shared, ThreadPoolExecutor(THREADS) as pool:
        assert [*pool.map(query_many, range(THREADS))] == [[]] * THREADS


def test_frames_of_few_goals_stay_in_memory(outputs: Path) -> None:
    with open_tables(str(outputs)) as tables:
        for goal in GOALS:
            tables.eight.annotate(STATES[:3], goal=goal)
        assert [name for name in tables.eight._prober.files._kept if "rows" in str(name)] == [
            ("rows", GOALS[-1])
        ]


def test_a_value_that_another_thread_forgets_is_still_returned(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = TableFiles(Folder(outputs))
    make = files._make

    def make_and_be_overtaken(name: object, work: Callable[[], Any]) -> Any:
        value = make(name, work)
        if name == ("rows", "one"):
            files.keep(("rows", "other"), lambda: 2, 1)
        return value

    monkeypatch.setattr(files, "_make", make_and_be_overtaken)
    assert files.keep(("rows", "one"), lambda: 1, 1) == 1
    assert (files.has(("rows", "one")), files.has(("rows", "other"))) == (False, True)


class SearchEnded(TablebaseError):
    """The end of a search that was held up."""


def test_a_lookup_waits_for_no_search_of_the_board(
    large_boards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hold up a search, and meanwhile query what needs none."""
    begun, may_end = Event(), Event()

    def search(*_: object) -> None:
        begun.set()
        may_end.wait(60)
        raise SearchEnded

    monkeypatch.setattr(bit_layers, "reconstruct_distances", search)
    with open_tables(str(large_boards)) as tables, ThreadPoolExecutor() as pool:
        board = tables.sliding("3x4")
        searching = pool.submit(board.list_hardest)
        assert begun.wait(60)
        try:
            assert pool.submit(board.distance, "3a1b87254960").result(20) == 42
            rows = pool.submit(board.annotate, ["3a1b87254960"]).result(20)
            assert rows["distance"].to_list() == [42]
        finally:
            may_end.set()
        with pytest.raises(SearchEnded):
            searching.result(60)


def test_a_thing_is_made_once_and_never_kept_by_closed_tables(outputs: Path) -> None:
    made, may_end = list[int](), Event()

    def make() -> int:
        made.append(1)
        may_end.wait(60)
        return 7

    with ThreadPoolExecutor(2 * THREADS) as pool:
        files = TableFiles(Folder(outputs))
        waiting = [pool.submit(files.keep, "thing", make) for _ in range(THREADS)]
        assert pool.submit(files.keep, "other", lambda: 8).result(20) == 8
        may_end.set()
        assert [each.result(20) for each in waiting] == [7] * THREADS
        assert (made, files._making) == ([1], {})
        may_end.clear()
        late = pool.submit(files.keep, "late", make)
        while len(made) < 2:
            time.sleep(0.01)
        files.close()
        may_end.set()
        with pytest.raises(ValueError, match="are closed"):
            late.result(20)
        assert (files._kept, files._making) == ({}, {})


def test_of_a_group_what_was_asked_for_last_is_kept(outputs: Path) -> None:
    files = TableFiles(Folder(outputs))
    for goal in "abac":
        files.keep(("rows", goal), object, 2)
    assert [files.has(("rows", goal)) for goal in "abc"] == [True, False, True]


def send(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_tables_before_and_after_all_questions(every_puzzle: Path, expected: list[object]) -> None:
    with pt.open_tables(str(every_puzzle)) as tables:
        untouched = send(tables)
        assert [try_question(tables, question) for question in QUESTIONS] == expected
        used = send(tables)
        assert len(pickle.dumps(tables)) < 1000, "no table is sent, and no file"
    for copy in (untouched, used):
        with copy:
            assert [try_question(copy, question) for question in QUESTIONS] == expected


def test_closed_tables_stay_closed(every_puzzle: Path) -> None:
    """Keep methods from before the first question, and from after all."""
    with pt.open_tables(str(every_puzzle)) as tables:
        before = tables.eight.distance
        for question in QUESTIONS:
            try_question(tables, question)
        eight, senet, knight = tables.eight, tables.senet, tables.knight
        lazy = eight.annotate(pl.LazyFrame({"state": ["378546201"]}))
        saved: list[Callable[[], object]] = [lazy.collect, eight.histogram]
        saved += [partial(method, "378546201") for method in (before, eight.distance, eight.probe)]
        saved += [partial(senet.plies, "ABAAABBB.B...A."), partial(knight.probe, "b1")]
        for call in saved:
            call()
    saved += [partial(question, tables) for question in QUESTIONS]
    for closed in (send(tables).senet, send(tables.senet)):
        saved.append(partial(closed.probe, "ABABABABAB....."))
    for call in saved:
        with pytest.raises(ValueError, match="are closed"):
            call()


def test_a_reader_of_another_puzzle_is_sent_too(outputs: Path) -> None:
    reader = send(RecordReader(RecordProber(JUGS, TableFiles(Folder(outputs)))))
    assert (type(reader), type(reader.puzzle)) == (RecordReader, type(JUGS))
    assert reader.puzzle.example == JUGS.example


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_methods_in_a_process_pool(outputs: Path, method: str) -> None:
    states, squares = ["378546201", "123456780", "152703846"], ["a1", "b1"]
    with (
        pt.open_tables(str(outputs)) as tables,
        ProcessPoolExecutor(1, get_context(method)) as pool,
    ):
        for _ in range(2):  # before the first question, and after
            assert [*pool.map(tables.eight.distance, states)] == [27, 0, 8]
            assert [*pool.map(tables.eight.probe, states)] == [*map(tables.eight.probe, states)]
            tours = [*pool.map(tables.knight.probe, squares)]
            assert tours == [*map(tables.knight.probe, squares)]
            assert tables.eight.distance(states[0]) == 27
