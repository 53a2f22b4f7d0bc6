"""Sweeps through half of a board that count partial tours, forward and back.

Forward, the frontier states of a layer are expanded into those of the next, and the ways to reach
the same state are added up (the *forward count*, `ways`). Backward, the number of ways to complete
a state (the *backward count*, `onward`) is the sum of those of its successors. The edges that a
step places lie on as many cycles as the product of the state's forward count and the successor's
backward count: so one sweep back counts for every edge the cycles that use it.

No overflow goes unnoticed. Sums of counts are checked at each step; products are also added up as
floating point numbers, which show whether the integers fitted.

Layers are in hash tables of keys with numbers: arrays with open addressing, where no key is 0.

`Sweep` has the order of the squares, and the cut between the two halves: one sweep serves as both.
On boards of four columns or more each half has placed part of every cycle, so that no cycle closes
on one side.

An open path is a cycle through one more square, the *virtual* square, which is adjacent to every
other: without it, its neighbours on the cycle are the ends of the path. So the number of paths that
end at a square is the number of cycles that use its edge to the virtual square. The virtual square
is the first cell of the frontier.

Where every edge joins a dark square and a light one, a path alternates between the colours: its
ends have different colours or, where one colour has a square more, that colour. States that cannot
lead to this are left out: once both ends are placed, the remaining edges need both colours equally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.frontier.layers import END, MATCHING_BITS
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.recipes.tour_edge_sets import Step, iter_successors
from puzzle_tablebase.pipeline.recipes.tour_keys import list_all_partners
from puzzle_tablebase.puzzles.knight.tour_ranker import Sweep

SLICE_PLACES = 1 << 18
"""Places of a table that are copied at a time."""

COUNT_LIMIT = float(1 << 63)


class CountOverflow(SearchError):
    """Error for a number of cycles that does not fit 63 bits, in whichever thread."""

    def __init__(self) -> None:
        super().__init__("The board has more tours than a table can count (2^63).")


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

    def grow(self, capacity: int) -> None:
        """Move all entries to a table with room for more."""
        table = HashTable(capacity)
        for keys, numbers in self._iter_entries():
            table.add(keys, numbers)
        self.__dict__.update(table.__dict__)

    def take_columns(self) -> tuple[Array, Array]:
        """Return the keys and their numbers, in the table's own memory: it can be used no more."""
        count = 0
        for keys, numbers in self._iter_entries():
            into = slice(count, count + len(keys))
            self.keys[into], self.numbers[into], count = keys, numbers, into.stop
        for column in (self.keys, self.numbers):
            column.resize(count, refcheck=False)  # in place: a copy would be the peak of memory
        return self.keys, self.numbers

    def _iter_entries(self) -> Iterator[tuple[Array, Array]]:
        """Iterate over the entries, a slice of the places at a time."""
        for first in range(0, len(self.keys), SLICE_PLACES):
            span = slice(first, first + SLICE_PLACES)
            is_used = self.keys[span] != 0
            yield self.keys[span][is_used], self.numbers[span][is_used]


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


class Layer(NamedTuple):
    """Distinct states, and the number of ways to reach each."""

    keys: Array
    ways: Array


def make_first_layer(needs: list[int]) -> Layer:
    """Return a layer of one state without edges, given how many edges each cell needs."""
    packed = sum(need << 2 * cell for cell, need in enumerate(needs))
    return Layer(np.array([packed << MATCHING_BITS]), np.array([1]))


def advance_layer(layer: Layer, step: Step, check_running: Callable[[], None]) -> Layer:
    """Return the next layer; `check_running` is called several times a second."""
    table = HashTable(0)
    for rows, _, keys in iter_successors(layer.keys, step):
        check_running()
        if not len(rows):
            continue
        required = table.filled + len(keys)
        if required > table.capacity:
            # an upper estimate: more and more successors are in the table already
            likely = required * len(layer.keys) // (int(rows[-1]) + 1)
            if table.filled == 0:
                # a large layer grows less in the middle of a column, and shrinks at its end
                likely = min(likely, len(layer.keys) * (4 if len(step.mirror) else 8) // 5)
            table.grow(max(required, min(3 * required // 2, likely + required // 20)))
        table.add(keys, layer.ways[rows])
    return Layer(*table.take_columns())


def count_onward(layer: Layer, step: Step, after: HashTable) -> tuple[Array, Array]:
    """Return the layer's backward counts, and the number of cycles that use each edge of the step.

    `after` has the backward counts of the next layer.
    """
    onward, uses = np.zeros_like(layer.ways), np.zeros(len(step.others), dtype=np.int64)
    approximate_sum = 0.0
    for rows, joined, keys in iter_successors(layer.keys, step):
        completions = after.look_up(keys)
        begins = np.flatnonzero(np.diff(rows, prepend=-1))
        onward[rows[begins]] = _sum_groups(completions, begins)
        ways = layer.ways[rows]
        cycles = ways * completions
        # no dot product, for which numpy starts threads that wait busily
        approximate_sum += float((ways.astype(float) * completions).sum())
        for number in range(len(uses)):
            uses[number] += np.dot(cycles, joined >> number & 1)
    if approximate_sum >= COUNT_LIMIT:
        raise CountOverflow
    return onward, uses


def _sum_groups(counts: Array, begins: Array) -> Array:
    """Return the sums of neighbouring counts: of those from each of `begins` to the next."""
    if not len(begins):
        return begins
    approximate_sums = np.add.reduceat(counts.astype(float), begins)
    sums: Array = np.add.reduceat(counts, begins)
    if sums.min() < 0 or approximate_sums.max() >= COUNT_LIMIT:
        raise CountOverflow
    return sums


def sum_cycles(ways: Array, onward: Array) -> int:
    """Count the cycles through a layer, given the forward and backward counts of its states."""
    if onward.min(initial=0) < 0 or (ways.astype(float) * onward).sum() >= COUNT_LIMIT:
        raise CountOverflow
    return int(np.dot(ways, onward))


def make_mirror(sweep: Sweep) -> Array:
    """Return for each cell at the cut, or after a whole column, its mirror image."""
    one, other = (sweep.here + sweep.rows * column for column in range(2))
    end = sweep.cells - 1
    return np.array([*range(one), *reversed(range(one, other)), *reversed(range(other, end)), end])


def make_steps(sweep: Sweep, *, mirrored: bool) -> list[Step]:
    """Make the steps of the longer half; the first of them are those of the shorter half.

    `mirrored`: whether a state may represent its mirror image too.
    """
    # of open paths: 1 for each dark square, -1 for each light one
    squares = range(sweep.board.squares)
    colour = np.array([sweep.paths * (1 - 2 * sweep.upright.is_light(at)) for at in squares])
    mirror, no_mirror = make_mirror(sweep), np.empty(0, dtype=np.int64)
    steps = []
    for square, others in enumerate(sweep.steps):
        end = square + sweep.cells - sweep.here + 1  # the first square without a cell
        cells = [*enumerate(colour[square + 1 : end].tolist(), start=sweep.here)]
        ends_column = mirrored and square % sweep.rows == sweep.rows - 1
        step = Step(
            sweep.cells,
            sweep.here,
            np.array(others, dtype=np.int64),
            mirror if ends_column else no_mirror,
            list_all_partners(sweep.cells),
            dark=sum(END << 2 * cell for cell, value in cells if value == 1),
            light=sum(END << 2 * cell for cell, value in cells if value == -1),
            surplus=-2 * int(colour[end:].sum()),
        )
        steps.append(step)
    return steps
