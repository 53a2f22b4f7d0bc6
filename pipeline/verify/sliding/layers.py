"""The proof of a table of one bit of each distance: layer by layer from the goal, with bitmaps.

The neighbours of a layer are in the next one or in the one before, since every move changes the
colour of the blank's cell and can be undone. So two layers are enough to find the next, which has
the blank on cells of one colour; the bits that the table has for it must be bit 1 of its distance.
Only the rules are used: no state's distance is concluded from the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import numpy as np
import numpy.typing as npt

from pipeline.tasks import run_in_threads
from pipeline.verify.sliding.neighbours import rank_tiles, unrank_tiles
from tablebase.jit import compiled
from tablebase.puzzles.sliding.board import SlidingBoard

Bytes = npt.NDArray[np.uint8]
CHUNK_BYTES = 1 << 16
"""Bytes whose states are moved before a thread looks whether the proof was interrupted."""


def iter_layers(board: SlidingBoard, goal: str) -> Iterator[tuple[int, Bytes]]:
    """Yield each distance with bits of all states, a row for each place of the blank.

    At places of that distance's colour these are the layer's states. The array is used again.
    """
    places, line = board.cells, board.line
    layers = np.zeros((places, board.orders // 8), dtype=np.uint8)
    place, number = divmod(board.rank(goal), board.orders)
    layers[place, number >> 3] = 1 << (number & 7)
    home = place // line + place % line
    lines = np.arange(places) // line
    odd = ((lines - place // line) * (line - 1) + board.is_odd(goal)) % 2
    weights = np.array(board.weights)
    colours = (np.arange(places) // line + np.arange(places) % line - home) % 2
    distance = 0
    while layers[colours == distance % 2].any():
        yield distance, layers
        distance += 1
        targets = np.flatnonzero(colours == distance % 2)
        stopped = Event()
        arguments = [(layers, int(target), line, odd, weights, stopped) for target in targets]
        try:
            for _ in run_in_threads(_find_next_layer, arguments):
                pass
        finally:
            stopped.set()


def _find_next_layer(
    layers: Bytes, target: int, line: int, odd: Bytes, weights: Bytes, stopped: Event
) -> None:
    """Replace the last layer but one by the next, in the states with the blank on one place."""
    reached = np.zeros(layers.shape[1], dtype=np.uint8)
    for source in (target - 1, target + 1):
        if source // line == target // line:
            reached |= layers[source]
    for source in (target - line, target + line):
        if 0 <= source < len(layers):
            for first in range(0, layers.shape[1], CHUNK_BYTES):
                if stopped.is_set():
                    return
                chunk = layers[source, first : first + CHUNK_BYTES]
                move_tiles(chunk, 8 * first, reached, source, target, odd[source], weights)
    np.bitwise_and(reached, ~layers[target], out=layers[target])


@compiled
def move_tiles(
    layer: Bytes, begin: int, reached: Bytes, source: int, target: int, is_odd: int, weights: Bytes
) -> None:
    """Set the bits of what the states of a layer become when the blank moves to another line.

    The layer has the blank on the place `source`; its orders are numbered from `begin`, and odd if
    `is_odd`.
    """
    order = np.empty((2, len(weights) + 2), np.int64)
    for at in range(len(layer)):
        bits = layer[at]
        for bit in range(8):
            if bits >> bit & 1:
                unrank_tiles(begin + 8 * at + bit, weights, order)
                tiles = order[is_odd]
                if source < target:  # the tile on the target's place passes those between
                    tile = tiles[target - 1]
                    for place in range(target - 1, source, -1):
                        tiles[place] = tiles[place - 1]
                    tiles[source] = tile
                else:
                    tile = tiles[target]
                    for place in range(target, source - 1):
                        tiles[place] = tiles[place + 1]
                    tiles[source - 1] = tile
                number = rank_tiles(tiles, weights)
                reached[number >> 3] |= np.uint8(1 << (number & 7))
