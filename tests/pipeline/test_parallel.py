"""Functions that run at the same time: what has not begun when one fails never begins."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from threading import Event

import pytest

from puzzle_tablebase.pipeline import parallel, workers
from puzzle_tablebase.pipeline.parallel import Items, open_threads
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.workers import Workers

Work = Callable[[int], object]


def run_in_proof(pool: Executor, work: Work, items: Items) -> Iterator[object]:
    return parallel.run_in_threads(work, items, 3)


def run_in_build(pool: Executor, work: Work, items: Items) -> Iterator[object]:
    return Workers(None, 3).run_in_threads(work, items)


def run_as_tasks(pool: Executor, work: Work, items: Items) -> Iterator[object]:
    return Tasks(Workers(pool, 3)).run(work, items)


def end_threads(before: set[threading.Thread]) -> None:
    """Wait for the end of all threads that were not there before."""
    for thread in {*threading.enumerate()} - before:
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.parametrize("run", [run_in_proof, run_in_build, run_as_tasks])
def test_what_has_not_begun_when_a_task_fails_never_begins(
    run: Callable[..., Iterator[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let one thread run a task that fails, and one that runs while its error is raised."""
    for module in (parallel, workers):
        monkeypatch.setattr(module, "count_cores", lambda: 1)
    begun, release, before = list[int](), Event(), {*threading.enumerate()}

    def work(number: int) -> None:
        if number == 0:
            raise ZeroDivisionError
        begun.append(number)
        release.wait(60)

    with ThreadPoolExecutor(1) as pool:
        results = run(pool, work, ((number,) for number in range(9)))
        with pytest.raises(ZeroDivisionError):
            next(results)
        release.set()
    end_threads(before)
    assert begun in ([], [1])


def test_what_has_not_begun_when_threads_are_closed_never_begins() -> None:
    begun, is_running, release = list[int](), Event(), Event()

    def block() -> None:
        is_running.set()
        release.wait(60)

    before = {*threading.enumerate()}
    with open_threads(1) as pool:
        pool.submit(block)
        pool.submit(begun.append, 1)
        assert is_running.wait(60)
    release.set()
    end_threads(before)
    assert begun == []
