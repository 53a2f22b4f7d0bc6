"""The proof of a table of one bit of each distance: layer by layer from the goal, with bitmaps.

The neighbours of a layer are in the next one or in the one before, since every move changes the
colour of the blank's cell and can be undone. So two layers are enough to find the next, which has
the blank on cells of one colour; the bits that the table has for it must be bit 1 of its distance.
Only the rules are used: no state's distance is concluded from the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, local

import numpy as np
import numpy.typing as npt

from pipeline.tasks import run_in_threads
from pipeline.verify.sliding.neighbours import list_parities
from tablebase.jit import compiled
from tablebase.puzzles.sliding import SlidingBoard

Bytes = npt.NDArray[np.uint8]
GROUP_BYTES = 8
"""Bytes of states that are skipped together where none is in the layer."""
CHUNK_BYTES = 1 << 19
"""Bytes whose states are moved before a thread looks whether the proof was interrupted: few enough
for a core's cache."""


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
