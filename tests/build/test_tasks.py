"""Work in parts: on any executor, in order, a few at a time, once; errors and parts can be sent."""

import inspect
import itertools
import multiprocessing
import os
import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pipeline.tasks
from pipeline.build import Request, build
from pipeline.builders.registry import BUILDERS, checkpoints, build_table_data
from pipeline.builders.tour_list import list_tours_from
from pipeline.tasks import TaskRunner
from tablebase import errors
from tablebase.puzzle import Table
from tablebase.puzzles import list_puzzles
from tablebase.puzzles.knight.definition import PUZZLE as KNIGHT
from tablebase.puzzles.knight.definition import make_count_table, make_tour_table
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.tables.checkpoints import Arrays
from tablebase.tables.store import Folder
from tests.support.build_recorder import Recorder, build_tables

TOURS = make_tour_table(KnightBoard(3, 4))


class Counting(ThreadPoolExecutor):
    """Remembers how many parts it was given."""

    given = 0

    def submit(self, *given: Any, **more: Any) -> Future[Any]:
        self.given += 1
        return super().submit(*given, **more)


@pytest.fixture
def pool() -> Iterator[Counting]:
    with Counting(2) as pool:
        yield pool


def double(number: int) -> int:
    time.sleep(0.01 * (number % 3))
    return 2 * number


def halve(number: int) -> float:
    return 1 / number


def slowly(number: int) -> Arrays:
    time.sleep(2 * pipeline.tasks.MIN_SAVED_SECONDS)
    return [np.arange(number)]


def arrays(number: int) -> Arrays:
    return [np.arange(number), np.full((2, 2), number, dtype=np.uint8)]


def test_results_come_in_the_order_of_the_items(pool: Counting) -> None:
    results = TaskRunner(pool, 2).run_tasks(double, ((number,) for number in range(20)))
    assert list(results) == [2 * number for number in range(20)]


def test_what_nobody_takes_is_not_begun(pool: Counting) -> None:
    results = TaskRunner(pool, 2).run_tasks(double, ((number,) for number in itertools.count()))
    assert [next(results), next(results), next(results)] == [0, 2, 4]
    assert pool.given == 5


def test_a_failure_ends_all_work_with_the_same_error(pool: Counting) -> None:
    work = TaskRunner(pool, 2)
    other = replace(work, on_progress=lambda *on_progress: None)
    others = other.run_tasks(double, [(1,), (2,), (3,)])
    assert next(others) == 2
    results = work.run_tasks(halve, ((number,) for number in (1, 0, *range(2, 100))))
    with pytest.raises(ZeroDivisionError) as failed:
        list(results)
    assert pool.given < 10
    time.sleep(0.1)  # who waits for a part hears of it before all others do
    for ends in (lambda: next(others), lambda: other.report_progress("layer", 1), other.require_no_failure):
        with pytest.raises(ZeroDivisionError) as ended:
            ends()
        assert ended.value is failed.value


def test_what_is_under_way_is_cancelled_when_it_is_no_longer_wanted() -> None:
    go_on, done = threading.Event(), []

    def waits(number: int) -> None:
        if number:
            go_on.wait(10)
        done.append(number)

    with ThreadPoolExecutor(1) as pool:
        results = TaskRunner(pool, 3).run_tasks(waits, [(number,) for number in range(9)])
        next(results)
        results.close()  # type: ignore[attr-defined]  # a generator
        go_on.set()
    assert done in ([0], [0, 1])


def test_whoever_is_interrupted_ends_all_work(pool: Counting) -> None:
    work = TaskRunner(pool, 2)

    def interrupted() -> Iterator[tuple[int]]:
        yield (1,)
        raise KeyboardInterrupt

    work.run_tasks(double, [(1,), (2,)]).close()  # type: ignore[attr-defined]  # a generator
    work.require_no_failure()
    with pytest.raises(KeyboardInterrupt):
        list(work.run_tasks(double, interrupted()))
    with pytest.raises(KeyboardInterrupt):
        replace(work, shared={}).report_progress("layer", 1)


def test_whoever_waits_for_a_part_hears_of_a_failure_meanwhile(pool: Counting) -> None:
    work, go_on = TaskRunner(pool, 1), threading.Event()
    with pytest.raises(ZeroDivisionError):
        list(work.run_tasks(halve, [(0,)]))
    begun = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        next(work.run_tasks(go_on.wait, [(10,)]))
    go_on.set()
    assert time.monotonic() - begun < 5


def test_of_several_failures_the_first_in_order_is_told() -> None:
    def late(number: int) -> None:
        time.sleep((0.1, 0.3, 0)[number])
        if number:
            raise ValueError(number)

    with ThreadPoolExecutor(3) as pool, pytest.raises(ValueError, match="1"):
        list(TaskRunner(pool, 2).run_tasks(late, [(0,), (1,), (2,)]))


def test_progress_is_told_in_the_words_of_the_maker(pool: Counting) -> None:
    reported = []
    TaskRunner(pool, 2, lambda *said: reported.append(said)).report_progress("starts", 3, 36)
    assert reported == [("starts", 3, 36)]


def test_what_several_need_is_made_once(pool: Counting) -> None:
    work = TaskRunner(pool, 2)
    made: list[int] = []
    assert [work.compute_once(made.copy) is work.compute_once(made.copy), len(work.shared)] == [True, 1]
    assert replace(work, shared={}).compute_once(made.copy) is not work.compute_once(made.copy)


# ---- what is finished already -----------------------------------------------------------------


