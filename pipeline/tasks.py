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

from tablebase.errors import MemoryShort, OutputsError
from tablebase.resources import cores, free_memory
from tablebase.tables.checkpoints import Arrays, Kept

Result = TypeVar("Result")
Stretches = Generator[Mapping[str, npt.NDArray[Any]], None, None]
Made = tuple[Stretches, Stretches, int]
"""What makers give: a table's rows, its index's records, and how many these are."""


class Parts(NamedTuple):
    """What a list is made of, in order: a function of a module, and each part's arguments.

    It finds what is kept of a part's rows, of which `rows` tells the number; or it gives the rows
    of a file of their own.
    """

    part: Callable[..., Any]
    items: list[tuple[Any, ...]]
    rows: Callable[[Arrays], int] = len


def no_records() -> Stretches:
    """The records of a table that has no index."""
    yield from ()


class AtOnce(NamedTuple):
    """The same search as one that is no parts: processor seconds, and bytes of memory."""

    seconds: float
    memory: float


class Probe(NamedTuple):
    """What so many parts will take: rows and the processor seconds to find them, estimated one
    time or several; the bytes a row that parts leave for each other; some rows and records."""

    parts: int
    rows: list[float]
    seconds: list[float]
    left: float
    some: Stretches
    records: Stretches | None = None
    at_once: AtOnce | None = None


WORTH_KEEPING = 0.01
"""Seconds: a part that took less is made again, for it is hardly worth a file."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a maker has its parts done by; a variation (`replace`) fails with the others.

    A part is a function of a module with plain arguments, so that an executor may send it
    anywhere. Parts that are kept are lists of arrays.
    """

    executor: Executor
    at_once: int
    tell: Callable[[str, int, int | None], None] | None = None
    kept: Kept | None = None
    memory: int | None = None
    """Bytes that a search may use, if not all that is free."""
    before: Callable[[], pa.Table | None] = lambda: None
    """The rows of the table as this version of the program has published it, if it has."""
    elsewhere: bool = False
    """Whether other machines may do it: what a part finds stays in the store, and is read there."""
    shared: dict[object, Any] = field(default_factory=dict)
    _failed: list[BaseException] = field(default_factory=list)

    def each(
        self, part: Callable[..., Result], items: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """The results in the order of the items; one more is under way than are done at once."""
        under_way: deque[Future[Any]] = deque()
        how: Callable[..., Any] = _left_in_store if self.elsewhere else _found_or_made
        try:
            for arguments in items:
                future: Future[Any] = self.executor.submit(how, self.kept, part, arguments)
                future.add_done_callback(self._ended)
                under_way.append(future)
                if len(under_way) > self.at_once:
                    yield self._first(under_way)
            while under_way:
                yield self._first(under_way)
        except (Exception, KeyboardInterrupt) as error:
            self._failed.append(error)
            raise
        finally:
            for future in under_way:
                future.cancel()

    def told(self, doing: str, done: int, total: int | None = None) -> None:
        """Say how far this is; where other work has failed, this ends with the same error."""
        self.require_going()
        if self.tell:
            self.tell(doing, done, total)

    def require_going(self) -> None:
        if self._failed:
            raise self._failed[0]

    def require_memory(self, what: str, needed: int) -> None:
        """MemoryShort where a search of so many bytes would pass the limit, or what is free."""
        free = free_memory() if self.memory is None else self.memory
        if free is not None and free < needed:
            hint = "Close other programs, or raise the limits (ulimit -v, or the container's)"
            hint = hint if self.memory is None else "Raise the limit"
            raise MemoryShort(what, needed, free, hint)

    def once(self, make: Callable[[], Result]) -> Result:
        """What several tables need, made for the first of them."""
        if make not in self.shared:
            self.shared[make] = make()
        return cast(Result, self.shared[make])

    def _first(self, under_way: deque[Future[Any]]) -> Any:  # of the part's own type
        """The first result. Where a later one of these has failed, that is told in its turn."""
        going = True
        while going:
            going = not wait([under_way[0]], 0.2).done  # no interrupt ends a wait without an end
            if not any(part.exception() in self._failed for part in under_way if part.done()):
                self.require_going()
        result = under_way.popleft().result()
        return self.kept.required(result) if self.elsewhere and self.kept else result

    def _ended(self, future: Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()):
            self._failed.append(error)


def in_threads(
    part: Callable[..., Result], items: Iterable[tuple[Any, ...]], most: int | None = None
) -> Iterator[Result]:
    """The results in their order, by as many threads of this process as it has cores, or fewer."""
    threads = min(cores(), most or cores())
    with ThreadPoolExecutor(threads) as pool:
        yield from Work(pool, threads).each(part, items)


def _found_or_made(
    kept: Kept | None, part: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:  # of the part's own type
    if kept is None:
        return part(*arguments)
    name = named(part, arguments)
    found = kept.load(name)
    if found is None:
        begun = time.monotonic()
        found = part(*arguments)
        if time.monotonic() - begun > WORTH_KEEPING:
            with suppress(OutputsError):  # the part itself is there
                kept.store(name, found)
    return found


def _left_in_store(kept: Kept, part: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """The name of what is found: it goes through the store, not through whoever hands out work."""
    kept.require_version()
    name = named(part, arguments)
    if kept.load(name) is None:
        kept.store(name, part(*arguments))
    return name


def named(part: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """What a part's result is kept under."""
    return f"{part.__module__}.{part.__qualname__}{arguments}"
