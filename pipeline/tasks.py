"""Tasks: results in order, few at a time, with checkpoints, progress and a share of the memory.

Tasks run on any executor: threads of this process, or the workers of a Dask cluster. A task whose
result is in a checkpoint is not run again. The first error ends all tables of a build.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Condition
from typing import Any, NamedTuple, TypeVar

import numpy.typing as npt

from puzzle_tablebase.errors import MachineLimit, MemoryShort, StoreError
from puzzle_tablebase.formats.manifest import Depth
from puzzle_tablebase.resources import count_cores, get_free_memory
from puzzle_tablebase.stores.checkpoints import Checkpoints

Result = TypeVar("Result")
Chunks = Generator[Mapping[str, npt.NDArray[Any]], None, None]
Step = Callable[[str, int, int | None], None]

MIN_SAVED_SECONDS = 0.01
"""Seconds: the result of a faster task is not saved, since repeating it costs less than a file."""
WAIT_SECONDS = 0.5
"""Seconds of one wait: on Windows, Ctrl-C does not end a wait without a limit."""


class TableData(NamedTuple):
    """The result of a recipe: a table's rows, its index's records, and the number of records.

    `depths`: the states of each goal at each depth, of a table whose rows do not tell them.
    """

    rows: Chunks
    records: Chunks
    record_count: int
    depths: Mapping[Depth, int] = {}


def make_no_records() -> Chunks:
    """Iterate over the records of a table without an index: none."""
    yield from ()


@dataclass(slots=True)
class _Shared:
    """What the tables of a build share: the error that ends them, and the memory that each holds.

    `available`: the bytes for all of them, measured while none holds any; None: nobody knows.
    """

    error: Future[None] = field(default_factory=Future)
    changed: Condition = field(default_factory=Condition)
    held: dict[str, int] = field(default_factory=dict)
    available: int | None = None


class Tasks:
    """The tasks of one table. Those of a build's other tables share its executor and its end.

    `jobs`: how many run at a time; `memory`: bytes that a worker's task, or all searches of this
    process together, may use (None: what is free). `is_remote`: other machines run the tasks, so
    results are saved in the store and read there.
    """

    def __init__(
        self,
        executor: Executor | None,
        jobs: int,
        on_step: Step | None = None,
        checkpoints: Checkpoints | None = None,
        is_remote: bool = False,
        *,
        memory: int | None = None,
    ) -> None:
        self.executor, self.jobs, self.is_remote, self.memory = executor, jobs, is_remote, memory
        self.checkpoints = checkpoints
        self._on_step = on_step
        self._table = ""
        self._shared = _Shared()

    @contextmanager
    def of_table(self, table: str, checkpoints: Checkpoints, on_step: Step) -> Iterator[Tasks]:
        """Yield the tasks of a table; its memory is released at the end of the block."""
        own = Tasks(
            self.executor, self.jobs, on_step, checkpoints, self.is_remote, memory=self.memory
        )
        own._table, own._shared = table, self._shared
        try:
            yield own
        finally:
            own._release_memory()

    def run(
        self, function: Callable[..., Result], items: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """Run a module's function for each tuple of arguments; yield the results in their order.

        Results are lists of arrays, and are saved as checkpoints.
        """
        assert self.executor
        run = partial(_run_task, is_remote=self.is_remote)
        submit = partial(self.executor.submit, run, self.checkpoints, function)
        for result in self._run_in_order(submit, items):
            if self.is_remote and self.checkpoints:
                yield self.checkpoints.require(result)  # type: ignore[misc]  # arrays, by name
            else:
                yield result

    def run_in_threads(
        self, function: Callable[..., Result], items: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """Run any function as `run` does, in threads of this process; the results are not saved."""
        with ThreadPoolExecutor(min(self.jobs, count_cores())) as pool:
            submit = partial(pool.submit, function)
            yield from self._run_in_order(lambda arguments: submit(*arguments), items)

    def report(self, doing: str, done: int, total: int | None = None) -> None:
        """Report a step; raise the error that has ended another table or task."""
        self._require_no_error()
        if self._on_step:
            self._on_step(doing, done, total)

    def require_memory(self, needed: int, of: str = "") -> None:
        """Reserve the bytes of a search, in place of those that this table held before.

        Wait while other tables hold too many. Raise MemoryShort if it alone needs more than there
        is; `of` completes the table's name in the message.
        """
        self._release_memory()
        shared = self._shared
        with shared.changed:
            while True:
                self._require_no_error()
                if not shared.held:
                    shared.available = self.memory or get_free_memory()
                available = shared.available
                if available is None or sum(shared.held.values()) + needed <= available:
                    shared.held[self._table] = needed
                    return
                if needed > available:
                    hint = "Close other programs, or raise the limit"
                    raise MemoryShort(f"{self._table}{of}", needed, available, hint)
                self.report("waits for memory", 0)
                shared.changed.wait()

    def _release_memory(self) -> None:
        with self._shared.changed:
            self._shared.held.pop(self._table, None)
            self._shared.changed.notify_all()

    def _run_in_order(
        self, submit: Callable[[tuple[Any, ...]], Future[Result]], items: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """Submit a task for each item, one more than `jobs` at a time; yield results in order."""
        pending = deque[Future[Result]]()
        try:
            for arguments in items:
                pending.append(submit(arguments))
                pending[-1].add_done_callback(self._note_error)
                if len(pending) > self.jobs:
                    yield self._take_first(pending)
            while pending:
                yield self._take_first(pending)
        except (Exception, KeyboardInterrupt) as error:
            self._end(error)
            raise
        finally:
            for future in pending:
                future.cancel()

    def _take_first(self, pending: deque[Future[Result]]) -> Result:
        """Wait for the first task and return its result; raise what ends the build meanwhile."""
        either: list[Future[Any]] = [pending[0], self._shared.error]
        while not wait(either, WAIT_SECONDS, FIRST_COMPLETED).done:
            pass
        self._require_no_error()
        return pending.popleft().result()

    def _require_no_error(self) -> None:
        """Raise the error that has ended the build, if one has."""
        if self._shared.error.done():
            self._shared.error.result()

    def _note_error(self, future: Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()):
            self._end(error)

    def _end(self, error: BaseException) -> None:
        """End all tables and tasks with an error, unless an earlier one has."""
        with self._shared.changed:
            if not self._shared.error.done():
                self._shared.error.set_exception(error)
            self._shared.changed.notify_all()


def run_in_threads(
    function: Callable[..., Result],
    items: Iterable[tuple[Any, ...]],
    max_threads: int | None = None,
) -> Iterator[Result]:
    """Run a function for each item in threads, by default one a core; yield results in order."""
    yield from Tasks(None, max_threads or count_cores()).run_in_threads(function, items)


def _run_task(
    checkpoints: Checkpoints | None,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    *,
    is_remote: bool,
) -> Any:
    """Load a task's result from its checkpoint, or compute it, and save it if that took long.

    On another machine, save it and return the name of the checkpoint: large results do not pass
    the executor.
    """
    if checkpoints is None:
        return function(*arguments)
    if is_remote:
        checkpoints.require_same_code()
    name = make_checkpoint_name(function, arguments)
    result = checkpoints.load(name)
    if result is None:
        begun = time.monotonic()
        result = function(*arguments)
        if is_remote:
            checkpoints.save(name, result)
        elif time.monotonic() - begun > MIN_SAVED_SECONDS:
            with suppress(StoreError):  # the result is in memory; only resuming needs the file
                checkpoints.save(name, result)
    return name if is_remote else result


def make_checkpoint_name(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """Return the name under which a task's result is saved."""
    return f"{function.__module__}.{function.__qualname__}{arguments}"


@contextmanager
def open_tasks(
    scheduler: str | None = None, jobs: int | None = None, memory: int | None = None
) -> Iterator[Tasks]:
    """Open the tasks of a build: on a Dask scheduler by its address, or in threads of this process.

    `jobs`: the most that run at a time; by default as many as there are cores, here or there.
    """
    if scheduler is None:
        jobs = jobs or count_cores()
        pool = ThreadPoolExecutor(jobs)
        try:
            yield Tasks(pool, jobs, memory=memory)
        finally:  # after an error nobody waits for the tasks that are still running
            pool.shutdown(wait=False, cancel_futures=True)
        return
    try:
        from puzzle_tablebase.pipeline.cluster import connect
    except ImportError as error:  # Dask is an extra
        hint = "In a clone, run: .venv/bin/python -m pip install -e '.[cluster]'"
        raise MachineLimit(f"--scheduler needs a package: {error}", hint) from error
    with connect(scheduler) as (executor, threads):
        yield Tasks(executor, min(jobs or threads, threads), is_remote=True, memory=memory)
