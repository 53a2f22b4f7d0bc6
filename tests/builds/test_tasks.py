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
import zlib
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from puzzle_tablebase import errors
from puzzle_tablebase.code_digest import digest_source
from puzzle_tablebase.errors import TableUnreadable, Unreachable
from puzzle_tablebase.pipeline.build import build
from puzzle_tablebase.pipeline.plan import Request
from puzzle_tablebase.pipeline.recipes.tour_lists import list_tours_from
from puzzle_tablebase.pipeline.runs import RUNS
from puzzle_tablebase.pipeline.searches import SEARCHES, checkpoints
from puzzle_tablebase.pipeline.tasks import MemoryLimit, Tasks, make_checkpoint_name
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_count_table, make_tour_table
from puzzle_tablebase.puzzles.plugins import PluginError
from puzzle_tablebase.stores.checkpoints import Arrays
from puzzle_tablebase.stores.folder import Folder
from tests import usual_or_nightly
from tests.support.build_recorder import Recorder, Withheld, build_tables

TOURS = make_tour_table(KnightBoard(3, 4))


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


def double(number: int) -> int:
    time.sleep(0.01 * (number % 3))
    return 2 * number


def halve(number: int) -> float:
    return 1 / number


def make_arrays(number: int) -> Arrays:
    return [np.arange(number), np.full((2, 2), number, dtype=np.uint8)]


def test_results_come_in_the_order_of_the_items(pool: CountingExecutor) -> None:
    results = Tasks(pool, 2).run(double, ((number,) for number in range(20)))
    assert list(results) == [2 * number for number in range(20)]


def test_tasks_whose_results_nobody_takes_are_not_started(pool: CountingExecutor) -> None:
    results = Tasks(pool, 2).run(double, ((number,) for number in itertools.count()))
    assert [next(results), next(results), next(results)] == [0, 2, 4]
    assert pool.submitted == 5


def test_a_failure_ends_all_tasks_with_the_same_error(pool: CountingExecutor) -> None:
    work = Tasks(pool, 2)
    other_runner = replace(work, on_progress=lambda *_: None)
    other_results = other_runner.run(double, [(1,), (2,), (3,)])
    assert next(other_results) == 2
    results = work.run(halve, ((number,) for number in (1, 0, *range(2, 100))))
    with pytest.raises(ZeroDivisionError) as failed:
        list(results)
    assert pool.submitted < 10
    for call in (
        lambda: next(other_results),
        lambda: other_runner.report("layer", 1),
        other_runner.require_no_failure,
    ):
        with pytest.raises(ZeroDivisionError) as caught:
            call()
        assert caught.value is failed.value


def test_an_interrupt_ends_all_tasks(pool: CountingExecutor) -> None:
    work = Tasks(pool, 2)

    def yield_then_interrupt() -> Iterator[tuple[int]]:
        yield (1,)
        raise KeyboardInterrupt

    work.run(double, [(1,), (2,)]).close()  # type: ignore[attr-defined]  # a generator
    work.require_no_failure()
    with pytest.raises(KeyboardInterrupt):
        list(work.run(double, yield_then_interrupt()))
    with pytest.raises(KeyboardInterrupt):
        replace(work, jobs=1).report("layer", 1)


def test_a_failure_ends_the_wait_for_another_task(pool: CountingExecutor) -> None:
    work, release, ended = Tasks(pool, 1), threading.Event(), list[int]()

    def wait(number: int) -> None:
        release.wait(60)
        ended.append(number)

    with pytest.raises(ZeroDivisionError):
        list(work.run(halve, [(0,)]))
    with pytest.raises(ZeroDivisionError):
        next(work.run(wait, [(1,)]))
    assert not ended
    release.set()


def test_of_several_failures_the_first_in_order_is_raised() -> None:
    has_failed = threading.Event()

    def fail_late(number: int) -> None:
        if number == 1:
            has_failed.wait(60)
        if number:
            has_failed.set()
            raise ValueError(number)

    with ThreadPoolExecutor(3) as pool, pytest.raises(ValueError, match="1"):
        list(Tasks(pool, 2).run(fail_late, [(0,), (1,), (2,)]))


