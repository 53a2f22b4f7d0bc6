"""Tasks: results in order, few at a time, with checkpoints, progress and a share of the memory.

Tasks run on any executor: threads of this process, or the workers of a Dask cluster. A task whose
result is in a checkpoint is not run again. The first error ends all tables of a build.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Condition
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy.typing as npt

from puzzle_tablebase.errors import MemoryShort, StoreError, raise_missing
from puzzle_tablebase.formats.counts import Depth
from puzzle_tablebase.formats.encoder import Part
from puzzle_tablebase.formats.index_writer import Written
from puzzle_tablebase.resources import count_cores, get_free_memory
from puzzle_tablebase.stores import Folder
from puzzle_tablebase.stores.checkpoints import Checkpoints

if TYPE_CHECKING:
    from puzzle_tablebase.pipeline.cluster import DaskExecutor

Result = TypeVar("Result")
Array = npt.NDArray[Any]
Step = Callable[[str, int, int | None], None]

MIN_SAVED_SECONDS = 0.01
"""Seconds: the result of a faster task is not saved, since repeating it costs less than a file."""
SOON_SECONDS = 1
"""Seconds within which tasks usually end, once a build has failed."""
MIN_SAVED_BYTES = 1 << 24
"""Bytes from which the arrays of a search in this process are saved."""


Parts = Generator[Part, None, None]
RecordWriter = Callable[[Folder, str], Generator[Written, None, None]]
"""A function that writes records to the hidden file of an index, in a folder, as it is iterated."""


class TableData(NamedTuple):
    """The result of a recipe: the parts of a table, made as they are asked for, once.

    `record_count`: the number of records of its index. `depths`: the states of each goal at each
    depth, of a table whose rows do not tell them. `write_records`: writes records that the parts do
    not have, since tasks have them.
    """

    parts: Parts
    record_count: int = 0
    depths: Mapping[Depth, int] = {}
    write_records: RecordWriter | None = None


@dataclass(slots=True)
class _Shared:
    """What the tables of a build share: the error that ends them, and the memory that each holds.

    `running`: the tasks that have not ended. `available`: the bytes for all tables, measured while
    none holds any; None: nobody knows.
    """

    error: Future[None] = field(default_factory=Future)
    changed: Condition = field(default_factory=Condition)
    running: set[Future[Any]] = field(default_factory=set)
    held: dict[str, int] = field(default_factory=dict)
    available: int | None = None


@dataclass
class Tasks:
    """The tasks of one table. Those of a build's other tables share its executor and its end.

    `jobs`: how many run at a time; on a `cluster`, more if workers join it, up to `most_jobs`.
    `memory`: bytes that all searches of this process, or a worker's
    task, may use (None: what is free). `is_remote`: other machines run the tasks, so results are
    saved in the store and read there. `shards`: the number that this table's search has; 0:
    it is in memory.
    """

    executor: Executor | None
    jobs: int
    on_step: Step | None = None
    checkpoints: Checkpoints | None = None
    is_remote: bool = False
    memory: int | None = None
    shards: int = 0
    cluster: DaskExecutor | None = None
    most_jobs: int | None = None
    ahead: int = 1
    """Tasks that wait for a thread, so that none waits for a task."""
    _shared: _Shared = field(default_factory=_Shared)

    @contextmanager
    def of_table(
        self,
        table: str,
        checkpoints: Checkpoints,
        on_step: Step,
        needed: int,
        shards: int = 0,
        jobs: int = 0,
        task_memory: int = 0,
    ) -> Iterator[Tasks]:
        """Yield the tasks of a table while so many bytes of memory are reserved for all of them.

        Wait while other tables hold too many. Raise MemoryShort if the table alone needs more than
        there is. `jobs`: how many of the tasks run at a time, if not as many as usual.
        `task_memory`: the bytes of each; on a cluster, its worker reserves them.
        """
        own = replace(
            self, checkpoints=checkpoints, on_step=on_step, shards=shards, jobs=jobs or self.jobs
        )
        if own.jobs < self.jobs:  # threads are idle
            own.ahead = 0
        if self.cluster and task_memory:
            own.executor = self.cluster.reserve(task_memory)
        own._reserve(table, needed)
        try:
            yield own
        finally:
            with self._shared.changed:
                del self._shared.held[table]
                self._shared.changed.notify_all()

    def run(
        self,
        function: Callable[..., Result],
        items: Iterable[tuple[Any, ...]],
        *,
        is_saved: bool = True,
    ) -> Iterator[Result]:
        """Run a module's function for each tuple of arguments; yield the results in their order.

        Results are lists of arrays, and are saved as checkpoints. Without `is_saved` they are small
        values, of a function that saves what must last.
        """
        assert self.executor
        run = partial(_run_task, is_remote=self.is_remote, is_saved=is_saved)
        submit = partial(self.executor.submit, run, self.checkpoints, function)
        for result in self._run_in_order(submit, items, self.cluster):
            if self.is_remote and self.checkpoints and is_saved:
                yield self.checkpoints.require(result)  # type: ignore[misc]  # arrays, by name
            else:
                yield result

    def forget(self, function: Callable[..., object], items: Iterable[tuple[Any, ...]]) -> None:
        """Remove the saved results of a function's tasks, so that `run` runs these again."""
        assert self.checkpoints
        for arguments in items:
            self.checkpoints.remove(name_result(function, arguments))

    def run_in_threads(
        self, function: Callable[..., Result], items: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """Run any function as `run` does, in threads of this process; the results are not saved."""
        pool = ThreadPoolExecutor(min(self.jobs, count_cores()))
        submit = partial(pool.submit, function)
        try:
            yield from self._run_in_order(lambda arguments: submit(*arguments), items)
        finally:
            # not waiting: an iterator that nobody reads to its end may be collected in a thread
            # that another pool is starting, where waiting for a thread would block both for ever
            pool.shutdown(wait=False, cancel_futures=True)

    def end_all(self, on_wait: Callable[[], object]) -> None:
        """Cancel the tasks that have not begun, and wait for the others, in whatever thread.

        Tasks of other machines are not waited for: they write nothing but checkpoints. `on_wait` is
        called if that takes long.
        """
        seconds: float | None = SOON_SECONDS
        # `wait` never returns for a cancelled task, which its pool may have forgotten
        while running := [each for each in self._shared.running.copy() if not each.cancel()]:
            if wait(running, seconds).not_done and seconds is not None:
                on_wait()
                seconds = None

    def report(self, doing: str, done: int, total: int | None = None) -> None:
        """Report a step; raise the error that has ended another table or task."""
        self._require_no_error()
        if self.on_step:
            self.on_step(doing, done, total)

    def load_or_make(self, name: str, make: Callable[[], Sequence[Array]]) -> Sequence[Array]:
        """Return the arrays saved under a name; else make them, and save them if they are large."""
        saved = self.checkpoints.load(name) if self.checkpoints else None
        if saved is not None:
            return saved
        arrays = make()
        if self.is_saved(arrays):
            assert self.checkpoints
            self.checkpoints.save(name, [*arrays])
        return arrays

    def make_reloadable(
        self, name: str, make: Callable[[], Sequence[Array]]
    ) -> tuple[Sequence[Array], Callable[[], Sequence[Array]]]:
        """Return what `load_or_make` returns, and what returns it again without keeping it."""
        arrays = self.load_or_make(name, make)
        if not self.is_saved(arrays):
            return arrays, lambda: arrays
        assert self.checkpoints
        return arrays, partial(self.checkpoints.require, name)

    def is_saved(self, arrays: Iterable[Array]) -> bool:
        """Return whether arrays are so large that `load_or_make` saves them."""
        size = sum(array.nbytes for array in arrays)
        return self.checkpoints is not None and size > MIN_SAVED_BYTES

    def _reserve(self, table: str, needed: int) -> None:
        shared = self._shared
        with shared.changed:
            while True:
                self._require_no_error()
                if not shared.held:  # on a cluster, the limit is that of a worker's task
                    limit = None if self.is_remote else self.memory
                    shared.available = get_free_memory() if limit is None else limit
                available = shared.available
                if available is None or sum(shared.held.values()) + needed <= available:
                    shared.held[table] = needed
                    return
                if needed > available:
                    hint = "Close other programs, or raise the limit"
                    raise MemoryShort(table, needed, available, hint)
                self.report("waits for memory", 0)
                shared.changed.wait()

    def _run_in_order(
        self,
        submit: Callable[[tuple[Any, ...]], Future[Result]],
        items: Iterable[tuple[Any, ...]],
        cluster: DaskExecutor | None = None,
    ) -> Iterator[Result]:
        """Submit a task for each item, `ahead` more than `jobs` at a time; yield results in order.

        On a cluster, one more than its threads by then.
        """
        pending = deque[Future[Result]]()
        try:
            for arguments in items:
                pending.append(self._begin(submit, arguments))
                if len(pending) < self.jobs + self.ahead:
                    continue
                threads = cluster.count_threads() if cluster else 0
                if len(pending) > min(threads, self.most_jobs or threads):
                    yield self._take_first(pending)
            while pending:
                yield self._take_first(pending)
        except (Exception, KeyboardInterrupt) as error:
            self._end(error)
            raise
        finally:
            for future in pending:
                future.cancel()

    def _begin(
        self, submit: Callable[[tuple[Any, ...]], Future[Result]], arguments: tuple[Any, ...]
    ) -> Future[Result]:
        future = submit(arguments)
        # no lock: an iterator that is collected, in whatever thread, cancels its tasks
        self._shared.running.add(future)
        future.add_done_callback(self._note_end)
        return future

    def _take_first(self, pending: deque[Future[Result]]) -> Result:
        """Wait for the first task and return its result; raise what ends the build meanwhile."""
        either: list[Future[Any]] = [pending[0], self._shared.error]
        wait(either, return_when=FIRST_COMPLETED)
        self._require_no_error()
        return pending.popleft().result()

    def _require_no_error(self) -> None:
        """Raise the error that has ended the build, if one has."""
        if self._shared.error.done():
            self._shared.error.result()

    def _note_end(self, future: Future[Any]) -> None:
        self._shared.running.discard(future)
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


def name_result(function: Callable[..., object], arguments: tuple[Any, ...]) -> str:
    """Return the name of a task's saved result."""
    return f"{function.__module__}.{function.__qualname__}{arguments}"


def _run_task(
    checkpoints: Checkpoints | None,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    *,
    is_remote: bool,
    is_saved: bool,
) -> Any:
    """Load a task's result from its checkpoint, or compute it, and save it if that took long.

    On another machine, save it and return the name of the checkpoint: large results do not pass
    the executor.
    """
    if checkpoints is None:
        return function(*arguments)
    if is_remote:
        checkpoints.require_same_code()
    if not is_saved:
        return function(*arguments)
    name = name_result(function, arguments)
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
    except ModuleNotFoundError as error:  # Dask is an extra
        raise_missing(error)
    with connect(scheduler) as executor:
        threads = executor.count_threads()
        memory = memory or executor.find_task_memory()
        yield Tasks(
            executor, min(jobs or threads, threads), is_remote=True, memory=memory,
            cluster=executor, most_jobs=jobs,
        )  # fmt: skip
