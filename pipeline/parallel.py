"""Functions that run at the same time, on any executor, with their results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from puzzle_tablebase.resources import count_cores

Result = TypeVar("Result")
Items = Iterable[tuple[Any, ...]]
"""Tuples of arguments."""


def map_in_order(
    submit: Callable[..., Future[Result]],
    items: Items,
    is_full: Callable[[int], bool],
    wait: Callable[[Future[Result]], object] = lambda first: None,
) -> Iterator[Result]:
    """Submit a task for each item; yield the results in order.

    `is_full`: returns whether this number of untaken results is enough. `wait`: waits for a task.
    """
    pending = deque[Future[Result]]()
    try:
        for arguments in items:
            pending.append(submit(*arguments))
            if is_full(len(pending)):
                wait(pending[0])
                yield pending.popleft().result()
        while pending:
            wait(pending[0])
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()


@contextmanager
def open_threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Yield an executor of threads, which are not waited for at the end."""
    pool = ThreadPoolExecutor(count)
    try:
        yield pool
    finally:
        # not waiting: an iterator that nobody reads to its end may be collected in a thread
        # that another pool is starting, where waiting for a thread would block both for ever
        pool.shutdown(wait=False, cancel_futures=True)


def run_in_threads(
    function: Callable[..., Result], items: Items, max_threads: int | None = None
) -> Iterator[Result]:
    """Run a function for each item in threads, by default one a core; yield results in order."""
    threads = max_threads or count_cores()
    with open_threads(min(threads, count_cores())) as pool:
        # one more, so that no thread waits for a task
        yield from map_in_order(
            lambda *each: pool.submit(function, *each), items, lambda pending: pending > threads
        )
