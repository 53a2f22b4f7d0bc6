"""The tasks of a table, which a recipe runs.

A task whose result is in a checkpoint is not run again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import numpy.typing as npt

from puzzle_tablebase.errors import StoreError
from puzzle_tablebase.pipeline.costs import IN_MEMORY, Cost, Shards
from puzzle_tablebase.pipeline.parallel import Items, Result
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.stores.checkpoints import Checkpoints

Array = npt.NDArray[Any]
Step = Callable[[str, int, int | None], None]

MIN_SAVED_SECONDS = 0.01
"""Seconds: the result of a faster task is not saved, since repeating it costs less than a file."""
MIN_SAVED_BYTES = 1 << 24
"""Bytes from which the arrays of a search in this process are saved."""


class Tasks:
    """The tasks of one table, on the workers of a command.

    `on_step`: called with each step; `shards`: those of this table's search. `executor`: runs the
    tasks instead of the workers' own.
    """

    def __init__(
        self,
        workers: Workers,
        on_step: Step | None = None,
        checkpoints: Checkpoints | None = None,
        *,
        shards: Shards = IN_MEMORY,
        executor: Executor | None = None,
    ) -> None:
        self.checkpoints, self.shards = checkpoints, shards
        self.jobs = shards.jobs or workers.jobs
        self._workers, self._on_step = workers, on_step
        self._executor = executor or workers.executor
        self._ahead = int(self.jobs >= workers.jobs)  # with fewer, threads are idle

    def run(
        self, function: Callable[..., Result], items: Items, *, is_saved: bool = True
    ) -> Iterator[Result]:
        """Run a module's function for each tuple of arguments; yield the results in their order.

        Results are lists of arrays, and are saved as checkpoints. Without `is_saved` they are small
        values, of a function that saves what must last.
        """
        assert self._executor
        is_remote = self._workers.is_remote
        run = partial(_run_task, is_remote=is_remote, is_saved=is_saved)
        submit = partial(self._executor.submit, run, self.checkpoints, function)

        def submit_one(*arguments: Any) -> Future[Result]:
            return submit(arguments)

        at_once = self.jobs + self._ahead
        results = self._workers.run_in_order(submit_one, items, at_once, can_grow=True)
        if is_remote and self.checkpoints and is_saved:  # these are names of arrays
            results = map(self.checkpoints.require, results)  # type: ignore[arg-type]
        yield from results

    def forget(self, function: Callable[..., object], items: Iterable[tuple[Any, ...]]) -> None:
        """Remove the saved results of a function's tasks, so that `run` runs these again."""
        assert self.checkpoints
        for arguments in items:
            self.checkpoints.remove(name_result(function, arguments))

    def run_in_threads(self, function: Callable[..., Result], items: Items) -> Iterator[Result]:
        """Run any function as `run` does, in threads of this process; the results are not saved."""
        return self._workers.run_in_threads(function, items, self.jobs, self._ahead)

    def report(self, doing: str, done: int, total: int | None = None) -> None:
        """Report a step; raise the error that has ended another table or task."""
        self._workers.require_no_error()
        if self._on_step:
            self._on_step(doing, done, total)

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
        """Return the result of `load_or_make` and a function to reload it without keeping it."""
        arrays = self.load_or_make(name, make)
        if not self.is_saved(arrays):
            return arrays, lambda: arrays
        assert self.checkpoints
        return arrays, partial(self.checkpoints.require, name)

    def is_saved(self, arrays: Iterable[Array]) -> bool:
        """Return whether arrays are large enough for `load_or_make` to save them."""
        size = sum(array.nbytes for array in arrays)
        return self.checkpoints is not None and size > MIN_SAVED_BYTES


@contextmanager
def open_table(
    workers: Workers, checkpoints: Checkpoints, cost: Cost, on_step: Step
) -> Iterator[Tasks]:
    """Yield the tasks of a table while the memory that they need is reserved.

    Wait while other tables hold too much. Raise MemoryShort if the table alone needs more than
    there is. On a cluster, the worker of each task reserves that of a shard.
    """
    cluster = workers.cluster if cost.shards.memory else None
    executor = cluster.reserve(cost.shards.memory) if cluster else None
    own = Tasks(workers, on_step, checkpoints, shards=cost.shards, executor=executor)
    workers.require_no_error()
    on_wait = partial(own.report, "waits for memory", 0)
    with workers.budget.reserve(checkpoints.table, cost.memory, on_wait):
        yield own


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
