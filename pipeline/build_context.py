"""The context of a builder: the runner of its tasks, the memory it may use, and earlier results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Condition
from typing import Any, TypeVar, cast

from pipeline.tasks import TaskRunner
from tablebase.errors import MemoryShort
from tablebase.resources import get_free_memory
from tablebase.schema import Table
from tablebase.tables.store import Store

Result = TypeVar("Result")


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
                    hint = (
                        "Close other programs, or raise the limits (ulimit -v, or the container's)"
                    )
                    hint = hint if self.bytes is None else "Raise the limit"
                    raise MemoryShort(search, needed, self._available, hint)
                on_wait()
                self._changed.wait(0.2)

    def release(self, table: str) -> None:
        """Release the bytes that a table holds, if it holds any."""
        with self._changed:
            if self._held.pop(table, None) is not None:
                self._changed.notify_all()


class SharedResults:
    """Results that several tables of a puzzle need, each computed for the first of them."""

    def __init__(self) -> None:
        self._results: dict[object, Any] = {}

    def compute_once(self, compute: Callable[[], Result]) -> Result:
        """Return the result of a function, which is called the first time only."""
        if compute not in self._results:
            self._results[compute] = compute()
        return cast(Result, self._results[compute])


@dataclass(frozen=True, slots=True)
class BuildContext:
    """The context of the builder of one table."""

    tasks: TaskRunner
    store: Store
    memory: MemoryLimit = field(default_factory=MemoryLimit)
    shared: SharedResults = field(default_factory=SharedResults)

    def reserve_memory(self, table: Table, needed: int, of: str = "") -> None:
        """Reserve the bytes of a table's search, which the build releases after the table."""
        on_wait = partial(self.tasks.report_progress, "waits for memory", 0)
        self.memory.reserve(table.name, f"{table.name}{of}", needed, on_wait)
