"""Tasks and their runner: results in order, few tasks at a time, with checkpoints and progress.

Tasks run on any executor: threads of this process, or the workers of a Dask cluster. A task whose
result is in a checkpoint is not run again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Condition
from typing import Any, NamedTuple, TypeVar

import numpy.typing as npt

from puzzle_tablebase.errors import (
    BadRequest,
    ClusterError,
    MachineLimit,
    MemoryShort,
    StoreError,
    quote,
)
from puzzle_tablebase.formats.manifest import Depth
from puzzle_tablebase.resources import count_cores, get_free_memory
from puzzle_tablebase.stores.checkpoints import Checkpoints

Result = TypeVar("Result")
Chunks = Generator[Mapping[str, npt.NDArray[Any]], None, None]

MIN_SAVED_SECONDS = 0.01
"""Seconds: the result of a faster task is not saved, since repeating it costs less than a file."""
CONNECT_SECONDS = 10
"""Seconds within which a scheduler must answer, at the start and after a lost connection."""


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


@dataclass(frozen=True, slots=True)
class Tasks:
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
    min_saved_seconds: float = MIN_SAVED_SECONDS
    table: str = ""
    """The table that is built."""
    memory: int | None = None
    """The bytes that a search may use; None: all free memory."""
    limit: MemoryLimit | None = None
    _failed: list[BaseException] = field(default_factory=list)
    """Errors of all tasks; one list is shared by all copies of a runner."""

    def require_memory(self, needed: int, of: str = "") -> None:
        """Reserve the bytes of a search; wait for other tables, or raise MemoryShort."""
        on_wait = partial(self.report, "waits for memory", 0)
        (self.limit or MemoryLimit(self.memory)).reserve(
            self.table, f"{self.table}{of}", needed, on_wait
        )

    def run(
        self, function: Callable[..., Result], items: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """Run a function for each item and iterate over the results, in the order of the items.

        `jobs` tasks and one more are submitted at a time, so that no worker waits for the next.
        """
        pending: deque[Future[Any]] = deque()
        run = partial(_run_task, is_remote=self.is_remote, min_saved_seconds=self.min_saved_seconds)
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

    def run_in_threads(
        self, function: Callable[..., Result], items: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """Run a function as `run_in_threads` does, until a task of this runner has failed."""
        for result in run_in_threads(function, items, self.jobs):
            self.require_no_failure()
            yield result

    def report(self, doing: str, done: int, total: int | None = None) -> None:
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
        result = pending.popleft().result()
        return self.checkpoints.require(result) if self.is_remote and self.checkpoints else result

    def _note_failure(self, future: Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()):
            self._failed.append(error)


def run_in_threads(
    function: Callable[..., Result],
    items: Iterable[tuple[Any, ...]],
    max_threads: int | None = None,
) -> Iterator[Result]:
    """Run a function for each item in threads, and iterate over the results in their order.

    There are as many threads as cores, and at most `max_threads`. The results are never saved.
    """
    threads = min(count_cores(), max_threads or count_cores())
    with ThreadPoolExecutor(threads) as pool:
        yield from Tasks(pool, threads).run(function, items)


def _run_task(
    checkpoints: Checkpoints | None,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    *,
    is_remote: bool = False,
    min_saved_seconds: float = MIN_SAVED_SECONDS,
) -> Any:
    """Load a task's result from its checkpoint, or compute and save it.

    `is_remote`: the value is the checkpoint's name, as large results do not pass the executor.
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
        elif time.monotonic() - begun > min_saved_seconds:
            with suppress(StoreError):  # the result is in memory; only resuming needs the file
                checkpoints.save(name, result)
    return name if is_remote else result


