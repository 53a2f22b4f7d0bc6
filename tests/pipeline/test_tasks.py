"""Tests of tasks: on any executor, in order, a few at a time, once; errors can be sent."""

import gc
import inspect
import itertools
import multiprocessing
import os
import pickle
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from copy import copy
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import pytest

from puzzle_tablebase import errors
from puzzle_tablebase.code_digest import CodeReader, Source
from puzzle_tablebase.errors import MemoryShort, StoreError, TableUnreadable, Unreachable
from puzzle_tablebase.pipeline import tasks, workers
from puzzle_tablebase.pipeline.costs import Cost, Shards
from puzzle_tablebase.pipeline.kinds import checkpoints
from puzzle_tablebase.pipeline.log import RUNS
from puzzle_tablebase.pipeline.recipes.tour_lists import list_tours_from
from puzzle_tablebase.pipeline.tasks import Step, Tasks
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_count_table
from puzzle_tablebase.registry import PluginError
from puzzle_tablebase.stores import Folder
from puzzle_tablebase.stores.checkpoints import Arrays
from tests import usual_or_nightly
from tests.support.build_recorder import COUNTS, TOURS, Withheld, build_all


class CountingExecutor(ThreadPoolExecutor):
    """Executor that counts the tasks submitted to it."""

    submitted = 0

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        return super().submit(*args, **kwargs)


@pytest.fixture
def pool() -> Iterator[CountingExecutor]:
    with CountingExecutor(2) as pool:
        yield pool


def open_table(
    build: Workers, name: str, folder: Path, needed: int = 0, on_step: Step = lambda *_: None
) -> Any:
    """Open the tasks of another table of the same build."""
    table = copy(TOURS)
    table.name = name
    saved = checkpoints(Folder(folder), table, KNIGHT)
    return tasks.open_table(build, saved, Cost(0, 0, needed), on_step)


def double(number: int) -> int:
    time.sleep(0.01 * (number % 3))
    return 2 * number


def halve(number: int) -> float:
    return 1 / number


def make_arrays(number: int) -> Arrays:
    return [np.arange(number), np.full((2, 2), number, dtype=np.uint8)]


def make_range(numbers: int) -> Arrays:
    return [np.arange(numbers)]


def count_running(running: list[int], number: int) -> int:
    """Return how many tasks run at the same time as this one."""
    running.append(number)
    count = len(running)
    time.sleep(0.02)
    running.remove(number)
    return count


@pytest.mark.parametrize(("jobs", "most"), [(0, 3), (2, 2), (1, 1)])
def test_no_more_tasks_of_a_table_run_than_their_memory_allows(
    tmp_path: Path, jobs: int, most: int
) -> None:
    running = list[int]()
    with ThreadPoolExecutor(3) as pool:
        store, cost = checkpoints(Folder(tmp_path), TOURS), Cost(0, 0, 0, Shards(1, jobs))
        with tasks.open_table(Workers(pool, 3), store, cost, lambda *_: None) as own:
            items = [(running, number) for number in range(9)]
            assert max(own.run(count_running, items, is_saved=False)) == most


def test_results_come_in_order_and_few_tasks_are_begun(pool: CountingExecutor) -> None:
    results = Tasks(Workers(pool, 2)).run(double, ((number,) for number in range(20)))
    assert list(results) == [2 * number for number in range(20)]
    pool.submitted = 0
    results = Tasks(Workers(pool, 2)).run(double, ((number,) for number in itertools.count()))
    assert [next(results), next(results), next(results)] == [0, 2, 4]
    assert pool.submitted == 5


class Threads(NamedTuple):
    """A cluster that has so many threads by now."""

    threads: int

    def count_threads(self) -> int:
        return self.threads


@pytest.mark.parametrize(("most", "begun"), [(None, 9), (3, 4), (2, 3)])
def test_a_cluster_that_grows_is_used_up_to_the_jobs_that_were_asked_for(
    pool: CountingExecutor, most: int | None, begun: int
) -> None:
    cluster: Any = Threads(8)
    build = Tasks(Workers(pool, 2, cluster=cluster, most_jobs=most))
    results = build.run(double, ((number,) for number in itertools.count()))
    assert next(results) == 0
    assert pool.submitted == begun


