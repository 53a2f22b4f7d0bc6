"""Tasks and their runner: results in order, few tasks at a time, with checkpoints and progress.

Tasks run on any executor. A task whose result is in a checkpoint is not run again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy.typing as npt

from tablebase.errors import StoreError
from tablebase.resources import count_cores
from tablebase.tables.checkpoints import Checkpoints
from tablebase.tables.manifest import Depth

Result = TypeVar("Result")
Chunks = Generator[Mapping[str, npt.NDArray[Any]], None, None]


class TableData(NamedTuple):
    """The result of a builder: a table's rows, its index's records, and the number of records.

    `depths`: the states of each goal at each depth, of a table whose rows do not tell them.
    """

    rows: Chunks
    records: Chunks
    record_count: int
    depths: Mapping[Depth, int] = {}


def make_no_records() -> Chunks:
    """Iterate over the records of a table without an index: none."""
    yield from ()


MIN_SAVED_SECONDS = 0.01
"""Seconds: the result of a faster task is not saved, since repeating it costs less than a file."""


class TaskResult(NamedTuple):
    """The result of a task, whether it was loaded from a checkpoint, and its processor seconds."""

    value: Any
    is_resumed: bool
    seconds: float


@dataclass(slots=True)
class TaskUsage:
    """The number of a table's tasks so far, and their processor seconds.

    The threads of a search that is not divided into tasks are counted too.
    """

    seconds: float = 0.0
    done: int = 0
    resumed: int = 0
    failed: int = 0
    _lock: Any = field(default_factory=Lock)

    def add_seconds(self, seconds: float) -> None:
        """Add processor seconds of any thread."""
        with self._lock:
            self.seconds += seconds

    def add(self, result: TaskResult) -> Any:
        """Count a finished task and return its value."""
        self.add_seconds(result.seconds)
        self.done += 1
        self.resumed += result.is_resumed
        return result.value


class TimedThreadPool(ThreadPoolExecutor):
    """A pool of threads whose processor seconds are added to a table's usage."""

    def __init__(self, threads: int, usage: TaskUsage) -> None:
        super().__init__(threads)
        self._usage = usage

    def submit(
        self, function: Callable[..., Result], /, *arguments: Any, **options: Any
    ) -> Future[Result]:
        def run() -> Result:
            started = time.thread_time()
            try:
                return function(*arguments, **options)
            finally:
                self._usage.add_seconds(time.thread_time() - started)

        return super().submit(run)


@dataclass(frozen=True, slots=True)
class TaskRunner:
    """The runner of a builder's tasks; its copies (`replace`) share failures with it.

    A task is a module's function with plain arguments, so that an executor may send it to another
    machine. Results in checkpoints are lists of arrays.
    """

    executor: Executor
    jobs: int
    on_progress: Callable[[str, int, int | None], None] | None = None
    checkpoints: Checkpoints | None = None
    is_remote: bool = False
    """Whether other machines may run tasks: results are then saved in the store and read there."""
    usage: TaskUsage = field(default_factory=TaskUsage)
    """What the tasks used so far; each table's runner has its own."""
    min_saved_seconds: float = MIN_SAVED_SECONDS
    _failed: list[BaseException] = field(default_factory=list)
    """Errors of all tasks; one list is shared by all copies of a runner."""

    def run_tasks(
        self, function: Callable[..., Result], items: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """Run a function for each item and iterate over the results, in the order of the items.

        `jobs` tasks and one more are submitted at a time, so that no worker waits for the next.
        """
        pending: deque[Future[Any]] = deque()
        run: Callable[..., Any] = (
            _store_result
            if self.is_remote
            else partial(_load_or_compute, min_saved_seconds=self.min_saved_seconds)
        )
        try:
            for arguments in items:
                future: Future[Any] = self.executor.submit(
                    run, self.checkpoints, function, arguments
                )
                future.add_done_callback(self._note_failure)
                pending.append(future)
                if len(pending) > self.jobs:
                    yield self._take_first(pending)
            while pending:
                yield self._take_first(pending)
        except (Exception, KeyboardInterrupt) as error:
            self._failed.append(error)
            raise
        finally:
            for future in pending:
                future.cancel()

    def report_progress(self, doing: str, done: int, total: int | None = None) -> None:
        """Report progress; if another task has failed, raise its error."""
        self.require_no_failure()
        if self.on_progress:
            self.on_progress(doing, done, total)

    def require_no_failure(self) -> None:
        """Raise the first error of a task, if any task has failed."""
        if self._failed:
            raise self._failed[0]

    def _take_first(self, pending: deque[Future[Any]]) -> Any:  # of the function's type
        """Wait for the first pending task and return its result.

        If a task of another runner has failed, raise its error. An error of a later pending task is
        raised in its turn.
        """
        is_waiting = True
        while is_waiting:
            # short waits: an interrupt does not end a wait without a timeout
            is_waiting = not wait([pending[0]], 0.2).done
            if not any(task.exception() in self._failed for task in pending if task.done()):
                self.require_no_failure()
        result = self.usage.add(pending.popleft().result())
        return self.checkpoints.require(result) if self.is_remote and self.checkpoints else result

    def _note_failure(self, future: Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()):
            self._failed.append(error)
            self.usage.failed += 1


def run_in_threads(
    function: Callable[..., Result],
    items: Iterable[tuple[Any, ...]],
    max_threads: int | None = None,
    usage: TaskUsage | None = None,
) -> Iterator[Result]:
    """Run a function for each item in threads, and iterate over the results in their order.

    There are as many threads as cores, and at most `max_threads`. Their processor seconds are added
    to `usage`; they are no tasks, because their results are never saved.
    """
    threads = min(count_cores(), max_threads or count_cores())
    with ThreadPoolExecutor(threads) as pool:
        runner = TaskRunner(pool, threads)
        try:
            yield from runner.run_tasks(function, items)
        finally:
            if usage:
                usage.add_seconds(runner.usage.seconds)


def _load_or_compute(
    checkpoints: Checkpoints | None,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    min_saved_seconds: float = MIN_SAVED_SECONDS,
) -> TaskResult:
    started = time.thread_time()
    if checkpoints is None:
        return TaskResult(function(*arguments), False, time.thread_time() - started)
    name = make_checkpoint_name(function, arguments)
    result = checkpoints.load(name)
    is_resumed = result is not None
    if not is_resumed:
        start_time = time.monotonic()
        result = function(*arguments)
        if time.monotonic() - start_time > min_saved_seconds:
            with suppress(StoreError):  # the result is in memory; only resuming needs the file
                checkpoints.save(name, result)
    return TaskResult(result, is_resumed, time.thread_time() - started)


def _store_result(
    checkpoints: Checkpoints, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> TaskResult:
    """Save a task's result in the store and return its name.

    So large results do not pass through the executor.
    """
    started = time.thread_time()
    checkpoints.require_version()
    name = make_checkpoint_name(function, arguments)
    is_resumed = checkpoints.load(name) is not None
    if not is_resumed:
        checkpoints.save(name, function(*arguments))
    return TaskResult(name, is_resumed, time.thread_time() - started)


def make_checkpoint_name(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """Return the name under which a task's result is saved."""
    return f"{function.__module__}.{function.__qualname__}{arguments}"
