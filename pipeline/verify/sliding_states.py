"""Kernels that compare the states of a sliding board with their neighbours, or layer by layer.

Each state is unranked, moved and ranked again by itself; nothing is shared with the search's move
tables. An order of the tiles, and the same order with its last two tiles exchanged, have the same
number: a place of the blank allows either the even or the odd one of the two.

A table of one bit of each distance is compared layer by layer from the goal, with bitmaps. The
neighbours of a layer are in the next one or in the one before, since every move changes the colour
of the blank's cell and can be undone. So two layers are enough to find the next, which has the
blank on cells of one colour; the bits that the table has for it must be bit 1 of its distance. Only
the rules are used: no state's distance is concluded from the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, local
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.tasks import run_in_threads
from tablebase.jit import compiled
from tablebase.puzzles.sliding import SlidingBoard

Array = npt.NDArray[Any]
NO_NEIGHBOUR = 255

Bytes = npt.NDArray[np.uint8]
GROUP_BYTES = 8
"""Bytes of states that are skipped together where none is in the layer."""
CHUNK_BYTES = 1 << 19
"""Bytes whose states are moved before a thread looks whether the proof was interrupted: few enough
for a core's cache."""


def list_parities(board: SlidingBoard, goal: str) -> Array:
    """Return for each place of the blank 1 if it allows the odd orders of the tiles, else 0."""
    lines = np.arange(board.cells) // board.line - board.place[goal.index("0")] // board.line
    parities: Array = (lines * (board.line - 1) + board.is_odd(goal)) % 2
    return parities


@compiled
def find_first_wrong(
    depth: Array, odd: Array, line: int, weights: Array, first: int, last: int
) -> tuple[int, int]:
    """Return the first state whose nearest neighbour is not exactly one move nearer.

    The orders with numbers from `first` up to `last` are checked. `depth` has the states'
    distances, `odd` says for each place of the blank which orders it allows, `weights` has the
    place values of an order's number, and `line` is the number of places in a line.
    The result is the state's rank and its nearest neighbour's distance; the rank is -1 if no such
    state exists.
    """
    orders = len(depth) // len(odd)
    order = np.empty((2, len(odd) - 1), np.int64)
    moved, near = np.empty(len(odd) - 1, np.int64), np.empty(4, np.uint8)
    for number in range(first, last):
        unrank_tiles(number, weights, order)
        for place in range(len(odd)):
            here = depth[place * orders + number]
            _read_neighbours(depth, order[odd[place]], line, weights, place, number, moved, near)
            nearest = min(near[0], near[1], near[2], near[3])
            if here and nearest != here - 1:
                return place * orders + number, nearest
    return -1, NO_NEIGHBOUR


@compiled
def describe_states(
    depth: Array, odd: Array, line: int, weights: Array, first: int, homes: Array, steps: Array,
    tiles: Array, nearer: Array, manhattan: Array,
) -> None:  # fmt: skip
    """Fill the rows of three arrays with the states from rank `first` on.

    `tiles` gets the tile on each place, 0 for the blank; `nearer` a bit for each of the four
    neighbours that is one move nearer; `manhattan` the sum of the `steps` from each tile's place to
    its place in the goal, which `homes` has by tile.
    """
    orders = len(depth) // len(odd)
    order = np.empty((2, len(odd) - 1), np.int64)
    moved, near = np.empty(len(odd) - 1, np.int64), np.empty(4, np.uint8)
    for row in range(len(tiles)):
        place, number = (first + row) // orders, (first + row) % orders
        unrank_tiles(number, weights, order)
        tile_order = order[odd[place]]
        _read_neighbours(depth, tile_order, line, weights, place, number, moved, near)
        nearer[row] = manhattan[row] = 0
        for way in range(4):
            if near[way] < depth[first + row]:
                nearer[row] |= 1 << way
        for at in range(len(odd)):
            tiles[row, at] = 0
            if at != place:
                tile = tile_order[at - (at > place)]
                tiles[row, at] = tile + 1
                manhattan[row] += steps[at, homes[tile]]