def make_checkpoint_name(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """Return the name under which a task's result is saved."""
    return f"{function.__module__}.{function.__qualname__}{arguments}"


@contextmanager
def open_executor(
    address: str | None, jobs: int, connect_seconds: float = CONNECT_SECONDS
) -> Iterator[tuple[Executor | None, int]]:
    """Open a scheduler's executor; yield it and the number of tasks its workers run in parallel.

    Without an address, yield None and `jobs`. The scheduler must answer within `connect_seconds`.
    """
    if address is None:
        yield None, jobs
        return
    import logging

    try:
        from distributed import Client
        from distributed.comm import CommClosedError
        from distributed.comm.addressing import parse_address
        from distributed.scheduler import KilledWorker
    except ImportError as error:
        hint = "In a clone, run: .venv/bin/python -m pip install -e '.[cluster]'"
        raise MachineLimit(f"--scheduler needs a package: {error}", hint) from error
    for name in [*logging.root.manager.loggerDict]:  # their messages are raised as errors too
        if name.partition(".")[0] in ("asyncio", "distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        parse_address(address, strict=True)
    except ValueError as error:
        problem = f"{quote(address)} is no scheduler's address"
        raise BadRequest(problem, "Example: tcp://10.0.0.1:8786") from error
    _require_scheduler(address, connect_seconds)
    try:
        client = Client(address, timeout=connect_seconds, set_as_default=False)
    except (OSError, ImportError) as error:  # ImportError: its packages have other versions
        raise ClusterError(address, "no scheduler answers there") from error
    try:
        try:
            threads = sum(client.nthreads().values())
        except OSError as error:
            raise ClusterError(address, "it was lost") from error
        if not threads:
            raise ClusterError(address, "it has no workers")
        yield _DaskExecutor(client), threads
    except KilledWorker as error:
        raise ClusterError(address, "one task killed several workers", has_begun=True) from error
    except (CommClosedError, CancelledError) as error:
        raise ClusterError(address, "it was lost", has_begun=True) from error
    finally:
        with suppress(OSError):  # a slow scheduler says goodbye too late: all results are here
            client.close()


def _require_scheduler(address: str, connect_seconds: float) -> None:
    """Raise ClusterError unless a Dask scheduler answers within so many seconds.

    The client itself would wait for the first answer forever.
    """
    import asyncio

    from distributed.core import rpc
    from distributed.utils import LoopRunner

    async def identify() -> Any:
        async with rpc(address, timeout=connect_seconds) as peer:
            return await asyncio.wait_for(peer.identity(), connect_seconds)

    try:
        # not asyncio.run: a notebook runs an event loop in this thread already
        kind = LoopRunner(asynchronous=False).run_sync(identify)["type"]
    except (OSError, TimeoutError) as error:
        raise ClusterError(
            address, f"no scheduler answers there (it has {connect_seconds} seconds)"
        ) from error
    except Exception as error:
        # bytes of another protocol can fail anywhere: read as a length, they mean exbibytes
        raise ClusterError(address, "what answers there is not a Dask scheduler") from error
    if kind != "Scheduler":
        raise ClusterError(address, f"what answers there is a Dask {kind}, not a scheduler")


class _DaskExecutor(Executor):
    """Executor whose futures fail when the scheduler dies; those of Dask's own never end then."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function on a worker and return the future of its result."""
        result, remote = Future[Any](), self._client.submit(function, *args, **kwargs, pure=False)

        def settle(_: object) -> None:
            if result.set_running_or_notify_cancel():
                try:
                    result.set_result(remote.result())
                except BaseException as error:
                    result.set_exception(error)

        def forget(_: object) -> None:
            if result.cancelled():
                remote.cancel()

        remote.add_done_callback(settle)
        result.add_done_callback(forget)
        return result


class MemoryLimit:
    """The bytes that all searches of a build may use together; None: all free memory.

    A table holds the bytes of its search from `reserve` to `release`. The free memory is measured
    while no table holds any.
    """

    def __init__(self, bytes: int | None = None) -> None:
        self.bytes = bytes
        self._available = bytes
        self._held: dict[str, int] = {}
        self._changed = Condition()

    def reserve(self, table: str, search: str, needed: int, on_wait: Callable[[], None]) -> None:
        """Reserve bytes for a table instead of those that it held before.

        Wait while others hold too many of them, and call `on_wait` meanwhile, whose errors end the
        wait. Raise MemoryShort if a search alone needs more than there is.
        """
        with self._changed:
            self.release(table)
            while True:
                if self.bytes is None and not self._held:
                    self._available = get_free_memory()
                if self._available is None or sum(self._held.values()) + needed <= self._available:
                    self._held[table] = needed
                    return
                if needed > self._available:
                    hint = "Close other programs, or raise the limit"
                    raise MemoryShort(search, needed, self._available, hint)
                on_wait()
                self._changed.wait(0.2)

    def release(self, table: str) -> None:
        """Release the bytes that a table holds, if it holds any."""
        with self._changed:
            if self._held.pop(table, None) is not None:
                self._changed.notify_all()
