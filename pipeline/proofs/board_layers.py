"""The proof of a table with one bit of each distance: a second search, layer by layer.

The bits of a layer must be bit 1 of its distance. The proof infers no distance from the table:
wrong values could agree with all their neighbours and never lead to the goal.

A state is a place of the blank and an order of the tiles, by the number that the table gives it.
Orders are numbered like words in a dictionary. Two orders that differ by a swap of the last two
tiles share a number, because each place of the blank allows only one of them, the even or the odd
one. The orders of the last five tiles have 60 consecutive numbers: these are a word of bits.

A move along a line keeps the order. One from line to line turns as many consecutive tiles as a line
has: the first of them goes behind the others, or the last one before them. To find which numbers
become which, all orders of these tiles are listed, turned and looked up in the list. States that
differ only in the tiles behind are moved together: as words, as groups of bits or, if the turned
tiles are among the last five, by the images of ten bits. So states are never moved one by one, and
the proof shares no code with the search that built the table.

The neighbours of a layer are in the next one or in the one before, since every move changes the
colour of the blank's cell and can be undone. So two layers are enough to find the next, which has
the blank on cells of one colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.formats.counts import Depth
from puzzle_tablebase.formats.index import BLOCK_BYTES, BLOCKS_PER_READ
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.notation.sliding import parse_sides
from puzzle_tablebase.pipeline.parallel import run_in_threads
from puzzle_tablebase.pipeline.proofs.bits import count_ones, count_trailing_zeros
from puzzle_tablebase.pipeline.proofs.claims import (
    Difference,
    ListedTable,
    Proof,
    Prover,
    require_equal,
    view_field,
)
from puzzle_tablebase.pipeline.proofs.scratch import Scratch, round_up
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, Verdict
from puzzle_tablebase.resources import PROCESS_BYTES
from puzzle_tablebase.schema import ROW_BYTES, Table

Words = npt.NDArray[np.uint64]
Order = tuple[int, ...]

HOW = "every state was searched again from the goal, layer by layer"
WORD_TILES = 5
WORD_STATES = factorial(WORD_TILES) // 2
PART_BITS = 10
"""Bits of a word whose image is looked up."""
TASK_WORDS = 1 << 20
"""Most words of a task: few enough that a proof ends soon after it is interrupted."""
CHUNK_WORDS = 1 << 15
"""Words to which all moves are followed before the next ones: few enough for a core's cache."""


def prove_bits(listed: ListedTable, scratch: Scratch | None = None) -> Proof:
    """Prove the distances of a large board to one goal, with arrays in `scratch` or in memory."""
    numbering, goal = read_definition(listed.definition)
    scratch = scratch or Scratch()
    records = numbering.size // (8 * ROW_BYTES)
    text = "there is a record for every 360 states"
    yield listed.claim_records(text, require_equal("records", listed.index.records, records))

    bits, depths = read_bits(listed, numbering, scratch), dict[Depth, int]()
    text = "each bit is bit 1 of the state's distance, layer by layer from the goal"
    yield listed.claim_records(text, find_bad_bits(numbering, goal, bits, depths, scratch))
    return Proved(Verdict.PROVED, HOW, fields=("bits",), depths=depths)


def read_definition(table: Table) -> tuple[Numbering, str]:
    """Return the numbering of a table's board, and the goal."""
    parameters = table.recipe.parameters
    (goal,) = parameters["roots"]
    return Numbering(*parse_sides(parameters["board"])), goal


def measure_arrays(table: Table) -> tuple[int, int]:
    """Measure the bytes of the arrays that may be in a file, and of those that are in memory."""
    numbering, _ = read_definition(table)
    words = numbering.orders // WORD_STATES
    return 2 * round_up(8 * words * numbering.cells), 2 * words


def estimate_memory(table: Table) -> int:
    """Estimate the bytes of the process with all arrays."""
    return PROCESS_BYTES + sum(measure_arrays(table))


SLIDING_BITS = Prover(prove_bits, estimate_memory, measure_arrays)