@pytest.mark.parametrize("jobs", [1, 3])
def test_no_more_threads_work_than_there_are_jobs(jobs: int) -> None:
    running = threading.Semaphore(jobs)

    def work(number: int) -> int:
        assert running.acquire(blocking=False)
        time.sleep(0.001)
        running.release()
        return number

    found = Workers(None, jobs).run_in_threads(work, ((number,) for number in range(30)))
    assert [*found] == [*range(30)]


def test_an_iterator_that_is_not_read_to_its_end_waits_for_no_task() -> None:
    running, ended = Event(), Event()

    def work(number: int) -> None:
        if number:
            running.set()
            ended.wait(20)

    found = Workers(None, 2).run_in_threads(work, [(0,), (1,)])
    next(found)
    assert running.wait(20)
    begun = time.monotonic()
    found.close()  # type: ignore[attr-defined]  # as when it is collected
    ended.set()
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_ends_all_tables_at_once(
    error: type[BaseException], pool: CountingExecutor, tmp_path: Path
) -> None:
    """Expect it of tasks, of a table between two of them, and of one that waits for a task."""
    build, release = Workers(pool, 1), Event()

    def fail() -> Iterator[tuple[int]]:
        yield (1,)
        raise error

    with (
        ThreadPoolExecutor(1) as waiters,
        open_table(build, "a", tmp_path) as one,
        open_table(build, "b", tmp_path) as other,
    ):
        waiting = waiters.submit(next, other.run(release.wait, [(60,)]))
        while not pool.submitted:
            time.sleep(0.001)
        with pytest.raises(error):
            [*one.run(double, fail())]
        assert isinstance(waiting.exception(1), error)
        with pytest.raises(error):
            other.report("layer", 1)
        with pytest.raises(error):
            next(other.run(double, [(1,)]))
    release.set()


def test_after_an_error_nobody_waits_for_a_running_task() -> None:
    release = Event()

    def work(number: int) -> None:
        if number == 0:
            release.wait(60)
        halve(number - 1)

    began = time.monotonic()
    with pytest.raises(ZeroDivisionError), workers.open_workers(jobs=2) as build:
        [*Tasks(build).run(work, [(0,), (1,)])]
    assert time.monotonic() - began < 10
    release.set()