@pytest.fixture
def keeping_runner(pool: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TaskRunner:
    monkeypatch.setattr(pipeline.tasks, "MIN_SAVED_SECONDS", -1)
    return TaskRunner(pool, 2, checkpoints=checkpoints(Folder(tmp_path), TOURS))


def find_recomputed(work: TaskRunner, folder: Path) -> list[bool]:
    """Of each kept part whether it is made once more, while the results are as they should be."""
    before = {path: path.stat().st_mtime_ns for path in sorted(folder.glob("*"))}
    result = list(work.run_tasks(arrays, [(1,), (2,), (3,)]))
    for number, parts in enumerate(result, start=1):
        for part, wanted in zip(parts, arrays(number), strict=True):
            assert part.dtype == wanted.dtype
            np.testing.assert_array_equal(part, wanted)
    return [path.stat().st_mtime_ns != when for path, when in before.items()]


def test_a_finished_part_is_not_made_again(keeping_runner: TaskRunner, tmp_path: Path) -> None:
    assert find_recomputed(keeping_runner, tmp_path) == []
    assert find_recomputed(keeping_runner, tmp_path) == [False] * 3


def test_a_part_that_took_no_time_is_not_kept(
    keeping_runner: TaskRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline.tasks, "MIN_SAVED_SECONDS", 10)
    find_recomputed(keeping_runner, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_cannot_be_kept_is_as_good(pool: Counting, tmp_path: Path) -> None:
    """As in a process that does not reach the store."""
    kept = checkpoints(Folder(tmp_path / "nowhere"), TOURS)
    (result,) = pool.submit(pipeline.tasks._load_or_compute, kept, slowly, (3,)).result()
    assert result.tolist() == [0, 1, 2]


def test_a_damaged_part_is_made_again_whichever_bit_it_is(keeping_runner: TaskRunner, tmp_path: Path) -> None:
    find_recomputed(keeping_runner, tmp_path)
    first = min(tmp_path.iterdir())
    whole = first.read_bytes()
    for bit in range(0, 8 * len(whole), 7):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        first.write_bytes(flipped)
        os.utime(first, ns=(0, 0))
        assert find_recomputed(keeping_runner, tmp_path) == [True, False, False], bit
    for length in range(0, len(whole), 5):
        first.write_bytes(whole[:length])
        os.utime(first, ns=(0, 0))
        assert find_recomputed(keeping_runner, tmp_path) == [True, False, False], length
    assert first.read_bytes() == whole


def test_parts_of_other_parameters_are_not_taken(tmp_path: Path) -> None:
    """Counts of other boards have the same table and the same columns."""
    few, more = (
        checkpoints(Folder(tmp_path), make_count_table(boards))
        for boards in (((3, 4),), ((3, 4), (2, 2)))
    )
    few.save("part", arrays(3))
    assert few.load("part") is not None
    assert few.load("another") is more.load("part") is None
    more.clear_others()
    assert few.load("part") is None


def test_a_part_has_the_name_of_its_function_and_arguments(keeping_runner: TaskRunner, tmp_path: Path) -> None:
    list(keeping_runner.run_tasks(arrays, [(3,)]))
    list(keeping_runner.run_tasks(arrays, [(4,)]))
    list(keeping_runner.run_tasks(list_tours_from, [(3, 4, 0)]))
    assert len(list(tmp_path.iterdir())) == 3


# ---- anywhere -----------------------------------------------------------------------------------


def columns(table: Table, executor: Executor) -> dict[str, list[Any]]:
    rows, records, _ = build_table_data(KNIGHT, table, TaskRunner(executor, 2))
    result: dict[str, list[Any]] = {}
    for stretch in itertools.chain(rows, records):
        for name, column in stretch.items():
            result.setdefault(name, []).extend(column.tolist())
    return result


def test_processes_make_what_threads_make(pool: Counting) -> None:
    tables = [TOURS, make_count_table(((3, 4), (2, 2))), KNIGHT.tables[2]]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as processes:
        for table in tables:
            assert columns(table, processes) == columns(table, pool)
        with pytest.raises(ZeroDivisionError):
            list(TaskRunner(processes, 2).run_tasks(halve, [(0,)]))


def test_processes_build_the_same_bytes(tmp_path: Path) -> None:
    tables = (TOURS, make_count_table(((3, 4), (2, 2))), KNIGHT.tables[2])
    build_tables(tmp_path / "threads", KNIGHT, *tables, jobs=2)
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
        request = Request(Folder(tmp_path / "processes"), [(KNIGHT, tables)], jobs=2)
        build(request, Recorder(), processes)
        assert processes.submit(double, 2).result() == 4, "whoever opened it closes it"
    for path in (tmp_path / "threads").iterdir():
        assert path.read_bytes() == (tmp_path / "processes" / path.name).read_bytes()


def test_every_recipe_has_a_maker() -> None:
    tables = [
        table
        for asked in list_puzzles()
        for table in (*asked.tables, *asked.list_tables_with_boards(asked.list_boards()[:1]))
    ]
    for asked in list_puzzles():
        for request in asked.requests:
            tables += asked.add_request(asked.tables, request, ["6x6"])
    assert {table.recipe.search for table in tables} == {*BUILDERS}


def list_subclasses(kind: type[errors.TablebaseError]) -> Iterator[type[errors.TablebaseError]]:
    yield kind
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from list_subclasses(child)


@pytest.mark.parametrize("kind", [*list_subclasses(errors.TablebaseError)])
def test_every_error_can_be_pickled(kind: type[errors.TablebaseError]) -> None:
    wanted = [] if kind.__init__ is Exception.__init__ else inspect.signature(kind).parameters
    numbers = ("limit", "found", "wanted", "needed", "free")
    given: dict[str, Any] = {name: 7 if name in numbers else name for name in wanted}
    error = kind(**given) if given else kind("said")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), vars(again)) == (str(error), vars(error))
