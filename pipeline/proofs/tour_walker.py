"""A walker over half a board: its layers of states, and the number of ways to complete each.

Proofs count with it what the search counted. It has rules of its own (`knight_rules`) and, from
docs/format/ranks.md, the numbers of squares, cells, states and layers. It has nothing else from the
search or the lookups: no table, no mirror images, and no counting back from the cut.

The layers come from the empty board. A step of the sweep takes, for all needs that states may have
after it, the states that edges bring there, and adds up the ways to each matching. The ways to
complete a state are counted by its needs after some edges of the cut: the states of the other half
that meet these needs after the remaining edges are added up by their matching, and
`close_matchings` turns that into the numbers of completions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.notation.knight import ChessBoard
from puzzle_tablebase.pipeline.parallel import run_in_threads
from puzzle_tablebase.pipeline.proofs.bits import count_ones, count_trailing_zeros
from puzzle_tablebase.pipeline.proofs.knight_rules import find_jumps, find_light, list_images
from puzzle_tablebase.resources import count_cores

MATCHING_BITS = 26
ENDS = int("01" * 19, 2)
"""The bits of needs that are set where a cell needs one edge."""
FREE = 2
MATCHINGS = np.array([1, *np.cumprod(np.arange(1, 19, 2))])
"""The number of matchings of 0, 1, 2 ... pairs of ends."""
MAX_CELLS = 20
SAME = np.arange(MAX_CELLS)
"""For each cell, itself: no cell moves."""
PART_STATES = 1 << 17
"""About the number of states that a thread takes a step at a time."""
PARTS = 64
"""The parts into which the needs at the cut are divided."""
COUNT_LIMIT = 2.0**62


class CountedLayer(NamedTuple):
    """States by ascending key, and a number of each."""

    keys: Array
    numbers: Array


# ---- states -----------------------------------------------------------------------------------


@compiled
def decode_state(key: int, mate: Array) -> int:
    """Return the needs of a key, and set `mate`: of an end the other end, of others themselves."""
    for cell in range(len(mate)):
        mate[cell] = cell
    needs, number = key >> MATCHING_BITS, key & (1 << MATCHING_BITS) - 1
    ends = needs & ENDS
    pairs = count_ones(ends) // 2
    while ends:
        pairs -= 1
        one = count_trailing_zeros(ends) // 2
        ends &= ends - 1
        others = ends
        for _ in range(number // MATCHINGS[pairs]):
            others &= others - 1
        number %= MATCHINGS[pairs]
        other = count_trailing_zeros(others) // 2
        ends ^= 1 << 2 * other
        mate[one], mate[other] = other, one
    return needs


@compiled
def make_matching_code(needs: int, mate: Array) -> int:
    """Return the number of the matching of the ends."""
    ends, number = needs & ENDS, 0
    while ends:
        other = 1 << 2 * mate[count_trailing_zeros(ends) // 2]
        ends &= ends - 1
        number = number * count_ones(ends) + count_ones(ends & other - 1)
        ends ^= other
    return number


@compiled
def join(needs: int, mate: Array, one: int, other: int) -> int:
    """Add an edge, and return the needs after it; -1 where a cell has both, or a cycle closes."""
    near, far = mate[one], mate[other]
    if needs >> 2 * one & 3 == 0 or needs >> 2 * other & 3 == 0 or near == other:
        return -1
    mate[near], mate[far] = far, near
    return needs - (1 << 2 * one) - (1 << 2 * other)


# ---- groups of states -------------------------------------------------------------------------


class StateGroups(NamedTuple):
    """States by ascending key, in groups with the same needs, and the edges that they may get."""

    keys: Array
    needs: Array
    """The different needs, ascending; those of the squares that `facing` gives new cells."""
    begins: Array
    ends: Array
    """Where the states with each of these needs begin and end."""
    facing: Array
    """The new cell of each."""
    edges: Array
    sums: Array
    """The edges that each set of `edges` gives to the cells, two bits for a cell."""
    sets: Array
    """The edges of each set as bits."""


def group_states(
    keys: Array, added: int, edges: list[tuple[int, int]], facing: Array = SAME
) -> StateGroups:
    """Group states; `added` is added to the needs of all."""
    begins = np.flatnonzero(keys ^ np.append(0, keys[:-1]) >= 1 << MATCHING_BITS)
    before, needs = (keys[begins] >> MATCHING_BITS) + added, np.zeros_like(begins)
    for cell, new_cell in enumerate(facing.tolist()):
        needs |= (before >> 2 * cell & 3) << 2 * new_cell
    order, ends = np.argsort(needs), np.append(begins[1:], len(keys))
    sets = [(0, 0)]
    for number, (one, other) in enumerate(edges):
        edge = (1 << 2 * one) + (1 << 2 * other)
        sets += [
            (total + edge, bits | 1 << number)
            for total, bits in sets
            if not (total >> 2 * one | total >> 2 * other) & FREE
        ]
    sums, bits = np.array(sets).T.copy()
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return StateGroups(keys, needs[order], begins[order], ends[order], facing, pairs, sums, bits)


def count_pairs(needs: Array) -> int:
    """Return the largest number of pairs of ends that any of these needs has."""
    return int(np.bitwise_count(needs & ENDS).max(initial=0)) // 2


def sort_distinct(*parts: Array) -> Array:
    """Return the different values, ascending, without those below 0."""
    values = np.concatenate(parts)
    values.sort()  # many times as fast as `np.unique`
    return values[np.append(values[:1] >= 0, values[1:] > values[:-1])]


def list_remaining_needs(groups: StateGroups) -> Array:
    """List the needs that some states have after some of their edges."""
    needs = groups.needs
    for one, other in groups.edges.tolist():
        can_join = (needs >> 2 * one & 3 > 0) & (needs >> 2 * other & 3 > 0)
        needs = sort_distinct(needs, needs[can_join] - (1 << 2 * one) - (1 << 2 * other))
    return needs


@compiled
def scatter_or_gather(
    wanted: int, groups: StateGroups, numbers: Array, values: Array, found: Array, reads: bool
) -> int:
    """Add the states' numbers to the values of their matchings, or with `reads` the other way.

    The states are those that have the wanted needs after a set of edges. Return how many values
    were 0 before; `found` gets their matchings.
    """
    mate, moved = np.empty(MAX_CELLS, dtype=np.int64), np.empty(MAX_CELLS, dtype=np.int64)
    # the cells that have room for an edge, and for two
    one_left, two_left = ~(wanted >> 1) & ENDS, ~(wanted | wanted >> 1) & ENDS
    count = 0
    for choice in range(len(groups.sums)):
        total = groups.sums[choice]
        if (total | total >> 1) & ENDS & ~one_left or total >> 1 & ENDS & ~two_left:
            continue
        group = np.searchsorted(groups.needs, wanted + total)
        if group == len(groups.needs) or groups.needs[group] != wanted + total:
            continue
        for row in range(groups.begins[group], groups.ends[group]):
            decode_state(groups.keys[row], mate)
            for cell in range(MAX_CELLS):
                moved[groups.facing[cell]] = groups.facing[mate[cell]]
            needs, edges = wanted + total, groups.sets[choice]
            while edges and needs >= 0:
                edge = count_trailing_zeros(edges)
                edges &= edges - 1
                needs = join(needs, moved, groups.edges[edge, 0], groups.edges[edge, 1])
            if needs < 0:
                continue
            matching = make_matching_code(needs, moved)
            if reads:
                numbers[row] += values[matching]
                continue
            if values[matching] == 0:
                found[count] = matching
                count += 1
            values[matching] += numbers[row]
    return count


# ---- the half board ---------------------------------------------------------------------------


class HalfBoard:
    """The squares of a sweep along the short side of a board, half of them from each end.

    Squares are those of the board with no more files than ranks. Of open tours, the virtual square
    is the first cell, and squares follow it.
    """

    def __init__(self, board: ChessBoard, *, is_open: bool) -> None:
        sides = self.height, width = board.sorted_sides
        self.board, self.is_open, self.here = board, is_open, int(is_open)
        height, squares = self.height, range(board.squares)
        self.cells = self.here + 2 * height + 1
        self.longer, self.shorter = height * ((width - 1) // 2), height * ((width - 2) // 2)
        self._light, self._images = find_light(*sides), list_images(*sides)
        self._later = [[*map(int, row.nonzero()[0])] for row in np.triu(find_jumps(*sides))]
        # of an odd number of squares, a tour begins and ends on the colour that has more
        self.ends = [is_open and not (board.squares % 2 and self._light[at]) for at in squares]
        """Whether a tour can end at each square, which is beside the virtual one then."""
        self.starts: list[int | None] = [None]
        """The squares from which tours are counted, each for all of its images; None for closed
        ones."""
        if is_open:
            self.starts = [*sorted({self.find_start(at) for at in squares if self.ends[at]})]
        self.totals = dict[int | None, int]()
        """The number of tours from each of these squares, once all layers are walked."""
        begin, end = self.longer, self.longer + 2 * height
        cells = {square: self.here + square - begin for square in range(begin, end)}
        self.between = [(0, cells[square]) for square in cells if self.ends[square]]
        """The edges of the cut, as pairs of cells."""
        self.between += [
            (cell, cells[to])
            for square, cell in cells.items()
            for to in self._later[square]
            if to < end
        ]
        one, other = (range(self.here + height * n, self.here + height * (n + 1)) for n in range(2))
        self.facing = np.array([*range(self.here), *other, *one, *range(self.cells - 1, MAX_CELLS)])
        """For each cell of the cut, the cell of the same square seen from the other end."""

    def find_start(self, square: int) -> int:
        """Return the last image of a square up to the first file of the cut."""
        images = self._images[:, square]
        return int(images[images < self.longer + self.height].max())

    def _keep_balanced(self, needs: Array, square: int) -> Array:
        """Return the needs where the squares of each colour need as many edges.

        In closed tours they do, and in open ones once the virtual square has both edges.
        """
        if not self.is_open:
            return needs
        surplus = np.zeros(len(needs), dtype=np.int64)
        for to in range(square + 1, self.board.squares):
            cell = to - square + self.here
            is_new = cell > self.cells
            sign = 1 if self._light[to] else -1
            surplus += sign * (FREE if is_new else needs >> 2 * cell & 3)
        kept: Array = needs[(surplus == 0) | (needs & 3 > 0)]
        return kept

    def advance(self, layer: CountedLayer, square: int, *, is_start: bool = False) -> CountedLayer:
        """Return the layer after the step of a square; with `is_start`, tours start there."""
        if layer.numbers.sum(dtype=float) * 16 >= COUNT_LIMIT:
            raise SearchError(f"The partial tours of {self.board} are more than a proof can add.")
        others = [0] * self.ends[square] + [to - square + self.here for to in self._later[square]]
        edges = [(self.here, other) for other in others]
        groups = group_states(layer.keys, FREE << 2 * self.cells, edges)
        if is_start:
            # the first edge is the one to the virtual square
            has_edge = groups.sets & 1 == 1
            groups = groups._replace(sums=groups.sums[has_edge], sets=groups.sets[has_edge])
        targets = list_remaining_needs(groups)
        targets = self._keep_balanced(targets[targets & 3 << 2 * self.here == 0], square)
        pairs = count_pairs(targets)

        def fill(part: Array) -> Array:
            values, found = np.zeros((2, MATCHINGS[pairs]), dtype=np.int64)
            return _fill_layer(part, groups, layer.numbers, self.here, values, found)

        parts = np.array_split(targets, 1 + len(layer.keys) // PART_STATES)
        return CountedLayer(*np.concatenate([*run_in_threads(fill, zip(parts))], axis=1))


@compiled
def _fill_layer(
    targets: Array, groups: StateGroups, numbers: Array, here: int, values: Array, found: Array
) -> Array:
    """Return the states that have these needs after a step, and their numbers.

    The cell that is finished is still in the needs, and needs nothing.
    """
    states, end, below = np.empty((2, len(targets)), dtype=np.int64), 0, (1 << 2 * here) - 1
    for wanted in targets:
        count = scatter_or_gather(wanted, groups, numbers, values, found, False)
        if end + count > states.shape[1]:
            longer = np.empty((2, 2 * (end + count)), dtype=np.int64)
            longer[:, :end] = states[:, :end]
            states = longer
        rest = (wanted & below | wanted >> 2 & ~below) << MATCHING_BITS
        for matching in np.sort(found[:count]):
            states[0, end], states[1, end] = rest | matching, values[matching]
            values[matching] = 0
            end += 1
    return states[:, :end].copy()


def walk(half: HalfBoard) -> dict[int | None, int]:
    """Count the tours from each of `half.starts`."""
    deque(walk_layers(half), maxlen=0)
    return half.totals


def walk_layers(half: HalfBoard) -> Iterator[CountedLayer]:
    """Yield every layer, in order, and set `half.totals`."""
    empty = sum(FREE << 2 * cell for cell in range(half.cells))
    layers = {0: CountedLayer(np.array([empty << MATCHING_BITS]), np.array([1]))}
    yield layers[0]
    for square in range(half.longer):
        layers[square + 1] = half.advance(layers[square], square)
        yield layers[square + 1]
        if square not in half.starts and square != half.shorter:
            del layers[square]
    last = layers[half.longer]
    joined = {
        start: _join_keys(last.keys, 0, half.here + start - half.longer)
        for start in half.starts
        if start is not None and start >= half.longer
    }
    states = sort_distinct(last.keys, *joined.values()) if joined else last.keys
    completions = count_completions(half, states, layers[half.shorter])
    for start in half.starts:
        layer = last
        if start is not None and start < half.longer:
            layer = layers[start]
            for square in range(start, half.longer):
                layer = half.advance(layer, square, is_start=square == start)
                yield layer
        keys = joined.pop(start) if start in joined else layer.keys
        at = np.searchsorted(states, keys)
        ways = completions[np.minimum(at, len(states) - 1, out=at)]
        del at
        ways[keys < 0] = 0
        if np.einsum("i,i", layer.numbers, ways, dtype=float, casting="same_kind") >= COUNT_LIMIT:
            raise SearchError(f"The tours of {half.board} are more than a proof can add.")
        ways *= layer.numbers
        half.totals[start] = int(ways.sum())
        yield CountedLayer(layer.keys[ways > 0], ways[ways > 0])


@compiled
def _join_keys(keys: Array, one: int, other: int) -> Array:
    """Return the keys after an edge between two cells, -1 where it is impossible."""
    mate, joined = np.empty(MAX_CELLS, dtype=np.int64), np.empty_like(keys)
    for row in range(len(keys)):
        needs = join(decode_state(keys[row], mate), mate, one, other)
        joined[row] = -1 if needs < 0 else needs << MATCHING_BITS | make_matching_code(needs, mate)
    return joined


# ---- where the halves meet --------------------------------------------------------------------


def count_completions(half: HalfBoard, states: Array, other: CountedLayer) -> Array:
    """Count the ways to complete each state at the cut by edges there and by the other half.

    Each side gets every second edge of the cut: a state of each, and edges of each, complete each
    other if every cell gets two edges, and if the paths of both close one cycle.
    """
    last_cell = FREE << 2 * half.cells - 2
    one_side = group_states(states, -last_cell, half.between[::2])
    other_side = group_states(other.keys, -last_cell, half.between[1::2], half.facing)
    largest = other.numbers.sum(dtype=float) * len(one_side.sums) * len(other_side.sums)
    if largest >= COUNT_LIMIT:
        raise SearchError(f"The tours of {half.board} are more than a proof can add.")
    full = sum(FREE << 2 * cell for cell in range(half.cells - 1))
    one_needs, other_needs = map(list_remaining_needs, (one_side, other_side))
    needs = np.intersect1d(one_needs, full - other_needs, assume_unique=True)
    needs = needs[needs & ENDS > 0]
    pairs = count_pairs(needs)
    begins, sources = list_sources(pairs)
    threads, spare = count_cores(), SimpleQueue[Array]()
    for _ in range(threads):
        spare.put(np.zeros_like(states))

    def meet(part: Array) -> None:
        completions = spare.get()
        values, scratch = np.zeros((2, MATCHINGS[pairs]), dtype=np.int64)
        try:
            _meet(
                part, full, one_side, other_side, completions, other.numbers, values, scratch,
                begins, sources,
            )  # fmt: skip
        finally:  # another thread may wait for them
            spare.put(completions)

    for _ in run_in_threads(meet, zip(np.array_split(needs, PARTS)), threads):
        pass
    completions = spare.get()
    for _ in range(threads - 1):
        completions += spare.get()
    return completions


@compiled
def _meet(
    needs: Array, full: int, one: StateGroups, other: StateGroups, completions: Array,
    numbers: Array, values: Array, scratch: Array, begins: Array, sources: Array,
) -> None:  # fmt: skip
    """Add the completions of the states of one side that have one of these needs after edges."""
    for wanted in needs:
        pairs = count_ones(wanted & ENDS) // 2
        values[: MATCHINGS[pairs]] = 0
        scatter_or_gather(full - wanted, other, numbers, values, scratch, False)
        closed = close_matchings(values, scratch, pairs, begins, sources)
        scatter_or_gather(wanted, one, completions, closed, scratch, True)


@lru_cache(1)
def list_sources(max_pairs: int) -> tuple[Array, Array]:
    """List the matchings that `close_matchings` adds up, of up to so many pairs.

    For k pairs they begin at the first array's number k: for each matching, 2k-2 others.
    """
    pairs = np.arange(max_pairs + 1)
    ends = np.cumsum(np.maximum(2 * pairs - 2, 0) * MATCHINGS[: max_pairs + 1])
    begins = np.append(0, ends[:-1])
    sources = np.zeros(int(ends[-1]), dtype=np.int32)
    for count in range(2, max_pairs + 1):
        _fill_sources(count, sources[begins[count] : ends[count]])
    return begins, sources


@compiled
def _fill_sources(pairs: int, sources: Array) -> None:
    """Fill in the sources of each matching of so many pairs.

    In the matching, the first end is paired with `other`. A matching that closes with it into one
    cycle pairs these two with two more ends: without the first pair, the four are one path, whose
    ends are paired in the rest of the cycle.
    """
    mate = np.empty(MAX_CELLS, dtype=np.int64)
    every, at = ENDS & (1 << 4 * pairs) - 1, 0
    for other in range(1, 2 * pairs):
        rest = every & ~(1 | 1 << 2 * other)
        for number in range(MATCHINGS[pairs - 1]):
            decode_state(rest << MATCHING_BITS | number, mate)
            for near in range(1, 2 * pairs):
                if near == other:
                    continue
                far = mate[near]
                mate[0], mate[near], mate[other], mate[far] = near, 0, far, other
                sources[at] = make_matching_code(every, mate)
                mate[near], mate[far] = far, near
                at += 1


@compiled
def close_matchings(
    values: Array, scratch: Array, pairs: int, begins: Array, sources: Array
) -> Array:
    """Add up, for each matching, the values of those that close one cycle with it.

    By the mate of the first end, the values of all matchings are added up by what is left of
    them without that pair; then the same is done for each mate, with a pair less.
    """
    for count in range(pairs, 1, -1):
        size, ways = MATCHINGS[count], 2 * count - 2
        for part in range(0, MATCHINGS[pairs], size):
            at = begins[count]
            for matching in range(part, part + size):
                total = 0
                for source in range(at, at + ways):
                    total += values[part + sources[source]]
                scratch[matching] = total
                at += ways
        values, scratch = scratch, values
    return values
