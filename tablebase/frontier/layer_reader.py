"""The layers of a sweep (`tablebase.frontier.state`), in records which are read one by one.

A layer has states by ascending key, each with a number: of the ways that lead to it, say.
`tablebase.frontier.layer_codec` writes the records.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

MOST_KEPT = 512
"""Unpacked records at hand: 20 MB."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    Option = TypeVar("Option")


class Contradiction(Exception):
    """Layers that tell of more cycles, or of fewer, than there are."""


class Layers:
    """The layers in records (`knight.STATES`), which are read one by one."""

    def __init__(self, record: Callable[[int], tuple[int, int, int, bytes]], count: int) -> None:
        self._record = record
        self._count = count
        self._kept: dict[int, tuple[list[int], list[int]]] = {}

    def states(self, layer: int, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """The states with keys from the first to below the last: each one's key, the sum of the
        numbers of those before it, and its number."""
        for at in range(self._place(layer, first), self._count):
            of, _, total, _ = self._record(at)
            if of > layer:
                return
            keys, numbers = self._unpacked(at)
            begin, end = (bisect_left(keys, key) if of == layer else 0 for key in (first, last))
            total += sum(numbers[:begin])
            for key, number in zip(keys[begin:end], numbers[begin:end], strict=True):
                yield key, total, number
                total += number
            if of == layer and end < len(keys):
                return

    def found(self, layer: int, key: int) -> tuple[int, int]:
        """The sum of the numbers before a state, and its own: 0 where it is not there."""
        found = self.states(layer, key, key + 1)
        return next(((total, number) for _, total, number in found), (0, 0))

    def holding(self, layer: int, total: int) -> tuple[int, int, int]:
        """The state whose number, added to those before it, is the first to pass a total."""
        at = self._place(layer, total, key=False)
        of, _, begin, _ = self._record(at)
        keys, numbers = self._unpacked(at)
        ways = ((key, number) for key, number in zip(keys, numbers, strict=True) if of == layer)
        key, rest = chosen(ways, total - begin)
        return key, total - rest, numbers[bisect_left(keys, key)]

    def total(self, layer: int) -> int:
        """The sum of the numbers of a layer's states."""
        at = self._place(layer, 1 << 63)
        of, _, total, _ = self._record(at)
        return total + sum(self._unpacked(at)[1]) if of == layer else 0

    def records(self, layer: int) -> range:
        """Where the records of a layer are."""
        begin, end = (self._place(at, -1) + 1 if at else 0 for at in (layer, layer + 1))
        return range(begin, end)

    def _place(self, layer: int, value: int, *, key: bool = True) -> int:
        """The last record of the layers up to this one whose key, or sum, is not above a value."""
        low, high = 0, self._count
        while high - low > 1:
            middle = (low + high) // 2
            of, first, total, _ = self._record(middle)
            if (of, first if key else total) > (layer, value):
                high = middle
            else:
                low = middle
        return low

    def _unpacked(self, at: int) -> tuple[list[int], list[int]]:
        """The keys of a record and their numbers."""
        found = self._kept.get(at)
        if found is None:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            _, key, _, packed = self._record(at)
            found = self._kept[at] = _unpacked(key, packed)
        return found


def _unpacked(key: int, packed: bytes) -> tuple[list[int], list[int]]:
    found, value, shift = list[int](), 0, 0
    for byte in packed.rstrip(b"\0"):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    if len(found) % 2 == 0:
        raise Contradiction("a record does not end with the number of a state")
    return [*accumulate(found[1::2], initial=key)], found[::2]


def chosen(options: Iterable[tuple[Option, int]], number: int) -> tuple[Option, int]:
    """Of options with a number of ways each, the one in which a number falls, and which of its ways
    that is."""
    for option, ways in options:
        if number < ways:
            return option, number
        number -= ways
    raise Contradiction("there are fewer drawings than were counted")