def read_bits(listed: ListedTable, numbering: Numbering, scratch: Scratch) -> Words:
    """Read the index: a row for each place of the blank, a bit for each order of the tiles."""
    bits = scratch.allocate((numbering.size // WORD_STATES,), np.uint64)
    words = 8 * ROW_BYTES // WORD_STATES
    chunks = listed.iter_records()
    for begin, records in scratch.bound(chunks, BLOCKS_PER_READ * BLOCK_BYTES):
        part = slice(words * begin, words * (begin + len(records)))
        bits[part] = split_records(view_field(records, "bits"))
    return bits.reshape(numbering.cells, -1)


def find_bad_bits(
    numbering: Numbering,
    goal: str,
    bits: Words,
    depths: dict[Depth, int],
    scratch: Scratch | None = None,
) -> Iterator[Difference | int]:
    """Yield the first bit that differs from a second search, whose layers are counted."""
    states, scratch = 0, scratch or Scratch()
    for distance, layers in iter_layers(numbering, goal, scratch):
        is_set, parts, before = bool(distance & 2), layers.list_parts(distance), states
        tasks = (
            (layers.words[place, first:end], bits[place, first:end], is_set)
            for place, first, end in parts
        )
        compared = scratch.bound(run_in_threads(compare_words, tasks), 2 * 8 * TASK_WORDS)
        for (place, first, _), (count, word, bit) in zip(parts, compared, strict=True):
            if word >= 0:
                number = (first + word) * WORD_STATES + bit
                state = numbering.write_state(place, number, layers.is_odd(place))
                content = {"state": state, "distance": distance}
                rank = place * numbering.orders + number
                yield Difference(f"bit {1 - is_set}", f"{is_set:d}", rank, content)
            states += count
        depths[goal, distance] = states - before
        yield states // (8 * ROW_BYTES)
    yield from require_equal("states that reach the goal", states, numbering.size)


# ---- the numbers of states --------------------------------------------------------------------


class Numbering:
    """The numbers that a table gives to the states of a board with no more rows than columns.

    Places number the cells column by column; the tiles stand in the order of their places.
    """

    def __init__(self, height: int, width: int) -> None:
        self.line, self.cells = height, height * width
        """The cells of a line, which is a column; and those of the board."""
        self.orders = factorial(self.cells - 1) // 2
        """The numbers of the orders of the tiles."""
        self.size = self.cells * self.orders
        grid = np.arange(self.cells).reshape(height, width)
        self._cells: list[int] = grid.T.ravel().tolist()

    def read_state(self, state: str) -> tuple[int, int, bool]:
        """Return the blank's place, the number of the order, and whether the order is odd."""
        marks = [int(state[cell], 16) for cell in self._cells]
        place = marks.index(0)
        del marks[place]
        # for each tile, the smaller ones behind it
        smaller = [sum(later < mark for later in marks[at:]) for at, mark in enumerate(marks)]
        number = sum(factorial(at) * count for at, count in enumerate(reversed(smaller)))
        return place, number // 2, sum(smaller) % 2 == 1

    def write_state(self, place: int, number: int, is_odd: bool) -> str:
        """Return the state of a place and a number, with an odd or even order of the tiles."""
        marks, rest, odd, tiles = ["0"] * self.cells, 2 * number, 0, self.cells - 1
        free = [f"{tile:x}" for tile in range(1, self.cells)]
        places = [at for at in range(self.cells) if at != place]
        for at, left in zip(places, range(tiles - 1, -1, -1), strict=True):
            index, rest = divmod(rest, factorial(left))
            if left == 1:  # of the last two tiles, the smaller comes first, or the parity is right
                index = (odd + is_odd) % 2
            odd += index
            marks[self._cells[at]] = free.pop(index)
        return "".join(marks)


# ---- the search -------------------------------------------------------------------------------


class Layers:
    """The layers of a board's states, found one after the other from a goal.

    `words` has a row for each place of the blank, and a bit for each order of the tiles. At places
    of the last layer's colour these are its states, at the others those of the layer before.
    """

    def __init__(self, numbering: Numbering, goal: str, scratch: Scratch) -> None:
        places, line = numbering.cells, numbering.line
        self._line, self._scratch = line, scratch
        self.words: Words = scratch.allocate((places, numbering.orders // WORD_STATES), np.uint64)
        root, number, is_odd = numbering.read_state(goal)
        self.words[root, number // WORD_STATES] = 1 << number % WORD_STATES
        lines, steps = np.divmod(np.arange(places), line)
        self._colours = (lines + steps - lines[root] - steps[root]) % 2
        parities = ((lines - lines[root]) * (line - 1) + is_odd) % 2
        # for each place of the blank, 1 if it allows the odd orders of the tiles
        self._parities = parities.astype(np.uint8)
        self._heads = list_head_parities(places - 1)
        self._moves = [list_moves(line, places, target) for target in range(places)]

    def is_odd(self, place: int) -> bool:
        """Return whether the orders of the tiles are odd where the blank is at a place."""
        return bool(self._parities[place])

    def list_places(self, distance: int) -> list[int]:
        """List the places of the blank in the states at a distance."""
        return np.flatnonzero(self._colours == distance % 2).tolist()

    def list_parts(self, distance: int) -> list[tuple[int, int, int]]:
        """List the parts of a layer: a place of the blank, a first word and the end."""
        size = self.words.shape[1]
        return [
            (place, first, min(size, first + TASK_WORDS))
            for place in self.list_places(distance)
            for first in range(0, size, TASK_WORDS)
        ]

    def find_next(self, distance: int) -> bool:
        """Replace the layer before the last by the next one, which is at this distance.

        Return whether it has states.
        """
        done = run_in_threads(self._find_states, self.list_parts(distance))
        # `any` would stop at the first, but all must be done
        return any([*self._scratch.bound(done, 4 * 8 * TASK_WORDS)])  # and of three other places

    def _find_states(self, target: int, begin: int, end: int) -> bool:
        """Find the states of the next layer in some words of a place of the blank."""
        layer, line, has_states = self.words[target], self._line, False
        beside = [at for at in (target - 1, target + 1) if at // line == target // line]
        for first in range(begin, end, CHUNK_WORDS):
            part = slice(first, min(end, first + CHUNK_WORDS))
            reached = np.zeros(part.stop - first, dtype=np.uint64)
            for source in beside:
                reached |= self.words[source, part]
            odd = self._heads[part] ^ self._parities[target]
            for source, collect, arguments in self._moves[target]:
                collect(self.words[source], first, reached, odd, *arguments)
            if reached.any() or layer[part].any():  # what does not change is not written
                np.bitwise_and(reached, ~layer[part], out=layer[part])
                has_states |= bool(layer[part].any())
        return has_states


def iter_layers(
    numbering: Numbering, goal: str, scratch: Scratch | None = None
) -> Iterator[tuple[int, Layers]]:
    """Yield each distance with the layers up to there. The same object is changed each time."""
    layers, distance, has_states = Layers(numbering, goal, scratch or Scratch()), 0, True
    while has_states:
        yield distance, layers
        distance += 1
        has_states = layers.find_next(distance)


def list_head_parities(tiles: int) -> Array:
    """Return for each word 1 if its tiles but the last five add an odd number to the parity."""
    parities = np.zeros(1, dtype=np.uint8)
    for remaining in range(tiles, WORD_TILES, -1):
        parities = (parities[:, None] ^ (np.arange(remaining) % 2).astype(np.uint8)).ravel()
    return parities


Move = tuple[int, Callable[..., None], tuple[Any, ...]]
"""A move of the blank from another line: its place there, and how its states are collected."""


def list_moves(line: int, places: int, target: int) -> list[Move]:
    """List the moves of the blank to a place from the places in other lines."""
    tiles, moves = places - 1, list[Move]()
    for source in (target - line, target + line):
        if not 0 <= source <= tiles:
            continue
        first, is_forward = min(source, target), source < target
        behind = tiles - first - line
        if first >= tiles - WORD_TILES:
            images = list_images(first - tiles + WORD_TILES, line, is_forward)
            moves.append((source, collect_images, (images,)))
            continue
        turned = list_turned(tiles - first, line, is_forward)
        if behind >= WORD_TILES:
            size = factorial(behind) // factorial(WORD_TILES)
            moves.append((source, collect_words, (turned, size)))
        else:
            bits = factorial(behind) // 2
            words, shifts = np.divmod(turned * bits, WORD_STATES)
            moves.append((source, collect_groups, (words, shifts.astype(np.uint64), bits)))
    return moves


def turn(order: Order, is_forward: bool) -> Order:
    """Return the tiles before the blank's move, forward or back, from those after it."""
    return order[1:] + order[:1] if is_forward else order[-1:] + order[:-1]


def list_turned(tiles: int, line: int, is_forward: bool) -> Array:
    """Return the number of each order of a line of so many tiles after it is turned."""
    orders = [*permutations(range(tiles), line)]
    numbers = {order: number for number, order in enumerate(orders)}
    return np.array([numbers[turn(order, is_forward)] for order in orders])


def list_images(start: int, line: int, is_forward: bool) -> Words:
    """Return what states in a word a move leads to, for each set of bits of each part of it.

    The tiles from `start` on, of the last five, are turned. The first axis is the parity of the
    order of the last five tiles after the move.
    """
    orders, end = [*permutations(range(WORD_TILES))], start + line
    numbers = {order: at // 2 for at, order in enumerate(orders)}
    sets = np.arange(1 << PART_BITS)
    images = np.zeros((2, WORD_STATES // PART_BITS, len(sets)), dtype=np.uint64)
    for order in orders:
        odd = sum(a > b for at, a in enumerate(order) for b in order[at:]) % 2
        source = order[:start] + turn(order[start:end], is_forward) + order[end:]
        part, bit = divmod(numbers[source], PART_BITS)
        images[odd, part, (sets >> bit & 1).astype(bool)] |= np.uint64(1 << numbers[order])
    return images


@compiled
def collect_words(
    layer: Words, first: int, reached: Words, odd: Array, turned: Array, size: int
) -> None:
    """Collect the states that a move leads to in the words from `first` on.

    The tiles behind the turned ones have `size` words of orders, which are moved together.
    """
    window, step = divmod(first, len(turned) * size)
    group, step = divmod(step, size)
    at = 0
    while at < len(reached):
        count = min(size - step, len(reached) - at)
        source = (window * len(turned) + turned[group]) * size + step
        for word in range(count):
            reached[at + word] |= layer[source + word]
        at, step, group = at + count, 0, group + 1
        if group == len(turned):
            window, group = window + 1, 0


@compiled
def collect_groups(
    layer: Words, first: int, reached: Words, odd: Array, words: Array, shifts: Array, bits: int
) -> None:
    """Collect the states like `collect_words` where the tiles behind have less than a word.

    Each group of so many bits comes from one of the `words` of the same window, shifted.
    """
    groups = WORD_STATES // bits
    size, mask = len(words) // groups, np.uint64((1 << bits) - 1)
    for at in range(len(reached)):
        word = (first + at) % size
        for group in range(groups):
            source = word * groups + group
            states = layer[first + at - word + words[source]] >> shifts[source] & mask
            reached[at] |= states << np.uint64(group * bits)


@compiled
def collect_images(layer: Words, first: int, reached: Words, odd: Array, images: Words) -> None:
    """Collect the states like `collect_words` where the turned tiles are among the last five."""
    for at in range(len(reached)):
        states, part = layer[first + at], 0
        while states:
            low = states & np.uint64((1 << PART_BITS) - 1)
            reached[at] |= images[odd[at], part, low]
            states >>= np.uint64(PART_BITS)
            part += 1


@compiled
def compare_words(layer: Words, bits: Words, is_set: bool) -> tuple[int, int, int]:
    """Return how many states a layer has, and the first word and bit that is wrong in the table.

    The word's number is -1 if none is. `is_set`: whether the bits of the states must be 1.
    """
    count, word, bit = 0, -1, 0
    for at in range(len(layer)):
        states = layer[at]
        if states:
            wrong = states & (~bits[at] if is_set else bits[at])
            if word < 0 and wrong:
                word, bit = at, count_trailing_zeros(int(np.int64(wrong)))
            count += count_ones(int(np.int64(states)))
    return count, word, bit


def split_records(records: Array) -> Words:
    """Return the words of records: 60 bits each, of which two words have 15 bytes."""
    pairs = records.reshape(-1, 2 * WORD_STATES // 8)
    low, high = (np.ascontiguousarray(part).view("<u8") for part in (pairs[:, :8], pairs[:, -8:]))
    words: Words = np.hstack([low & np.uint64((1 << WORD_STATES) - 1), high >> np.uint64(4)])
    return words.ravel()
