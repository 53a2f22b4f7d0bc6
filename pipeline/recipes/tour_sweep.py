"""Sweeps through half of a board that count partial tours, forward and back.

Forward, the ways to reach a state of the next layer (the *forward count*, `ways`) are the sum of
those of the states that a step leads from. Backward, the number of ways to complete a state (the
*backward count*, `onward`) is the sum of those of its successors. The edges that a
step adds lie on as many cycles as the product of the state's forward count and the successor's
backward count: so one sweep back counts for every edge the cycles that use it.

No overflow goes unnoticed. Sums of counts are checked at each step; products are also added up as
floating point numbers, which show whether the integers fitted. A sweep may count modulo a number of
up to 32 bits instead: then nothing can overflow, and a layer takes half the memory.

A layer is groups of states with the same needs. The states of a group are made together: the ways
of all states that edges lead there from are added up by matching, in an array for all matchings.

`Sweep` has the order of the squares, and the cut between the two halves: one sweep serves as both.
On boards of four columns or more each half has added part of every cycle, so that no cycle closes
on one side.

An open path is a cycle through one more square, the *virtual* square, which is adjacent to every
other: without it, its neighbours on the cycle are the ends of the path. So the number of paths that
end at a square is the number of cycles that use its edge to the virtual square. The virtual square
is the first cell of the frontier.

Where every edge joins a dark square and a light one, a path alternates between the colours: its
ends have different colours or, where one colour has a square more, that colour. States that cannot
lead to this are left out: once both ends are added, the remaining edges need both colours equally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.recipes.tour_joins import (
    EDGES,
    EdgeSets,
    Groups,
    Joins,
    Moves,
    find_group,
    find_moves,
    gather,
    join_slowly,
    list_tables,
    make_edge_sets,
    make_joins,
    make_moves,
    move,
)
from puzzle_tablebase.puzzles.knight.tour_ranker import Sweep
from puzzle_tablebase.tour_frontier.keys import (
    END_BITS,
    MATCHING_COUNTS,
    MATCHING_MASK,
    MAX_CELLS,
)
from puzzle_tablebase.tour_frontier.states import END, FREE, MATCHING_BITS

PART_NEEDS = 1 << 12
"""Needs whose states one thread makes at a time."""
COUNT_LIMIT = float(1 << 63)
ONCE = 1
"""The modulus of a sweep that counts states alone: each has the number 1, in a byte."""

StarMap = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterable[Any]]
"""A function with the interface of `itertools.starmap`, such as `Tasks.run_in_threads`."""


class CountOverflow(SearchError):
    """Error for a number of cycles that does not fit 63 bits, in whichever thread."""

    def __init__(self) -> None:
        super().__init__("The board has more tours than a table can count (2^63).")


class Layer(NamedTuple):
    """States in groups, as `Groups` has them, and the number of ways to reach each."""

    needs: Array
    begins: Array
    matchings: Array
    ways: Array

    @classmethod
    def from_keys(cls, keys: Array, ways: Array) -> Layer:
        """Return the layer of states with these keys, ascending."""
        needs = keys >> MATCHING_BITS
        begins = np.flatnonzero(np.diff(needs, prepend=-1))
        matchings = (keys & MATCHING_MASK).astype(np.int32)
        return cls(needs[begins], np.append(begins, len(keys)), matchings, ways)

    @property
    def groups(self) -> Groups:
        return Groups(*self[:3])

    @property
    def keys(self) -> Array:
        keys: Array = np.repeat(self.needs, np.diff(self.begins)) << MATCHING_BITS | self.matchings
        return keys

    def iter_slices(self, size: int) -> Iterator[Layer]:
        """Iterate over layers of so many groups each."""
        for first in range(0, len(self.needs), size):
            begins = self.begins[first : first + size + 1]
            states = slice(int(begins[0]), int(begins[-1]))
            needs = self.needs[first : first + size]
            yield Layer(needs, begins - begins[0], self.matchings[states], self.ways[states])


class Step(NamedTuple):
    """One step of a sweep: `cell` gets all the edges that it needs, and is finished.

    It leaves the frontier, and a free cell enters, with the number `cells`; `others`, the cells to
    which `cell` may be joined, may contain that number. Cells need not leave in the order in which
    they entered: in a sweep for open paths the virtual square stays to the end.
    """

    cells: int
    cell: int
    others: Array
    mirror: Array
    """After the last square of a column, the mirror image of each cell; else empty. A state and its
    image can be completed in equally many ways: the one with the smaller key represents both."""
    dark: int = 0
    light: int = 0
    """The cells of each colour after the step, as bits, if every edge joins two colours."""
    surplus: int = 0
    """Among squares that have no cell yet: the needs of the light ones minus those of the dark."""
    wanted: int = -1
    """The position in `others` of a cell that must be joined to `cell`, or -1."""
    modulus: int = 0
    """What ways are counted modulo, up to 32 bits; 0: exactly; `ONCE`: not at all."""

    @property
    def sets(self) -> EdgeSets:
        """The sets of edges that `cell` can get."""
        edges = [(self.cell, other) for other in self.others.tolist()]
        return make_edge_sets(edges, wanted=1 << self.wanted if self.wanted >= 0 else 0)

    @property
    def moves(self) -> Moves:
        """The moves of the mirror, if there is one."""
        views = (tuple(self.mirror.tolist()),) if len(self.mirror) else ()
        return make_moves(views, self.cell)

    def list_needs(self, needs: Array) -> Array:
        """List the needs that states of these needs can have after the step.

        Mates are never joined: that would close a cycle, and cycles close only where the two
        halves meet. Once the first cell needs nothing, all further edges join a dark square and a
        light one, so that both colours must need equally many; other needs are left out.
        """
        before, sets, after = needs | FREE << 2 * self.cells, self.sets, []
        for total in sets.sums.tolist():
            has_room = before >> 2 * self.cell & 3 == total >> 2 * self.cell & 3
            for other in self.others.tolist():
                has_room &= before >> 2 * other & 3 >= total >> 2 * other & 3
            after.append(_remove_cell(before[has_room] - total, self.cell))
        result = sort_distinct(np.concatenate(after))
        excess = sum_needs(result, self.dark) - sum_needs(result, self.light)
        is_possible = (excess == self.surplus) | (result & 3 > 0)
        result = result[is_possible & (result & END_BITS > 0)]
        if len(self.mirror):
            result = sort_distinct(np.minimum(result, relabel_needs(result, self.mirror)))
        return result


def sum_needs(needs: Array, cells: int) -> Array:
    """Return how many edges some cells need together, given as bits."""
    ones, twos = (np.bitwise_count(needs >> bit & cells).astype(np.int64) for bit in (0, 1))
    total: Array = ones + 2 * twos
    return total


def sort_distinct(values: Array) -> Array:
    """Return the distinct values, ascending; `numpy.unique` is slower."""
    values = np.sort(values)
    distinct: Array = values[np.diff(values, prepend=-1) != 0]
    return distinct


def relabel_needs(needs: Array, new_cells: Array) -> Array:
    """Return the needs after each cell has moved to cell `new_cells[cell]`."""
    moved = np.zeros_like(needs)
    for cell, new_cell in enumerate(new_cells.tolist()):
        moved |= (needs >> 2 * cell & 3) << 2 * new_cell
    return moved


def _remove_cell(needs: Array, cell: int) -> Array:
    below = (1 << 2 * cell) - 1
    return needs & below | needs >> 2 & ~below


def _insert_cell(needs: Array, cell: int) -> Array:
    """Return packed needs with a cell inserted that needs nothing."""
    below = (1 << 2 * cell) - 1
    return needs & below | (needs & ~below) << 2


def count_matchings(needs: Array) -> Array:
    """Return how many matchings the ends of each of these needs have."""
    counts: Array = MATCHING_COUNTS[np.bitwise_count(needs & END_BITS) // 2]
    return counts


def make_work() -> tuple[Array, Array]:
    """Return work space of the kernels: cells, and tables of edges."""
    return np.zeros((3, MAX_CELLS + 2), np.int64), np.zeros((4, EDGES), np.int64)


def make_first_layer(needs: list[int], modulus: int = 0) -> Layer:
    """Return a layer of one state without edges, given how many edges each cell needs."""
    packed = sum(need << 2 * cell for cell, need in enumerate(needs))
    dtype = np.int64 if modulus == 0 else np.uint8 if modulus == ONCE else np.uint32
    begins, matchings = np.array([0, 1]), np.zeros(1, dtype=np.int32)
    return Layer(np.array([packed]), begins, matchings, np.ones(1, dtype=dtype))


def advance_layer(
    layer: Layer, step: Step, check_running: Callable[[], None], star_map: StarMap = starmap
) -> Layer:
    """Return the next layer; `check_running` is called several times a second."""
    targets = step.list_needs(layer.needs)
    before = Groups(layer.needs | FREE << 2 * step.cells, *layer[1:3])
    joins, sets = make_joins(step.cells), step.sets

    def fill(part: Array) -> tuple[Array, Array, Array]:
        return _fill_part(part, before, layer.ways, step, sets, joins)

    parts = np.array_split(targets, 1 + len(targets) // PART_NEEDS)
    counts, matchings, ways = np.zeros_like(targets), layer.matchings[:0], layer.ways[:0]
    matchings, ways = matchings.copy(), ways.copy()
    done = size = 0
    for sizes, *columns in star_map(fill, zip(parts)):
        check_running()
        counts[done : done + len(sizes)] = sizes
        done += len(sizes)
        end = size + len(columns[0])
        if end > len(ways):  # resized: a copy would be the peak of memory
            for column in (matchings, ways):
                column.resize(end + end // 16, refcheck=False)
        matchings[size:end], ways[size:end] = columns
        size = end
    for column in (matchings, ways):
        column.resize(size, refcheck=False)
    is_reached = counts > 0
    begins = np.append(0, np.cumsum(counts[is_reached]))
    return Layer(targets[is_reached], begins, matchings, ways)


def _fill_part(
    targets: Array, before: Groups, ways: Array, step: Step, sets: EdgeSets, joins: Joins
) -> tuple[Array, Array, Array]:
    """Return how many states have each of these needs after a step, their matchings and ways."""
    wanted = _insert_cell(targets, step.cell)
    images = relabel_needs(targets, step.mirror) if len(step.mirror) else targets[:0]
    image_wanted = _insert_cell(images, step.cell)
    sizes = count_matchings(targets)
    values, image_values = np.zeros((2, int(sizes.max(initial=0))), dtype=np.int64)
    matchings, found = np.empty(int(sizes.sum()), np.int32), np.empty(int(sizes.sum()), ways.dtype)
    counts = np.zeros_like(targets)
    count = _fill_targets(
        targets, wanted, images, image_wanted, sizes, before, ways, sets, joins, step.moves,
        step.modulus, *make_work(), values, image_values, counts, matchings, found,
    )  # fmt: skip
    if count < 0:
        raise CountOverflow
    return counts, matchings[:count], found[:count]


@compiled
def _fill_targets(
    targets: Array, wanted: Array, images: Array, image_wanted: Array, sizes: Array, before: Groups,
    ways: Array, sets: EdgeSets, joins: Joins, moves: Moves, modulus: int, work: Array,
    tables: Array, values: Array, image_values: Array, counts: Array, matchings: Array,
    found: Array,
) -> int:  # fmt: skip
    """Fill in the states of each of these needs, and return how many there are, -1 on overflow."""
    count = 0
    for target in range(len(targets)):
        gather(wanted[target], before, ways, sets, joins, work, tables, values)
        size, overflow = sizes[target], 0
        if len(moves.new_cells):
            needs, image = targets[target], images[target]
            table = find_moves(image, 0, moves)
            gather(image_wanted[target], before, ways, sets, joins, work, tables, image_values)
            for matching in range(size):
                number = image_values[matching]
                if number:
                    image_values[matching] = 0
                    overflow |= number
                    if table >= 0:
                        other = moves.tables[table + matching]
                    else:
                        other = move(image, matching, moves.new_cells[0], needs, joins.mates, work)
                    # of a state with the needs of its image, both have been counted
                    if image != needs:
                        values[other] += number
                    elif other < matching:
                        values[other] += values[matching]
                        overflow |= values[other]
                        values[matching] = 0
        first = count
        for matching in range(size):
            number = values[matching]
            if number:
                values[matching] = 0
                overflow |= number
                if modulus == ONCE:
                    number = 1
                elif modulus:
                    number %= modulus
                matchings[count], found[count] = matching, number
                count += 1
        if overflow < 0:
            return -1
        counts[target] = count - first
    return count


def count_onward(layer: Layer, step: Step, after: Layer) -> tuple[Array, Array]:
    """Return the layer's backward counts, and the number of cycles that use each edge of the step.

    `after` has the next layer, with backward counts instead of ways.
    """
    sets = step.sets
    onward, uses = np.zeros_like(layer.ways), np.zeros(len(sets.bits), dtype=np.int64)
    before = Groups(layer.needs | FREE << 2 * step.cells, *layer[1:3])
    is_fitting = _count_back(
        before, layer.ways, after.groups, after.ways, sets, make_joins(step.cells), step.moves,
        step.cell, *make_work(), onward, uses,
    )  # fmt: skip
    # no dot product, for which numpy starts threads that wait busily
    if not is_fitting or float((layer.ways.astype(float) * onward).sum()) >= COUNT_LIMIT:
        raise CountOverflow
    others = range(len(step.others))
    return onward, np.array([uses[sets.bits >> other & 1 == 1].sum() for other in others])


@compiled
def _count_back(
    before: Groups, ways: Array, after: Groups, completions: Array, sets: EdgeSets, joins: Joins,
    moves: Moves, cell: int, work: Array, tables: Array, onward: Array, uses: Array,
) -> bool:  # fmt: skip
    """Set the backward counts of all states, and add up the cycles that use each set of edges.

    Return whether no sum of completions overflowed.
    """
    below, overflow = (1 << 2 * cell) - 1, 0
    for group in range(len(before.needs)):
        needs = before.needs[group]
        for number in range(len(sets.bits)):
            total = sets.sums[number]
            low, high = needs & END_BITS, needs >> 1 & END_BITS
            # the cell gets what it needs, and no other cell gets more than that
            if (needs ^ total) >> 2 * cell & 3 or total & ~(low | high) & END_BITS:
                continue
            left = needs - total
            left = left & below | left >> 2 & ~below
            kept, image, moved = left, left, -1
            if len(moves.new_cells):
                image = 0
                for old in range(moves.new_cells.shape[1]):
                    image |= (left >> 2 * old & 3) << 2 * moves.new_cells[0, old]
                kept, moved = min(left, image), find_moves(left, 0, moves)
            target = find_group(after.needs, kept)
            if target < 0:
                continue
            count = list_tables(needs, sets.bits[number], sets, joins, tables)
            begin, end = after.begins[target], after.begins[target + 1]
            for state in range(before.begins[group], before.begins[group + 1]):
                matching, at = before.matchings[state], 0
                while at < count and matching >= 0:
                    table = tables[0, at]
                    if table >= 0:
                        matching = joins.tables[table + matching]
                    else:
                        matching = join_slowly(matching, at, tables, joins.mates, work)
                    at += 1
                if matching < 0:
                    continue
                if image <= left and len(moves.new_cells):
                    if moved >= 0:
                        other = moves.tables[moved + matching]
                    else:
                        other = move(left, matching, moves.new_cells[0], image, joins.mates, work)
                    matching = min(matching, other) if image == left else other
                at = begin + find_group(after.matchings[begin:end], matching)
                if at >= begin:
                    onward[state] += completions[at]
                    overflow |= onward[state]
                    uses[number] += ways[state] * completions[at]
    return overflow >= 0


def sum_cycles(ways: Array, onward: Array, modulus: int = 0) -> int:
    """Count the cycles through a layer, given the forward and backward counts of its states."""
    if modulus:
        total = 0
        for first in range(0, len(ways), PART_NEEDS):
            span = slice(first, first + PART_NEEDS)
            products = ways[span].astype(np.uint64) * onward[span].astype(np.uint64)
            total += int((products % np.uint64(modulus)).sum())
        return total % modulus
    if onward.min(initial=0) < 0 or (ways.astype(float) * onward).sum() >= COUNT_LIMIT:
        raise CountOverflow
    return int(np.dot(ways, onward))


def make_mirror(sweep: Sweep) -> Array:
    """Return for each cell at the cut, or after a whole column, its mirror image."""
    one, other = (sweep.finished + sweep.rows * column for column in range(2))
    end = sweep.cells - 1
    return np.array([*range(one), *reversed(range(one, other)), *reversed(range(other, end)), end])


def make_steps(sweep: Sweep, *, mirrored: bool, modulus: int = 0) -> list[Step]:
    """Make the steps of the longer half; the first of them are those of the shorter half.

    `mirrored`: whether a state may represent its mirror image too. `modulus`: as in `Step`.
    """
    # of open paths: 1 for each dark square, -1 for each light one
    squares = range(sweep.board.squares)
    colour = np.array([sweep.paths * (1 - 2 * sweep.upright.is_light(at)) for at in squares])
    mirror, no_mirror = make_mirror(sweep), np.empty(0, dtype=np.int64)
    steps = []
    for square, others in enumerate(sweep.steps):
        end = square + sweep.cells - sweep.finished + 1  # the first square without a cell
        cells = [*enumerate(colour[square + 1 : end].tolist(), start=sweep.finished)]
        ends_column = mirrored and square % sweep.rows == sweep.rows - 1
        step = Step(
            sweep.cells,
            sweep.finished,
            np.array(others, dtype=np.int64),
            mirror if ends_column else no_mirror,
            dark=sum(END << 2 * cell for cell, value in cells if value == 1),
            light=sum(END << 2 * cell for cell, value in cells if value == -1),
            surplus=-2 * int(colour[end:].sum()),
            modulus=modulus,
        )
        steps.append(step)
    return steps