def test_the_end_of_a_build_waits_for_running_tasks_and_cancels_the_others(
    pool: CountingExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Expect it of tasks that an executor runs, and of threads that begin tasks of their own."""
    monkeypatch.setattr(workers, "SOON_SECONDS", 0.01)
    build, begun, release, ended = Workers(pool, 2), threading.Semaphore(0), Event(), list[int]()

    def work(number: int) -> None:
        begun.release()
        release.wait(60)
        time.sleep(0.2)
        ended.append(number)

    def run_inner(number: int) -> None:
        [*Tasks(build).run(work, [(number,), (number + 1,), (number + 2,)])]

    results = build.run_in_threads(run_inner, [(0,), (10,)])
    with ThreadPoolExecutor(1) as waiter:
        waiting = waiter.submit(next, results)
        assert begun.acquire(timeout=60)
        assert begun.acquire(timeout=60)
        build.end(ZeroDivisionError())
        build.end_all(release.set)  # which is called, or the tasks would not end
        assert len(ended) == 2
        assert isinstance(waiting.exception(60), ZeroDivisionError)


@pytest.mark.parametrize("limit", [None, 1_000])
def test_too_little_memory_is_refused(limit: int | None, tmp_path: Path) -> None:
    build = Workers(None, 1, memory=limit)
    with open_table(build, "a", tmp_path, 1_000):
        with pytest.raises(MemoryShort), open_table(build, "b", tmp_path, 1 << 60):
            pass
        build.require_no_error()
    with open_table(build, "c", tmp_path, 1_000):
        pass


@pytest.mark.parametrize("is_failed", [False, True])
def test_two_searches_never_hold_more_than_the_limit_together(
    is_failed: bool, tmp_path: Path
) -> None:
    build, is_waiting, steps = Workers(None, 1, memory=1_000), Event(), list[str]()

    def on_step(doing: str, *_: object) -> None:
        steps.append(doing)
        is_waiting.set()

    def search() -> None:
        with open_table(build, "b", tmp_path, 600, on_step):
            pass

    with ThreadPoolExecutor(1) as pool:
        with open_table(build, "a", tmp_path, 600) as one:
            waiting = pool.submit(search)
            assert is_waiting.wait(60)
            assert not waiting.done()
            if is_failed:  # what ends the build ends the wait
                with pytest.raises(ZeroDivisionError):
                    [*one.run_in_threads(halve, [(0,)])]
                assert isinstance(waiting.exception(60), ZeroDivisionError), "while it is held"
        assert isinstance(waiting.exception(60), ZeroDivisionError if is_failed else type(None))
    assert {*steps} == {"waits for memory"}


# ---- saved results --------------------------------------------------------------------------


@pytest.fixture
def saving(pool: CountingExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tasks:
    """Return tasks of which every result is saved, however short they are."""
    monkeypatch.setattr(tasks, "MIN_SAVED_SECONDS", -1)
    return Tasks(Workers(pool, 2), checkpoints=checkpoints(Folder(tmp_path), TOURS))


def find_recomputed(work: Tasks, folder: Path) -> list[bool]:
    """Run three tasks, check their results, and return which saved ones were computed again."""
    before = {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*.kept"))}
    for path in before:
        os.utime(path, ns=(0, 0))
    result = list(work.run(make_arrays, [(1,), (2,), (3,)]))
    for number, actual_arrays in enumerate(result, start=1):
        for actual, expected in zip(actual_arrays, make_arrays(number), strict=True):
            assert actual.dtype == expected.dtype
            np.testing.assert_array_equal(actual, expected)
    return [path.stat().st_mtime_ns != 0 for path in before]


def test_a_finished_task_is_not_run_again(
    saving: Tasks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Save the results of short tasks too; then none; then where nothing can be saved."""
    assert find_recomputed(saving, tmp_path) == []
    assert find_recomputed(saving, tmp_path) == [False] * 3
    list(saving.run(list_tours_from, [(3, 4, 0)]))
    assert len(list(tmp_path.rglob("*.kept"))) == 4, "it is named after function and arguments"
    saving.checkpoints = checkpoints(Folder(tmp_path / "nowhere"), TOURS)
    assert find_recomputed(saving, tmp_path / "nowhere") == []
    assert not (tmp_path / "nowhere").exists()
    monkeypatch.setattr(tasks, "MIN_SAVED_SECONDS", 60)
    saving.checkpoints = checkpoints(Folder(tmp_path), COUNTS)
    find_recomputed(saving, tmp_path)
    assert len(list(tmp_path.rglob("*.kept"))) == 4, "repeating a short task costs less"


def test_a_damaged_result_is_recomputed_whichever_bit_is_wrong(
    saving: Tasks, tmp_path: Path
) -> None:
    find_recomputed(saving, tmp_path)
    first, second, _ = sorted(tmp_path.rglob("*.kept"))
    original, other = first.read_bytes(), second.read_bytes()
    damaged = [original[:length] for length in range(0, len(original), 5)]
    for bit in range(0, 8 * len(original), 7):
        flipped = bytearray(original)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.append(bytes(flipped))
    for number, data in enumerate(damaged):
        first.write_bytes(data)
        assert find_recomputed(saving, tmp_path) == [True, False, False], number
    assert first.read_bytes() == original
    first.write_bytes(other)
    second.write_bytes(original)
    assert find_recomputed(saving, tmp_path) == [True, True, False], "exchanged"


def test_arrays_that_are_saved_are_not_kept_in_memory(
    saving: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "MIN_SAVED_BYTES", 100)
    for numbers, is_kept in ((12, True), (13, False)):
        (array,), load = saving.make_reloadable(f"{numbers}", partial(make_range, numbers))
        kept, found = weakref.ref(array), array.tolist()
        del array
        assert (kept() is not None) == is_kept
        assert [each.tolist() for each in load()] == [found]


class Cycle:
    """An object that garbage collection frees, by code in which another thread may get its turn."""

    def __init__(self) -> None:
        self.cycle = self

    def __del__(self) -> None:
        for _ in range(50):
            pass


def test_many_threads_load_results_at_once(tmp_path: Path) -> None:
    """Try what broke Python 3.11: threads that parse Python text, as numpy's headers are."""
    saved = checkpoints(Folder(tmp_path), TOURS)
    saved.save("part", make_arrays(3))
    source = Source(Path(errors.__file__).read_bytes())

    def load(_: int) -> None:
        for _ in range(usual_or_nightly(20, 300)):
            Cycle()
            assert saved.load("part") is not None
            assert CodeReader(lambda _: source).load("errors")

    with ThreadPoolExecutor(4) as threads, ExitStack() as stack:
        stack.callback(sys.setswitchinterval, sys.getswitchinterval())
        stack.callback(gc.set_threshold, *gc.get_threshold())
        sys.setswitchinterval(1e-6)
        gc.set_threshold(5)
        list(threads.map(load, range(4)))


def test_a_store_that_fails_has_no_missing_results(tmp_path: Path) -> None:
    file = checkpoints(Folder(tmp_path), TOURS).format_file_name("part")
    store = Withheld(tmp_path, file, Unreachable("HTTP status 503"))
    with pytest.raises(TableUnreadable, match="503"):
        checkpoints(store, TOURS).load("part")


class SendingExecutor(ThreadPoolExecutor):
    """Executor that sends its tasks as bytes, as one does whose workers are elsewhere."""

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        function, args, kwargs = pickle.loads(pickle.dumps((function, args, kwargs)))
        return super().submit(function, *args, **kwargs)


@pytest.mark.parametrize("is_saved", [False, True])
def test_a_worker_with_other_code_runs_no_task(
    is_saved: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = checkpoints(Folder(tmp_path), TOURS)
    with SendingExecutor(1) as pool:
        build = Tasks(Workers(pool, 1, is_remote=True), checkpoints=store)
        assert len([*build.run(make_arrays, [(1,)], is_saved=is_saved)]) == 1
        monkeypatch.setattr("puzzle_tablebase.code_digest._digest_roots", lambda roots: "other")
        with pytest.raises(StoreError, match="other code"):
            [*build.run(make_arrays, [(2,)], is_saved=is_saved)]


def test_results_of_other_parameters_are_not_used(tmp_path: Path) -> None:
    """Use counts of other boards, which have the same table and the same columns."""
    fewer, more = (
        checkpoints(Folder(tmp_path), make_count_table(boards))
        for boards in (((3, 4),), ((3, 4), (2, 2)))
    )
    fewer.save("part", make_arrays(3))
    assert fewer.load("part") is not None
    assert fewer.load("another") is more.load("part") is None
    more.clear_others()
    assert fewer.load("part") is None


# ---- processes ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_processes_build_the_same_bytes(tmp_path: Path) -> None:
    tables = [(KNIGHT, (TOURS, make_count_table(((3, 4), (2, 2))), KNIGHT.tables[2]))]
    build_all(Folder(tmp_path / "threads"), tables, jobs=2)
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
        build_all(Folder(tmp_path / "processes"), tables, None, processes, jobs=2)
        assert processes.submit(double, 2).result() == 4, "whoever opened it closes it"
    for path in (tmp_path / "threads").iterdir():
        if path.name != RUNS:  # it has times
            assert path.read_bytes() == (tmp_path / "processes" / path.name).read_bytes()


@pytest.mark.parametrize(
    "error_class",
    [each for each in [*vars(errors).values(), PluginError] if hasattr(each, "exit_code")],
)
def test_every_error_can_be_pickled(error_class: type[errors.TablebaseError]) -> None:
    parameters = (
        []
        if error_class.__init__ is Exception.__init__
        else inspect.signature(error_class).parameters
    )
    numbers = ("limit", "found", "wanted", "needed", "free", "seconds", "least", "most")
    arguments: dict[str, Any] = {name: 7 if name in numbers else name for name in parameters}
    if "table" in arguments or error_class is errors.StoreEmpty:
        arguments["store"] = Folder("tables")
    if "solver" in arguments:
        arguments["solver"] = ("fifteen", "state", "goal")
    error = error_class(**arguments) if arguments else error_class("reason")
    restored = pickle.loads(pickle.dumps(error))
    assert type(restored) is error_class
    assert error_class.exit_code in (1, 2, 3, 4, 141)
    assert (str(restored), vars(restored)) == (str(error), vars(error))
