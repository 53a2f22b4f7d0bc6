"""Whatever is done in parts: on any executor, in order, a few at a time, at most once, and told."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, cast

import numpy.typing as npt
import pyarrow as pa

from tablebase.errors import MemoryShort, StoreError
from tablebase.resources import count_cores, get_free_memory
from tablebase.tables.checkpoints import Arrays, Checkpoints

Result = TypeVar("Result")
Chunks = Generator[Mapping[str, npt.NDArray[Any]], None, None]
TableData = tuple[Chunks, Chunks, int]
"""What makers give: a table's rows, its index's records, and how many these are."""


class TaskList(NamedTuple):
    """What a list is made of, in order: a function of a module, and each part's arguments.

    It finds what is kept of a part's rows, of which `rows` tells the number; or it gives the rows
    of a file of their own.
    """

    function: Callable[..., Any]
    items: list[tuple[Any, ...]]
    count_rows: Callable[[Arrays], int] = len


def make_no_records() -> Chunks:
    """The records of a table that has no index."""
    yield from ()


class SingleRunCost(NamedTuple):
    """The same search as one that is no parts: processor seconds, and bytes of memory."""

    seconds: float
    memory: float


class CostSample(NamedTuple):
    """What so many parts will take: rows and the processor seconds to find them, estimated one
    time or several; the bytes a row that parts leave for each other; some rows and records."""

    tasks: int
    rows: list[float]
    seconds: list[float]
    temporary_bytes: float
    chunks: Chunks
    records: Chunks | None = None
    single_run: SingleRunCost | None = None


MIN_SAVED_SECONDS = 0.01
"""Seconds: a part that took less is made again, for it is hardly worth a file."""


@dataclass(frozen=True, slots=True)
class TaskRunner:
    """What a maker has its parts done by; a variation (`replace`) fails with the others.

    A part is a function of a module with plain arguments, so that an executor may send it
    anywhere. Parts that are kept are lists of arrays.
    """

    executor: Executor
    jobs: int
    on_progress: Callable[[str, int, int | None], None] | None = None
    checkpoints: Checkpoints | None = None
    memory: int | None = None
    """Bytes that a search may use, if not all that is free."""
    read_previous_rows: Callable[[], pa.Table | None] = lambda: None
    """The rows of the table as this version of the program has published it, if it has."""
    is_remote: bool = False
    """Whether other machines may do it: what a part finds stays in the store, and is read there."""
    shared: dict[object, Any] = field(default_factory=dict)
    _failed: list[BaseException] = field(default_factory=list)

    def run_tasks(
        self, function: Callable[..., Result], items: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """The results in the order of the items; one more is under way than are done at once."""
        under_way: deque[Future[Any]] = deque()
        run: Callable[..., Any] = _store_result if self.is_remote else _load_or_compute
        try:
            for arguments in items:
                future: Future[Any] = self.executor.submit(
                    run, self.checkpoints, function, arguments
                )
                future.add_done_callback(self._note_failure)
                under_way.append(future)
                if len(under_way) > self.jobs:
                    yield self._take_first(under_way)
            while under_way:
                yield self._take_first(under_way)
        except (Exception, KeyboardInterrupt) as error:
            self._failed.append(error)
            raise
        finally:
            for future in under_way:
                future.cancel()

    def report_progress(self, doing: str, done: int, total: int | None = None) -> None:
        """Say how far this is; where other work has failed, this ends with the same error."""
        self.require_no_failure()
        if self.on_progress:
            self.on_progress(doing, done, total)

    def require_no_failure(self) -> None:
        if self._failed:
            raise self._failed[0]

    def require_memory(self, what: str, needed: int) -> None:
        """MemoryShort where a search of so many bytes would pass the limit, or what is free."""
        free = get_free_memory() if self.memory is None else self.memory
        if free is not None and free < needed:
            hint = "Close other programs, or raise the limits (ulimit -v, or the container's)"
            hint = hint if self.memory is None else "Raise the limit"
            raise MemoryShort(what, needed, free, hint)

    def compute_once(self, compute: Callable[[], Result]) -> Result:
        """What several tables need, made for the first of them."""
        if compute not in self.shared:
            self.shared[compute] = compute()
        return cast(Result, self.shared[compute])

    def _take_first(self, under_way: deque[Future[Any]]) -> Any:  # of the part's own type
        """The first result. Where a later one of these has failed, that is told in its turn."""
        is_waiting = True
        while is_waiting:
            # no interrupt ends a wait without an end
            is_waiting = not wait([under_way[0]], 0.2).done
            if not any(part.exception() in self._failed for part in under_way if part.done()):
                self.require_no_failure()
        result = under_way.popleft().result()
        return self.checkpoints.require(result) if self.is_remote and self.checkpoints else result

    def _note_failure(self, future: Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()):
            self._failed.append(error)


def run_in_threads(
    function: Callable[..., Result],
    items: Iterable[tuple[Any, ...]],
    max_threads: int | None = None,
) -> Iterator[Result]:
    """The results in their order, by as many threads of this process as it has cores, or fewer."""
    threads = min(count_cores(), max_threads or count_cores())
    with ThreadPoolExecutor(threads) as pool:
        yield from TaskRunner(pool, threads).run_tasks(function, items)


def _load_or_compute(
    checkpoints: Checkpoints | None, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:  # of the part's own type
    if checkpoints is None:
        return function(*arguments)
    name = make_checkpoint_name(function, arguments)
    result = checkpoints.load(name)
    if result is None:
        begun = time.monotonic()
        result = function(*arguments)
        if time.monotonic() - begun > MIN_SAVED_SECONDS:
            with suppress(StoreError):  # the part itself is there
                checkpoints.save(name, result)
    return result


def _store_result(
    checkpoints: Checkpoints, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> str:
    """The name of what is found: it goes through the store, not through whoever hands out work."""
    checkpoints.require_version()
    name = make_checkpoint_name(function, arguments)
    if checkpoints.load(name) is None:
        checkpoints.save(name, function(*arguments))
    return name


def make_checkpoint_name(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """What a part's result is kept under."""
    return f"{function.__module__}.{function.__qualname__}{arguments}"
