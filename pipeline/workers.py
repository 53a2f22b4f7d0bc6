"""The workers of a command, which its tables share; the first error stops them all.

They are threads of this process, or the workers of a Dask cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, InvalidStateError, wait
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from puzzle_tablebase.errors import raise_missing
from puzzle_tablebase.pipeline.memory import MemoryBudget
from puzzle_tablebase.pipeline.parallel import Items, Result, map_in_order, open_threads
from puzzle_tablebase.resources import count_cores

if TYPE_CHECKING:
    from puzzle_tablebase.pipeline.cluster import DaskExecutor

SOON_SECONDS = 1
"""Seconds within which tasks usually end, once a build has failed."""


class Workers:
    """The executor of a command, the memory that its tables share, and the error that ends them.

    `jobs`: how many tasks of a table run at a time; on a `cluster`, more if workers join it, up to
    `most_jobs`. `memory`: bytes that all searches of this process, or a worker's task, may use
    (None: what is free). `is_remote`: other machines run the tasks, so results are saved in the
    store and read there.
    """

    def __init__(
        self,
        executor: Executor | None,
        jobs: int,
        *,
        memory: int | None = None,
        is_remote: bool = False,
        cluster: DaskExecutor | None = None,
        most_jobs: int | None = None,
    ) -> None:
        self.executor, self.jobs, self.memory = executor, jobs, memory
        self.is_remote, self.cluster, self.most_jobs = is_remote, cluster, most_jobs
        # on a cluster, the limit is that of a worker's task
        self.budget = MemoryBudget(None if is_remote else memory)
        self._error = Future[None]()
        self._running = set[Future[Any]]()
        """The tasks that have not ended."""

    def run_in_order(
        self,
        submit: Callable[..., Future[Result]],
        items: Items,
        at_once: int,
        *,
        can_grow: bool = False,
    ) -> Iterator[Result]:
        """Submit a task for each item, so many at a time; yield results in order.

        With `can_grow`, more tasks at a time when threads join the cluster. An error of a task ends
        the command; raise the error that has ended it meanwhile.
        """

        def is_full(pending: int) -> bool:
            if pending < at_once:
                return False
            threads = self.cluster.count_threads() if self.cluster and can_grow else 0
            return pending > min(threads, self.most_jobs or threads)

        begin = partial(self._begin, submit)
        try:
            yield from map_in_order(begin, items, is_full, self._wait_for)
        except (Exception, KeyboardInterrupt) as error:
            self.end(error)
            raise

    def run_in_threads(
        self, function: Callable[..., Result], items: Items, jobs: int = 0, ahead: int = 1
    ) -> Iterator[Result]:
        """Run any function for each item in threads of this process; yield results in order.

        `ahead`: tasks that wait for a thread, so that none waits for a task.
        """
        jobs = jobs or self.jobs
        with open_threads(min(jobs, count_cores())) as pool:
            yield from self.run_in_order(partial(pool.submit, function), items, jobs + ahead)

    def end(self, error: BaseException) -> None:
        """End all tables and tasks with an error, unless an earlier one has."""
        with suppress(InvalidStateError):
            self._error.set_exception(error)
        self.budget.wake()

    def require_no_error(self) -> None:
        """Raise the error that ended the command, if there is one."""
        if self._error.done():
            self._error.result()

    def end_all(self, on_wait: Callable[[], object]) -> None:
        """Cancel the tasks that have not begun, and wait for the others, in whatever thread.

        Tasks of other machines are not waited for: they write nothing but checkpoints. `on_wait` is
        called if that takes long.
        """
        seconds: float | None = SOON_SECONDS
        # `wait` never returns for a cancelled task, which its pool may have forgotten
        while running := [each for each in self._running.copy() if not each.cancel()]:
            if wait(running, seconds).not_done and seconds is not None:
                on_wait()
                seconds = None

    def _begin(self, submit: Callable[..., Future[Result]], *arguments: Any) -> Future[Result]:
        future = submit(*arguments)
        # no lock: an iterator that is collected, in whatever thread, cancels its tasks
        self._running.add(future)
        future.add_done_callback(self._note_end)
        return future

    def _wait_for(self, first: Future[Any]) -> None:
        """Wait for a task; raise an error that ends the command meanwhile."""
        wait([first, self._error], return_when=FIRST_COMPLETED)
        self.require_no_error()

    def _note_end(self, future: Future[Any]) -> None:
        self._running.discard(future)
        if not future.cancelled() and (error := future.exception()):
            self.end(error)


@contextmanager
def open_workers(
    scheduler: str | None = None, jobs: int | None = None, memory: int | None = None
) -> Iterator[Workers]:
    """Open the workers of a command: those of a Dask scheduler by its address, or threads here.

    `jobs`: the most tasks that run at a time; by default as many as there are cores, here or there.
    """
    if scheduler is None:
        jobs = jobs or count_cores()
        with open_threads(jobs) as pool:
            yield Workers(pool, jobs, memory=memory)
        return
    try:
        from puzzle_tablebase.pipeline.cluster import connect
    except ModuleNotFoundError as error:  # Dask is an extra
        raise_missing(error)
    with connect(scheduler) as executor:
        threads = executor.count_threads()
        memory = memory or executor.find_task_memory()
        yield Workers(
            executor, min(jobs or threads, threads), is_remote=True, memory=memory,
            cluster=executor, most_jobs=jobs,
        )  # fmt: skip