@pytest.mark.parametrize("limit", [None, 1_000])
def test_too_little_memory_is_refused(limit: int | None) -> None:
    memory = MemoryLimit(limit)
    memory.reserve("a", "a search", 1_000, lambda: None)
    with pytest.raises(errors.MemoryShort, match="raise the limit"):
        memory.reserve("b", "a search", 1 << 60, lambda: None)
    memory.reserve("a", "the same table's next search", 1_000, lambda: None)


def test_two_searches_never_hold_more_than_the_limit_together() -> None:
    memory, waits, is_begun = MemoryLimit(1_000), list[bool](), Event()

    def wait() -> None:
        waits.append(True)
        is_begun.set()

    memory.reserve("a", "a search", 600, wait)
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(memory.reserve, "b", "another", 600, wait)
        assert is_begun.wait(60)
        assert not other.done()
        memory.release("a")
        other.result(60)
    assert waits
    with pytest.raises(KeyboardInterrupt):  # what ends the build ends the wait
        memory.reserve("a", "a search", 600, interrupt)


def interrupt() -> None:
    raise KeyboardInterrupt


# ---- saved results --------------------------------------------------------------------------


@pytest.fixture
def saving_runner(pool: CountingExecutor, tmp_path: Path) -> Tasks:
    """Return a runner that saves the result of every task, however short it is."""
    saved = checkpoints(Folder(tmp_path), TOURS)
    return Tasks(pool, 2, checkpoints=saved, min_saved_seconds=-1)


def find_recomputed(work: Tasks, folder: Path) -> list[bool]:
    """Run three tasks, check their results, and return which saved ones were computed again."""
    before = {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*.kept"))}
    result = list(work.run(make_arrays, [(1,), (2,), (3,)]))
    for number, actual_arrays in enumerate(result, start=1):
        for actual, expected in zip(actual_arrays, make_arrays(number), strict=True):
            assert actual.dtype == expected.dtype
            np.testing.assert_array_equal(actual, expected)
    return [path.stat().st_mtime_ns != modified for path, modified in before.items()]


def test_a_finished_task_is_not_run_again(saving_runner: Tasks, tmp_path: Path) -> None:
    assert find_recomputed(saving_runner, tmp_path) == []
    assert find_recomputed(saving_runner, tmp_path) == [False] * 3


def test_the_result_of_a_short_task_is_not_saved(saving_runner: Tasks, tmp_path: Path) -> None:
    find_recomputed(replace(saving_runner, min_saved_seconds=60), tmp_path)
    assert list(tmp_path.rglob("*.kept")) == []


def test_a_result_that_cannot_be_saved_is_returned(saving_runner: Tasks, tmp_path: Path) -> None:
    """Use a folder that does not exist, as a process that does not reach the store."""
    unreachable = checkpoints(Folder(tmp_path / "nowhere"), TOURS)
    assert find_recomputed(replace(saving_runner, checkpoints=unreachable), tmp_path) == []
    assert not [*tmp_path.iterdir()]


def test_a_damaged_result_is_recomputed_whichever_bit_is_wrong(
    saving_runner: Tasks, tmp_path: Path
) -> None:
    find_recomputed(saving_runner, tmp_path)
    first = min(tmp_path.rglob("*.kept"))
    original = first.read_bytes()
    for bit in range(0, 8 * len(original), 7):
        flipped = bytearray(original)
        flipped[bit // 8] ^= 1 << bit % 8
        first.write_bytes(flipped)
        os.utime(first, ns=(0, 0))
        assert find_recomputed(saving_runner, tmp_path) == [True, False, False], bit
    for length in range(0, len(original), 5):
        first.write_bytes(original[:length])
        os.utime(first, ns=(0, 0))
        assert find_recomputed(saving_runner, tmp_path) == [True, False, False], length
    assert first.read_bytes() == original


def test_exchanged_results_are_computed_again(saving_runner: Tasks, tmp_path: Path) -> None:
    find_recomputed(saving_runner, tmp_path)
    first, second, third = sorted(tmp_path.rglob("*.kept"))
    first.rename(tmp_path / "aside")
    second.rename(first)
    (tmp_path / "aside").rename(second)
    for path in (first, second, third):
        os.utime(path, ns=(0, 0))
    assert find_recomputed(saving_runner, tmp_path) == [True, True, False]


@pytest.mark.parametrize("data", [b"no zstd", b"\x28\xb5\x2f\xfd\x00"], ids=["other", "cut"])
def test_a_result_of_no_program_is_computed_again(
    data: bytes, saving_runner: Tasks, tmp_path: Path
) -> None:
    """Give bytes that are no result the checksum that this program would give them."""
    find_recomputed(saving_runner, tmp_path)
    saved = saving_runner.checkpoints
    assert saved
    name = make_checkpoint_name(make_arrays, (1,))
    (file,) = (
        tmp_path / file for file in saved.list_files() if file == saved.format_file_name(name)
    )
    file.write_bytes(data + zlib.crc32(data, saved.begin_checksum(name)).to_bytes(4, "little"))
    assert saved.load(name) is None


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
    source = Path(errors.__file__).read_bytes()
    digest = digest_source(source)

    def load(_: int) -> None:
        for _ in range(usual_or_nightly(20, 300)):
            Cycle()
            assert saved.load("part") is not None
            assert digest_source(source) == digest

    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    try:
        sys.setswitchinterval(1e-6)
        gc.set_threshold(5)
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(load, range(4)))
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*threshold)


