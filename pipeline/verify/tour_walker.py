"""A walker over half a board: its layers of states, and the number of ways to complete each.

Proofs count with it what the search counted. It knows the board's rules and, from
docs/format/tours.md, the numbers of squares, cells, states and layers. It has nothing else from the
search or the lookups: no table, no mirror images, and no counting back from the cut.

The layers come from the empty board. In each step every state is taken to all states that it leads
to, and a hash table adds up the ways. The ways to complete a state are counted by its needs after
some edges of the cut: the states of the other half that meet these needs after the remaining edges
are added up by their matching, and `close_matchings` turns that into the numbers of completions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from pipeline.tasks import run_in_threads
from pipeline.verify.claims import Array
from tablebase.errors import SearchError
from tablebase.frontier.compiled import count_ones, find_lowest
from tablebase.jit import compiled
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.resources import count_cores

MATCHING_BITS = 26
ENDS = int("01" * 19, 2)
"""The bits of needs that are set where a cell needs one edge."""
FREE = 2
MATCHINGS = np.array([1, *np.cumprod(np.arange(1, 19, 2))])
"""The number of matchings of 0, 1, 2 ... pairs of ends."""
MAX_CELLS = 20
FIRST_PLACES = 1 << 10
"""Places of a hash table at first."""
SLICE_STATES = 1 << 18
"""States whose steps are taken without a look at the clock."""
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
        one = find_lowest(ends) // 2
        ends &= ends - 1
        others = ends
        for _ in range(number // MATCHINGS[pairs]):
            others &= others - 1
        number %= MATCHINGS[pairs]
        other = find_lowest(others) // 2
        ends ^= 1 << 2 * other
        mate[one], mate[other] = other, one
    return needs


@compiled
def make_matching_code(needs: int, mate: Array) -> int:
    """Return the number of the matching of the ends."""
    ends, number = needs & ENDS, 0
    while ends:
        other = 1 << 2 * mate[find_lowest(ends) // 2]
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


class SquareStep(NamedTuple):
    """The step of a square, which is cell `here`; with the step, the last cell enters."""

    here: int
    last: int
    starts: int
    """1 where the square must be joined to the virtual one, the first of `others`."""
    virtual: int
    """The bits of the virtual square's needs."""
    light: int
    dark: int
    """The cells of each colour, as the bits of ends; none in sweeps for closed tours."""
    surplus: int
    """The needs of the light squares past the last cell less those of the dark ones."""


@compiled
def take_steps(
    keys: Array, numbers: Array, end: int, step: Array, others: Array,
    table_keys: Array, table_numbers: Array, progress: Array,
) -> None:  # fmt: skip
    """Take the states up to `end` to all states that they lead to, and add up the numbers there.

    `progress` has the states that are done and the places that are filled. It ends where the table
    may become too full.
    """
    here, last, starts = step[0], step[1], step[2]
    own = 3 << 2 * here
    mate = np.empty(MAX_CELLS, dtype=np.int64)
    while progress[0] < end and 4 * progress[1] < 3 * len(table_keys):
        key, number = keys[progress[0]], numbers[progress[0]]
        progress[0] += 1
        needs = decode_state(key, mate) | FREE << 2 * last
        missing = (needs & own) >> 2 * here
        if missing == 0 and not starts:
            _add_state(needs, mate, step, number, table_keys, table_numbers, progress)
        for first in range(len(others) if missing else 0):
            one = here if missing == 1 else others[first]
            for second in range(len(others)):
                # two edges make the paths of two squares one, as if the squares were joined
                if second != first if missing == 1 else second <= first:
                    continue
                other = others[second]
                near, far = mate[one], mate[other]
                after = join(needs, mate, one, other)
                if after >= 0:
                    _add_state(
                        after & ~own, mate, step, number, table_keys, table_numbers, progress
                    )
                mate[near], mate[far] = one, other
            if starts:
                break


@compiled
def _add_state(
    needs: int, mate: Array, step: Array, number: int, table_keys: Array, table_numbers: Array,
    progress: Array,
) -> None:  # fmt: skip
    """Add a number to that of a state, unless its colours need different numbers of edges.

    The cell that is finished still has its place in `needs`, and needs nothing.
    """
    virtual, light, dark, surplus = step[3], step[4], step[5], step[6]
    if needs & virtual == 0:
        surplus += count_ones(needs & light) + 2 * count_ones(needs >> 1 & light)
        surplus -= count_ones(needs & dark) + 2 * count_ones(needs >> 1 & dark)
        if surplus:
            return
    below = (1 << 2 * step[0]) - 1
    rest = needs & below | needs >> 2 & ~below
    _add_number(
        rest << MATCHING_BITS | make_matching_code(needs, mate), number, table_keys, table_numbers,
        progress,
    )  # fmt: skip


