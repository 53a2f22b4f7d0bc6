"""The fields of a sweep that the kernels of tours need, and short searches of arrays."""

from __future__ import annotations

from typing import NamedTuple

from tablebase.frontier.compiled import Array
from tablebase.jit import compiled
from tablebase.puzzles.knight.tour_ranker import NO_SQUARE

Layer = tuple[Array, Array]
"""Ascending keys, and the number of partial tours or tours of each."""


class SweepCells(NamedTuple):
    """The fields of a sweep (`tour_ranker.Sweep`) that the kernels need."""

    here: int
    rows: int
    cells: int
    virtual: int
    partners: Array
    """The partners of all matchings (`list_all_partners`), for as many ends as the cut can have."""


@compiled
def find_key(key: int, keys: Array) -> int:
    """Return the first place among ascending keys whose key is not below this one."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def add_edge(neighbours: Array, one: int, other: int) -> None:
    """Add each of two squares to the neighbours of the other."""
    for square, to in ((one, other), (other, one)):
        neighbours[square, int(neighbours[square, 0] != NO_SQUARE)] = to


@compiled
def find_square(cell: int, squares: int, sweep: SweepCells) -> int:
    """Return the square of a frontier's cell, once the sweep has finished this many squares."""
    return sweep.virtual if cell < sweep.here else cell + squares - sweep.here