@compiled
def _read_neighbours(
    depth: Array, order: Array, line: int, weights: Array, place: int, number: int,
    moved: Array, near: Array,
) -> None:  # fmt: skip
    """Fill `near` with the distances of the neighbours: a place back or on, a line back or on."""
    places = len(order) + 1
    orders = len(depth) // places
    near[:] = NO_NEIGHBOUR
    if place % line:
        near[0] = depth[(place - 1) * orders + number]
    if (place + 1) % line:
        near[1] = depth[(place + 1) * orders + number]
    if place >= line:
        # the tile a line back moves behind the tiles between
        moved[:] = order
        for at in range(place - line, place - 1):
            moved[at] = order[at + 1]
        moved[place - 1] = order[place - line]
        near[2] = depth[(place - line) * orders + rank_tiles(moved, weights)]
    if place + line < places:
        moved[:] = order
        for at in range(place, place + line - 1):
            moved[at + 1] = order[at]
        moved[place] = order[place + line - 1]
        near[3] = depth[(place + line) * orders + rank_tiles(moved, weights)]


@compiled
def unrank_tiles(number: int, weights: Array, order: Array) -> None:
    """Fill `order` with the two orders of a number: the even one and the odd one."""
    tiles = order.shape[1]
    remaining = 0
    for tile in range(tiles):
        remaining |= tile << (4 * tile)
    odd = 0
    for at in range(tiles - 2):
        chosen = number // weights[at]
        number -= chosen * weights[at]
        odd ^= chosen & 1
        order[0, at] = remaining >> (4 * chosen) & 15
        order[1, at] = order[0, at]
        below = remaining & ((1 << (4 * chosen)) - 1)
        remaining = below | (remaining >> (4 * chosen + 4)) << (4 * chosen)
    low, high = remaining & 15, remaining >> 4 & 15
    order[odd, tiles - 2], order[odd, tiles - 1] = low, high
    order[1 - odd, tiles - 2], order[1 - odd, tiles - 1] = high, low


@compiled
def rank_tiles(order: Array, weights: Array) -> int:
    """Return the number of an order."""
    number = 0
    seen = 0
    for at in range(len(order) - 2):
        tile = order[at]
        before = seen & ((1 << tile) - 1)
        count = 0
        while before:
            before &= before - 1
            count += 1
        number += (tile - count) * weights[at]
        seen |= 1 << tile
    return number


