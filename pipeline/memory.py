"""A memory budget, of which several threads reserve shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

from puzzle_tablebase.errors import MemoryShort
from puzzle_tablebase.resources import get_free_memory


class MemoryBudget:
    """The bytes that several holders together may have in memory.

    `limit` None: the free memory, measured while nobody holds any.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._available: int | None = None
        """None: unknown."""
        self._held = dict[str, int]()
        self._changed = Condition()

    @contextmanager
    def reserve(
        self, holder: str, needed: int, on_wait: Callable[[], object] = lambda: None
    ) -> Iterator[None]:
        """Reserve bytes for a holder; wait while others hold too many.

        Raise MemoryShort if the holder alone needs more than the limit. `on_wait` is called before
        each wait, and may end it by raising.
        """
        with self._changed:
            while not self._fits(holder, needed):
                on_wait()
                self._changed.wait()
            self._held[holder] = needed
        try:
            yield
        finally:
            with self._changed:
                del self._held[holder]
                self._changed.notify_all()

    def wake(self) -> None:
        """Wake all waiting threads, so that they check again."""
        with self._changed:
            self._changed.notify_all()

    def _fits(self, holder: str, needed: int) -> bool:
        if not self._held:
            self._available = get_free_memory() if self._limit is None else self._limit
        available = self._available
        if available is not None and needed > available:
            hint = "Close other programs, or raise the limit"
            raise MemoryShort(holder, needed, available, hint)
        return available is None or sum(self._held.values()) + needed <= available
