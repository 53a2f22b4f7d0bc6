"""Layers of states of a frontier, read at random.

A layer has states by ascending key, each with a number, for example its forward count.
`tour_frontier.keys` writes the records, which are read one at a time.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from itertools import accumulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    Option = TypeVar("Option")

MAX_CACHED_RECORDS = 512
"""Most decoded records in the cache: 20 MB."""
MAX_SUM = (1 << 62) - 1
"""Largest sum of a layer: sums are integers of 64 bits, and two of them can be added."""


class InconsistentLayers(Exception):
    """Error for layers whose numbers contradict each other."""


class LayerReader:
    """Reader of layers in records with the fields `RANKING_FIELDS` of `schema`.

    `read_record` returns the fields of a record; there are `count` records.
    """

    def __init__(
        self, read_record: Callable[[int], tuple[int, int, int, bytes]], count: int
    ) -> None:
        self._read_record = read_record
        self._count = count
        self._decode_record = lru_cache(MAX_CACHED_RECORDS)(self._decode)

    def iter_states(self, layer: int, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """Yield the states with keys from `first` to below `last`.

        Each is a key, the sum of the numbers of the layer's states before it, and its number.
        """
        for at in range(self._find_record(layer, first), self._count):
            record_layer, _, total, _ = self._read_record(at)
            if record_layer > layer:
                return
            keys, numbers = self._decode_record(at)
            begin, end = (
                bisect_left(keys, key) if record_layer == layer else 0 for key in (first, last)
            )
            total += sum(numbers[:begin])
            for key, number in zip(keys[begin:end], numbers[begin:end], strict=True):
                yield key, total, number
                total += number
            if record_layer == layer and end < len(keys):
                return

    def find_state(self, layer: int, key: int) -> tuple[int, int]:
        """Return the sum of the numbers before a state, and its own number, 0 if it is missing."""
        states = self.iter_states(layer, key, key + 1)
        return next(((total, number) for _, total, number in states), (0, 0))

    def find_state_at(self, layer: int, total: int) -> tuple[int, int, int]:
        """Find the first state at which the running sum of numbers exceeds a total.

        Return its key, the sum of the numbers before it, and its number.
        """
        at = self._find_record(layer, total, key=False)
        record_layer, _, begin, _ = self._read_record(at)
        keys, numbers = self._decode_record(at)
        ways = (
            (key, number)
            for key, number in zip(keys, numbers, strict=True)
            if record_layer == layer
        )
        key, rest = choose_option(ways, total - begin)
        return key, total - rest, numbers[bisect_left(keys, key)]

    def sum_layer(self, layer: int) -> int:
        """Return the sum of the numbers of a layer's states."""
        at = self._find_record(layer, 1 << 63)
        record_layer, _, total, _ = self._read_record(at)
        if record_layer != layer:
            return 0
        total += sum(self._decode_record(at)[1])
        if total > MAX_SUM:
            raise InconsistentLayers(f"the sum of a layer is {total:,}, more than it can be")
        return total

    def _find_record(self, layer: int, value: int, *, key: bool = True) -> int:
        """Find the last record, of the layers up to this one, whose key is at most a value.

        With `key=False`, compare the record's sum instead.
        """
        low, high = 0, self._count
        while high - low > 1:
            middle = (low + high) // 2
            record_layer, first, total, _ = self._read_record(middle)
            if (record_layer, first if key else total) > (layer, value):
                high = middle
            else:
                low = middle
        return low

    def _decode(self, at: int) -> tuple[list[int], list[int]]:
        """Return the keys of a record and their numbers."""
        _, key, _, encoded = self._read_record(at)
        values, value, shift = list[int](), 0, 0  # LEB128
        for byte in encoded.rstrip(b"\0"):
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                values.append(value)
                value = shift = 0
        if len(values) % 2 == 0:
            raise InconsistentLayers("a record does not end with the number of a state")
        return [*accumulate(values[1::2], initial=key)], values[::2]


def choose_option(options: Iterable[tuple[Option, int]], number: int) -> tuple[Option, int]:
    """Return the option that has way `number`, and the way's number among those of that option.

    An option comes with its number of ways; ways are numbered from 0, option by option.
    """
    for option, ways in options:
        if number < ways:
            return option, number
        number -= ways
    raise InconsistentLayers("there are fewer partial tours than were counted")
