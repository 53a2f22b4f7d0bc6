"""Hash tables of keys with numbers: arrays with open addressing, where no key is 0."""

from __future__ import annotations

import numpy as np

from tablebase.frontier.compiled import Array
from tablebase.jit import compiled

SLICE_PLACES = 1 << 18
"""Places of a table that are copied at a time."""


class CountOverflow(ArithmeticError):
    """Error for a number of cycles that does not fit 63 bits."""


class HashTable:
    """Keys and their numbers. No key is 0, and the number of a missing key is 0."""

    def __init__(self, capacity: int) -> None:
        # a quarter of the places stays free
        size = 8 + 4 * capacity // 3
        self.keys, self.numbers = (np.zeros(size, dtype=np.int64) for _ in range(2))
        self.capacity = capacity
        self.filled = 0

    @classmethod
    def from_columns(cls, keys: Array, numbers: Array) -> HashTable:
        """Return a table of distinct keys and their numbers."""
        table = cls(len(keys))
        table.add(keys, numbers)
        return table

    def add(self, keys: Array, numbers: Array) -> None:
        """Add numbers to those of the keys, for at most as many new keys as have room.

        Raise CountOverflow if a number does not fit.
        """
        added = _use_table(keys, numbers, self.keys, self.numbers, True)
        if added < 0:
            raise CountOverflow
        self.filled += added

    def look_up(self, keys: Array) -> Array:
        """Return the keys' numbers."""
        numbers = np.empty_like(keys)
        _use_table(keys, numbers, self.keys, self.numbers, False)
        return numbers

    def grow(self, capacity: int, slice_places: int = SLICE_PLACES) -> None:
        """Move all entries to a table with room for more."""
        table = HashTable(capacity)
        for first in range(0, len(self.keys), slice_places):
            span = slice(first, first + slice_places)
            is_used = self.keys[span] != 0
            table.add(self.keys[span][is_used], self.numbers[span][is_used])
        self.__dict__.update(table.__dict__)

    def take_columns(self, slice_places: int = SLICE_PLACES) -> tuple[Array, Array]:
        """Return the keys and their numbers, in the table's own memory: it can be used no more."""
        count = 0
        for first in range(0, len(self.keys), slice_places):
            span = slice(first, first + slice_places)
            is_used = self.keys[span] != 0
            into = slice(count, count + int(np.count_nonzero(is_used)))
            for column in (self.keys, self.numbers):
                column[into] = column[span][is_used]
            count = into.stop
        for column in (self.keys, self.numbers):
            column.resize(count, refcheck=False)  # in place: a copy would be the peak of memory
        return self.keys, self.numbers


@compiled
def _use_table(
    keys: Array, numbers: Array, table_keys: Array, table_numbers: Array, is_adding: bool
) -> int:
    """Add numbers to a table and return how many keys are new, -1 on overflow; or look them up.

    One kernel does both: it is compiled once.
    """
    size, added = len(table_keys), 0
    for row in range(len(keys)):
        key = keys[row]
        # mixed twice by 30 bits of the golden ratio and of another number, so that no product
        # overflows
        mixed = (key & 0xFFFFFFFF) * 0x278DDE6D + (key >> 32) * 0x2545F491
        mixed = (mixed & 0x3FFFFFFF ^ mixed >> 30) * 0x278DDE6D
        place = (mixed >> 20 & 0xFFFFFFFF) * size >> 32
        while table_keys[place] != 0 and table_keys[place] != key:
            place += 1
            if place == size:
                place = 0
        if is_adding:
            added += table_keys[place] == 0
            table_keys[place] = key
            table_numbers[place] += numbers[row]
            if table_numbers[place] < 0:
                return -1
        else:
            numbers[row] = table_numbers[place]
    return added
