"""The context of a builder: the runner of its tasks, the memory it may use, and earlier results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import pyarrow as pa

from pipeline.tasks import TaskRunner
from tablebase.build_errors import MemoryShort
from tablebase.resources import get_free_memory
from tablebase.tables.store import Store

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """The bytes that a search may use; None: all free memory."""

    bytes: int | None = None

    def require(self, search: str, needed: int) -> None:
        """Raise MemoryShort if a search needs more bytes than the limit or the free memory."""
        free = get_free_memory() if self.bytes is None else self.bytes
        if free is not None and free < needed:
            hint = "Close other programs, or raise the limits (ulimit -v, or the container's)"
            hint = hint if self.bytes is None else "Raise the limit"
            raise MemoryShort(search, needed, free, hint)


class SharedResults:
    """Results that several tables of a puzzle need, each computed for the first of them."""

    def __init__(self) -> None:
        self._results: dict[object, Any] = {}

    def compute_once(self, compute: Callable[[], Result]) -> Result:
        """Return the result of a function, which is called the first time only."""
        if compute not in self._results:
            self._results[compute] = compute()
        return cast(Result, self._results[compute])


def read_no_rows() -> None:
    """Return None: no rows were published before."""


@dataclass(frozen=True, slots=True)
class BuildContext:
    """The context of the builder of one table."""

    tasks: TaskRunner
    store: Store
    memory: MemoryLimit = MemoryLimit()
    shared: SharedResults = field(default_factory=SharedResults)
    read_previous_rows: Callable[[], pa.Table | None] = read_no_rows
    """A function that returns the table's rows if this version of the program published them."""