@compiled
def _add_number(
    key: int, number: int, table_keys: Array, table_numbers: Array, progress: Array
) -> None:
    """Add a number to that of a key in a hash table; no key is 0."""
    mixed = (key & 0xFFFFFFFF) * 0x2C1B3C6D + (key >> 32) * 0x297A2D39
    place = (mixed ^ mixed >> 29) % len(table_keys)
    while table_keys[place] != key:
        if table_keys[place] == 0:
            table_keys[place] = key
            progress[1] += 1
            break
        place += 1
        if place == len(table_keys):
            place = 0
    table_numbers[place] += number


@compiled
def _add_numbers(
    keys: Array, numbers: Array, table_keys: Array, table_numbers: Array, progress: Array
) -> None:
    for row in range(len(keys)):
        if keys[row]:
            _add_number(keys[row], numbers[row], table_keys, table_numbers, progress)


# ---- the half board ---------------------------------------------------------------------------


class HalfBoard:
    """The squares of a sweep along the files of a board, half of them from each end.

    Of open tours, the virtual square is the first cell, and squares follow it.
    """

    def __init__(self, board: KnightBoard, *, is_open: bool) -> None:
        self.board, self.is_open = board, is_open
        self.here, height, squares = int(is_open), board.files, range(board.squares)
        self.cells = self.here + 2 * height + 1
        self.longer = height * ((board.ranks - 1) // 2)
        self.shorter = height * ((board.ranks - 2) // 2)
        self.ends = [
            is_open and not (board.squares % 2 and board.is_light(square)) for square in squares
        ]
        """Whether a tour can end at each square, which is beside the virtual one then."""
        self.turns: list[int | None] = [None]
        """The squares from which tours are counted, each for all of its images; None for closed
        ones."""
        if is_open:
            self.turns = [*sorted({self.find_turn(at) for at in squares if self.ends[at]})]
        begin, end = self.longer, self.longer + 2 * height
        cells = {square: self.here + square - begin for square in range(begin, end)}
        self.between = [(0, cells[square]) for square in cells if self.ends[square]]
        """The edges of the cut, as pairs of cells."""
        self.between += [
            (cell, cells[to])
            for square, cell in cells.items()
            for to in board.list_neighbours(square)
            if square < to < end
        ]
        one, other = (range(self.here + height * n, self.here + height * (n + 1)) for n in range(2))
        self.facing = np.array([*range(self.here), *other, *one, *range(self.cells - 1, MAX_CELLS)])
        """For each cell of the cut, the cell of the same square seen from the other end."""

    def find_turn(self, square: int) -> int:
        """Return the last image of a square up to the first file of the cut."""
        end = self.longer + self.board.files
        return max(image for image in self.board.find_images(square) if image < end)

    def make_first_layer(self) -> CountedLayer:
        """Return the layer of the empty board."""
        needs = sum(FREE << 2 * cell for cell in range(self.cells))
        return CountedLayer(np.array([needs << MATCHING_BITS]), np.array([1]))

    def list_others(self, square: int) -> list[int]:
        """List the cells that the step of a square may join it to."""
        later = [to for to in self.board.list_neighbours(square) if to > square]
        return [0] * self.ends[square] + [to - square + self.here for to in later]

    def make_step(self, square: int, *, starts: bool) -> SquareStep:
        """Make the step of a square."""
        if not self.is_open:
            return SquareStep(0, self.cells, 0, 0, 0, 0, 0)
        end = min(square + self.cells - self.here, self.board.squares - 1)
        colours = [0, 0]
        for to in range(square + 1, end + 1):
            colours[self.board.is_light(to)] |= 1 << 2 * (to - square + self.here)
        past = [self.board.is_light(to) for to in range(end + 1, self.board.squares)]
        surplus = 2 * (2 * sum(past) - len(past))
        return SquareStep(self.here, self.cells, int(starts), 3, colours[1], colours[0], surplus)

    def advance(self, layer: CountedLayer, square: int, *, starts: bool = False) -> CountedLayer:
        """Return the layer after the step of a square."""
        if layer.numbers.sum(dtype=float) * 16 >= COUNT_LIMIT:
            raise SearchError(f"The partial tours of {self.board} are more than a proof can add.")
        step = np.array(self.make_step(square, starts=starts))
        others, progress = np.array(self.list_others(square)), np.zeros(2, dtype=np.int64)
        table = np.zeros((2, max(FIRST_PLACES, len(layer.keys))), dtype=np.int64)
        while progress[0] < len(layer.keys):
            if 4 * progress[1] >= 3 * table.shape[1]:
                progress[1], old = 0, table
                table = np.zeros((2, 4 * old.shape[1] // 3), dtype=np.int64)
                _add_numbers(old[0], old[1], table[0], table[1], progress)
                del old
            end = min(progress[0] + SLICE_STATES, len(layer.keys))
            take_steps(layer.keys, layer.numbers, end, step, others, table[0], table[1], progress)
        is_used = table[0] != 0
        keys, numbers = table[0][is_used], table[1][is_used]
        del table, is_used
        order = np.argsort(keys)
        return CountedLayer(keys[order], numbers[order])


def walk(
    half: HalfBoard,
    on_layer: Callable[[CountedLayer], object] = len,
    on_part: Callable[[], object] = int,
) -> dict[int | None, int]:
    """Count the tours from each of `half.turns`; `on_layer` gets every layer, in order.

    `on_part` is called now and then where the halves meet.
    """
    layers = {0: half.make_first_layer()}
    on_layer(layers[0])
    for square in range(half.longer):
        layers[square + 1] = half.advance(layers[square], square)
        on_layer(layers[square + 1])
        if square not in half.turns and square != half.shorter:
            del layers[square]
    last = layers[half.longer]
    joined = {
        turn: _join_keys(last.keys, 0, half.here + turn - half.longer)
        for turn in half.turns
        if turn is not None and turn >= half.longer
    }
    states = np.unique(np.concatenate((last.keys, *joined.values())))
    states = states[states >= 0]
    completions = count_completions(half, states, layers[half.shorter], on_part)
    totals = {}
    for turn in half.turns:
        layer = last
        if turn is not None and turn < half.longer:
            layer = layers[turn]
            for square in range(turn, half.longer):
                layer = half.advance(layer, square, starts=square == turn)
                on_layer(layer)
        keys = joined.pop(turn) if turn in joined else layer.keys
        ways = completions[np.minimum(np.searchsorted(states, keys), len(states) - 1)]
        numbers = layer.numbers * np.where(keys >= 0, ways, 0)
        on_layer(CountedLayer(layer.keys[numbers > 0], numbers[numbers > 0]))
        if (layer.numbers.astype(float) * ways).sum() >= COUNT_LIMIT:
            raise SearchError(f"The tours of {half.board} are more than a proof can add.")
        totals[turn] = int(numbers.sum())
    return totals


@compiled
def _join_keys(keys: Array, one: int, other: int) -> Array:
    """Return the keys after an edge between two cells, -1 where it is impossible."""
    mate, joined = np.empty(MAX_CELLS, dtype=np.int64), np.empty_like(keys)
    for row in range(len(keys)):
        needs = join(decode_state(keys[row], mate), mate, one, other)
        joined[row] = -1 if needs < 0 else needs << MATCHING_BITS | make_matching_code(needs, mate)
    return joined


# ---- where the halves meet --------------------------------------------------------------------


class CutSide(NamedTuple):
    """The states of one half at the cut, by their needs, and the edges that they may get there."""

    keys: Array
    needs: Array
    """The different needs of the cut's cells, ascending."""
    begins: Array
    ends: Array
    """Where the states with each of these needs begin and end."""
    facing: Array
    """The place of each cell in the cut."""
    edges: Array
    sums: Array
    """The edges that each set of `edges` gives to the cells, two bits for a cell."""
    sets: Array
    """The edges of each set as bits."""


def make_cut_side(
    keys: Array, half: HalfBoard, facing: Array, edges: list[tuple[int, int]]
) -> CutSide:
    """Make the side of states by ascending key; `facing` has the place of each cell in the cut."""
    all_needs = keys >> MATCHING_BITS
    begins = np.flatnonzero(np.diff(all_needs, prepend=-1))
    ends, cut_needs = np.append(begins[1:], len(keys)), np.zeros_like(begins)
    for cell in range(half.cells - 1):
        cut_needs |= (all_needs[begins] >> 2 * cell & 3) << 2 * facing[cell]
    order = np.argsort(cut_needs)
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
    return CutSide(keys, cut_needs[order], begins[order], ends[order], facing, pairs, sums, bits)


def list_remaining_needs(side: CutSide) -> Array:
    """List the needs that some states of a side have after some of its edges."""
    needs = side.needs
    for one, other in side.edges.tolist():
        can_join = (needs >> 2 * one & 3 > 0) & (needs >> 2 * other & 3 > 0)
        needs = np.unique(np.append(needs, needs[can_join] - (1 << 2 * one) - (1 << 2 * other)))
    return needs


def count_completions(
    half: HalfBoard, states: Array, other: CountedLayer, on_part: Callable[[], object] = int
) -> Array:
    """Count the ways to complete each state at the cut by edges there and by the other half.

    Each side gets every second edge of the cut: a state of each, and edges of each, complete each
    other if every cell gets two edges, and if the paths of both close one cycle.
    """
    one_side = make_cut_side(states, half, np.arange(MAX_CELLS), half.between[::2])
    other_side = make_cut_side(other.keys, half, half.facing, half.between[1::2])
    largest = other.numbers.sum(dtype=float) * len(one_side.sums) * len(other_side.sums)
    if largest >= COUNT_LIMIT:
        raise SearchError(f"The tours of {half.board} are more than a proof can add.")
    full = sum(FREE << 2 * cell for cell in range(half.cells - 1))
    needs = np.intersect1d(list_remaining_needs(one_side), full - list_remaining_needs(other_side))
    needs = needs[needs & ENDS > 0]
    pairs = int(np.bitwise_count(needs & ENDS).max(initial=0)) // 2
    begins, sources = list_sources(pairs)
    threads, spare = count_cores(), SimpleQueue[Array]()
    for _ in range(threads):
        spare.put(np.zeros_like(states))

    def meet(part: int) -> None:
        completions = spare.get()
        values, scratch = np.zeros((2, MATCHINGS[pairs]), dtype=np.int64)
        parts = needs[part::PARTS]
        _meet(
            parts, full, one_side, other_side, completions, other.numbers, values, scratch,
            begins, sources,
        )  # fmt: skip
        spare.put(completions)

    for _ in run_in_threads(meet, zip(range(PARTS)), threads):
        on_part()
    completions = spare.get()
    for _ in range(threads - 1):
        completions += spare.get()
    return completions


@compiled
def _meet(
    needs: Array, full: int, one: CutSide, other: CutSide, completions: Array, numbers: Array,
    values: Array, scratch: Array, begins: Array, sources: Array,
) -> None:  # fmt: skip
    """Add the completions of the states of one side that have one of these needs after edges."""
    for wanted in needs:
        pairs = count_ones(wanted & ENDS) // 2
        values[: MATCHINGS[pairs]] = 0
        _exchange(full - wanted, other, numbers, values, False)
        closed = close_matchings(values, scratch, pairs, begins, sources)
        _exchange(wanted, one, completions, closed, True)


@compiled
def _exchange(wanted: int, side: CutSide, numbers: Array, values: Array, reads: bool) -> None:
    """Add the states' numbers to the values of their matchings, or with `reads` the other way.

    The states are those that have the wanted needs after a set of edges.
    """
    mate, moved = np.empty(MAX_CELLS, dtype=np.int64), np.empty(MAX_CELLS, dtype=np.int64)
    # the cells that have room for an edge, and for two
    one_left, two_left = ~(wanted >> 1) & ENDS, ~(wanted | wanted >> 1) & ENDS
    for choice in range(len(side.sums)):
        total = side.sums[choice]
        if (total | total >> 1) & ENDS & ~one_left or total >> 1 & ENDS & ~two_left:
            continue
        group = np.searchsorted(side.needs, wanted + total)
        if group == len(side.needs) or side.needs[group] != wanted + total:
            continue
        for row in range(side.begins[group], side.ends[group]):
            decode_state(side.keys[row], mate)
            for cell in range(MAX_CELLS):
                moved[side.facing[cell]] = side.facing[mate[cell]]
            needs, edges = wanted + total, side.sets[choice]
            while edges and needs >= 0:
                edge = find_lowest(edges)
                edges &= edges - 1
                needs = join(needs, moved, side.edges[edge, 0], side.edges[edge, 1])
            if needs < 0:
                continue
            matching = make_matching_code(needs, moved)
            if reads:
                numbers[row] += values[matching]
            else:
                values[matching] += numbers[row]


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

    By the partner of the first end, the values of all matchings are added up by what is left of
    them without that pair; then the same is done for each partner, with a pair less.
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
