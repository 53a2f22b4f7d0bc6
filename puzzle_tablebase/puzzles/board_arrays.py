"""Many states of a sliding board of up to ten cells at once: their numbers, texts and moves.

A state is a column of tiles, one for each cell, with 0 for the blank. Its number is its rank among
all permutations of the tiles in ascending order, reachable or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.notation.sliding import CHARACTERS
from puzzle_tablebase.puzzles.board_numbers import (
    NUMBER_BITS,
    NUMBER_MASK,
    SET_SHIFT,
    make_number_parts,
)

Tiles = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.uint32]
ZERO = np.uint8(ord("0"))


def list_boards(cells: int) -> Tiles:
    """List all orders of a board's marks in ascending order, one in each column."""
    boards = np.zeros((0, 1), dtype=np.uint8)
    for marks in range(1, cells + 1):
        blocks = []
        for first in range(marks):
            row = np.full((1, boards.shape[1]), first, dtype=np.uint8)
            blocks.append(np.vstack([row, boards + (boards >= first)]))
        boards = np.hstack(blocks)
    return boards


def write_states(tiles: Tiles) -> npt.NDArray[np.bytes_]:
    """Write states as texts."""
    return np.ascontiguousarray(tiles.T + ZERO).view(f"S{len(tiles)}").ravel()


@cache
def make_numbering(cells: int) -> Callable[[Tiles], Numbers]:
    """Make a function that returns the numbers of columns of tiles, `cells!` for invalid columns.

    The function overwrites invalid columns.
    """
    half, full = cells // 2, (1 << cells) - 1
    tables = []
    for parts in make_number_parts(cells):
        table = np.zeros(10 ** len(next(iter(parts))), dtype=np.uint32)
        codes = np.array([*parts.values()], dtype=np.int64)
        # without the parity, they fit 32 bits
        codes = codes & NUMBER_MASK | codes >> SET_SHIFT << NUMBER_BITS
        table[np.array([*parts], dtype=np.int32)] = codes
        tables.append(table)

    def number(tiles: Tiles) -> Numbers:
        foreign = tiles.max(axis=0, initial=0) >= cells
        if foreign.any():
            tiles[:, foreign] = 0
        code = tables[0].take(_join_digits(tiles[:half]))
        code += tables[1].take(_join_digits(tiles[half:]))
        is_state = code >> np.uint32(NUMBER_BITS) == full
        numbers: Numbers = np.where(
            is_state, code & np.uint32(NUMBER_MASK), np.uint32(factorial(cells))
        )
        return numbers

    return number


def _join_digits(digits: Tiles) -> npt.NDArray[np.int32]:
    """Return the decimal number of each column of digits."""
    number: npt.NDArray[np.int32] = digits[0].astype(np.int32)
    for digit in digits[1:]:
        number *= 10
        number += digit
    return number


def iter_moves(board: Any, boards: Tiles) -> Iterator[tuple[int, npt.NDArray[np.int64], Numbers]]:
    """Yield for each letter, by its number, the columns where it is legal, and the next numbers.

    `board` is a `SlidingBoard`, whose module imports this one.
    """
    number, blank = make_numbering(board.cells), np.argmin(boards, axis=0)
    exits = [dict(board.list_exits(cell)) for cell in range(board.cells)]
    for at, letter in enumerate(board.letters):
        target = np.array([each.get(letter, -1) for each in exits])
        sources = np.flatnonzero(target[blank] >= 0)
        moved, begins, columns = boards[:, sources], blank[sources], np.arange(len(sources))
        moved[begins, columns] = moved[target[begins], columns]
        moved[target[begins], columns] = 0
        yield at, sources, number(moved)


def sum_weights(board: Any, feature: str, goal: str, boards: Tiles) -> Tiles:
    """Return a feature of each state for a goal: the sum over its tiles."""
    home = [goal.index(mark) for mark in CHARACTERS[: board.cells]]
    total = np.zeros(boards.shape[1], dtype=np.uint8)
    for cell, row in enumerate(boards):
        weights = [board.weigh_tile(feature, tile, cell, home[tile]) for tile in range(board.cells)]
        total += np.array(weights, dtype=np.uint8)[row]
    return total