def test_a_store_that_fails_has_no_missing_results(tmp_path: Path) -> None:
    file = checkpoints(Folder(tmp_path), TOURS).format_file_name("part")
    store = Withheld(tmp_path, file, Unreachable("HTTP status 503", 503))
    with pytest.raises(TableUnreadable, match="503"):
        checkpoints(store, TOURS).load("part")


def test_results_of_other_parameters_are_not_used(tmp_path: Path) -> None:
    """Use counts of other boards, which have the same table and the same columns."""
    fewer_boards, more_boards = (
        checkpoints(Folder(tmp_path), make_count_table(boards))
        for boards in (((3, 4),), ((3, 4), (2, 2)))
    )
    fewer_boards.save("part", make_arrays(3))
    assert fewer_boards.load("part") is not None
    assert fewer_boards.load("another") is more_boards.load("part") is None
    more_boards.clear_others()
    assert fewer_boards.load("part") is None


def test_a_result_is_named_after_its_function_and_arguments(
    saving_runner: Tasks, tmp_path: Path
) -> None:
    list(saving_runner.run(make_arrays, [(3,)]))
    list(saving_runner.run(make_arrays, [(4,)]))
    list(saving_runner.run(list_tours_from, [(3, 4, 0)]))
    assert len(list(tmp_path.rglob("*.kept"))) == 3


# ---- processes ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_processes_build_the_same_bytes(tmp_path: Path) -> None:
    tables = (TOURS, make_count_table(((3, 4), (2, 2))), KNIGHT.tables[2])
    build_tables(tmp_path / "threads", KNIGHT, *tables, jobs=2)
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
        request = Request(Folder(tmp_path / "processes"), [(KNIGHT, tables)], jobs=2)
        build(request, Recorder(), processes)
        assert processes.submit(double, 2).result() == 4, "whoever opened it closes it"
    for path in (tmp_path / "threads").iterdir():
        if path.name == RUNS:  # it has times
            continue
        assert path.read_bytes() == (tmp_path / "processes" / path.name).read_bytes()


def test_every_recipe_has_a_builder() -> None:
    tables = [
        table
        for stage in list_puzzles()
        for name in [stage.name, *(names[0] for names in stage.list_requests().values())]
        if name != "sliding"
        for table in stage.find_tables(name)
    ]
    assert {table.recipe.search for table in tables} == {*SEARCHES}


def list_subclasses(kind: type[errors.TablebaseError]) -> Iterator[type[errors.TablebaseError]]:
    yield kind
    for child in kind.__subclasses__():
        if child.__module__ == "puzzle_tablebase":
            yield from list_subclasses(child)


# all workers must list the same, whatever they have imported: PluginError's module is loaded late
KINDS = sorted(
    {*list_subclasses(errors.TablebaseError), PluginError}, key=lambda kind: kind.__name__
)


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_can_be_pickled(kind: type[errors.TablebaseError]) -> None:
    parameters = [] if kind.__init__ is Exception.__init__ else inspect.signature(kind).parameters
    numbers = ("limit", "found", "wanted", "needed", "free", "seconds", "least", "most")
    arguments: dict[str, Any] = {name: 7 if name in numbers else name for name in parameters}
    error = kind(**arguments) if arguments else kind("said")
    restored = pickle.loads(pickle.dumps(error))
    assert type(restored) is kind
    assert kind.exit_code in (1, 2, 3, 4, 141)
    assert (str(restored), vars(restored)) == (str(error), vars(error))