class Layers:
    """The layers of a board's states, found one after the other from a goal.

    `bits` has a row for each place of the blank, and a bit for each order of the tiles. At places
    of the last layer's colour these are its states, at the others those of the layer before.
    """

    def __init__(self, board: SlidingBoard, goal: str) -> None:
        places, line = board.cells, board.line
        width = -(-board.orders // (8 * GROUP_BYTES)) * GROUP_BYTES
        self._rows = np.zeros((places, width), dtype=np.uint8)
        self.bits = self._rows[:, : board.orders // 8]
        place, number = divmod(board.rank(goal), board.orders)
        self._rows[place, number >> 3] = 1 << (number & 7)
        lines, steps = np.divmod(np.arange(places), line)
        self.parities = list_parities(board, goal)
        """For each place of the blank 1 if it allows the odd orders of the tiles, else 0."""
        self._colours = (lines + steps - place // line - place % line) % 2
        self._line = line
        self._weights = np.array(board.weights)
        self._spare = local()

    def list_places(self, distance: int) -> list[int]:
        """List the places of the blank in the states at a distance."""
        return np.flatnonzero(self._colours == distance % 2).tolist()

    def find_next(self, distance: int) -> None:
        """Replace the layer before the last by the next one, which is at this distance."""
        stopped = Event()
        arguments = [(target, stopped) for target in self.list_places(distance)]
        try:
            for _ in run_in_threads(self._find_states, arguments):
                pass
        finally:
            stopped.set()

    def _find_states(self, target: int, stopped: Event) -> None:
        """Find the next layer's states with the blank on one place."""
        rows, line = self._rows, self._line
        if not hasattr(self._spare, "reached"):
            self._spare.reached = np.empty(rows.shape[1], dtype=np.uint8)
        reached: Bytes = self._spare.reached
        reached[:] = 0
        for source in (target - line, target + line):
            if 0 <= source < len(rows):
                for first in range(0, rows.shape[1], CHUNK_BYTES):
                    if stopped.is_set():
                        return
                    chunk = rows[source, first : first + CHUNK_BYTES]
                    odd = self.parities[source]
                    move_tiles(chunk, 8 * first, reached, source, target, odd, self._weights)
        sources = [at for at in (target - 1, target + 1) if at // line == target // line]
        for first in range(0, rows.shape[1], CHUNK_BYTES):
            part = slice(first, first + CHUNK_BYTES)
            for source in sources:
                reached[part] |= rows[source, part]
            np.bitwise_and(reached[part], ~rows[target, part], out=rows[target, part])


def iter_layers(board: SlidingBoard, goal: str) -> Iterator[tuple[int, Layers]]:
    """Yield each distance with the layers up to there. The same object is changed each time."""
    layers, distance = Layers(board, goal), 0
    while any(layers.bits[place].any() for place in layers.list_places(distance)):
        yield distance, layers
        distance += 1
        layers.find_next(distance)


def compare_bits(layer: Bytes, bits: Bytes, wanted: int) -> tuple[int, int]:
    """Return how many states a layer has, and the first one whose bit is not the wanted one.

    It is -1 if there is none.
    """
    count, inverted = 0, np.uint8(255 * wanted)
    for first in range(0, len(layer), CHUNK_BYTES):
        states = layer[first : first + CHUNK_BYTES]
        wrong = states & (bits[first : first + CHUNK_BYTES] ^ inverted)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            bit = int(np.unpackbits(wrong[at : at + 1], bitorder="little").argmax())
            return count, 8 * (first + at) + bit
        count += int(np.bitwise_count(states).sum(dtype=np.int64))
    return count, -1


@compiled
def move_tiles(
    layer: Bytes, begin: int, reached: Bytes, source: int, target: int, is_odd: int, weights: Bytes
) -> None:
    """Set the bits of what the states of a layer become when the blank moves to another line.

    The layer has the blank on the place `source`; its orders are numbered from `begin`, and odd if
    `is_odd`. The tile on the target's place passes those between, one after the other. A digit of
    an order's number says how many smaller tiles follow a tile, so the two tiles that change places
    change their own digits alone: the tile that comes forward keeps its number of followers, and
    has one more if the other one is smaller.
    """
    first, last = min(source, target), max(source, target) - 1
    tiles, digits = len(weights) + 2, np.zeros(len(weights) + 2, np.int64)
    needs_parity = last >= tiles - 2
    for group in range(0, len(layer), 8):
        states = 0
        for at in range(8):
            states |= layer[group + at]
        if states == 0:
            continue
        for at in range(group, group + 8):
            for bit in range(8):
                if layer[at] >> bit & 1:
                    number = begin + 8 * at + bit
                    rest, total = number, is_odd
                    if needs_parity:
                        for digit in range(tiles - 2):
                            digits[digit] = rest // weights[digit]
                            rest -= digits[digit] * weights[digit]
                            total += digits[digit]
                        digits[tiles - 2] = total % 2
                    else:
                        if first:
                            rest %= weights[first - 1]
                        for digit in range(first, last + 1):
                            digits[digit] = rest // weights[digit]
                            rest -= digits[digit] * weights[digit]
                    for step in range(last - first):
                        digit = last - 1 - step if source < target else first + step
                        front, behind = digits[digit], digits[digit + 1]
                        comes_larger = behind >= front
                        grown = behind + 1 if comes_larger else behind
                        shrunk = front if comes_larger else front - 1
                        if digit < tiles - 2:
                            number += (grown - front) * weights[digit]
                        if digit + 1 < tiles - 2:
                            number += (shrunk - behind) * weights[digit + 1]
                        digits[digit], digits[digit + 1] = grown, shrunk
                    reached[number >> 3] |= np.uint8(1 << (number & 7))
