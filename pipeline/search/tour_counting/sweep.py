"""A sweep: layer after layer of frontier states, each with the number of ways to reach it.

Forward, the states of a layer are expanded into those of the next, and the ways to reach the same
state are added up (the *forward count*, `ways`). Backward, the number of ways to complete a state
(the *backward count*, `onward`) is the sum of those of its successors. The edges that a step places
lie on as many cycles as the product of the state's forward count and the successor's backward
count: so one sweep back counts for every edge the cycles that use it.

No overflow goes unnoticed. Sums of counts are checked at each step; products are also added up as
floating point numbers, which show whether the integers fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.search.tour_counting.expand import Step, expand_state
from tablebase.frontier.keys import MAX_CELLS
from tablebase.frontier.state import MATCHING_BITS
from tablebase.jit import compiled

Array = npt.NDArray[Any]

COUNT_LIMIT = float(1 << 63)
STATES_PER_STEP = 200_000
"""States that are expanded between two checks whether the sweep should end."""
MAX_SUCCESSORS = 1 + MAX_CELLS + MAX_CELLS * (MAX_CELLS - 1) // 2
"""Maximum number of successors of a state: a cell is joined to no other cell, to one, or to two."""


class Layer(NamedTuple):
    """Distinct states, and the number of ways to reach each."""

    keys: Array
    ways: Array


class CountOverflow(ArithmeticError):
    """Error for a number of cycles that does not fit 63 bits."""


def make_first_layer(needs: list[int]) -> Layer:
    """Return a layer of one state without edges, given how many edges each cell needs."""
    packed = sum(need << 2 * cell for cell, need in enumerate(needs))
    return Layer(np.array([packed << MATCHING_BITS]), np.array([1]))


def advance_layer(layer: Layer, step: Step, check_running: Callable[[], None]) -> Layer:
    """Return the next layer; `check_running` is called several times a second."""
    # a large layer grows less than this in the middle of a column, and shrinks at its end
    keys, ways = _allocate_table(len(layer.keys) * (4 if len(step.mirror) else 8) // 5)
    done = filled = 0
    while done < len(layer.keys):
        check_running()
        done, filled = _spread(*layer, done, step, keys, ways, filled)
        if filled < 0:
            raise CountOverflow
        if done < len(layer.keys) and _is_full(filled, len(keys)):
            # `likely` is an upper estimate: more and more successors are in the table already
            likely = filled * len(layer.keys) // done
            keys, ways = make_hash_table(keys, ways, min(3 * filled // 2, likely + filled // 20))
    count = _compact(keys, ways)
    for column in (keys, ways):
        column.resize(count, refcheck=False)  # in place: a copy would be the peak of memory
    return Layer(keys, ways)


def count_onward(layer: Layer, step: Step, keys: Array, onward: Array) -> tuple[Array, Array]:
    """Return the layer's backward counts, and the number of cycles that use each edge of the step.

    `keys` and `onward` are a hash table with the backward counts of the next layer.
    """
    onward_counts, uses, approximate_uses = _count_onward(*layer, step, keys, onward)
    if approximate_uses.max(initial=0) >= COUNT_LIMIT or len(onward_counts) < len(layer.keys):
        raise CountOverflow
    return onward_counts, uses


def sum_cycles(ways: Array, onward: Array) -> int:
    """Count the cycles through a layer, given the forward and backward counts of its states."""
    if onward.min(initial=0) < 0 or np.dot(ways.astype(float), onward.astype(float)) >= COUNT_LIMIT:
        raise CountOverflow
    return int(np.dot(ways, onward))


def make_hash_table(keys: Array, numbers: Array, capacity: int = 0) -> tuple[Array, Array]:
    """Return a hash table of the non-zero keys and their numbers, for `find_place`."""
    table = _allocate_table(capacity or len(keys))
    _fill_table(keys, numbers, *table)
    return table


def _allocate_table(states: int) -> tuple[Array, Array]:
    size = 2 * MAX_SUCCESSORS + STATES_PER_STEP // 100 + 4 * states // 3
    return np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)


@compiled
def find_place(key: int, keys: Array) -> int:
    """Find the place of a key in a hash table, or the free place where it would be. No key is 0."""
    # mixed twice by 30 bits of the golden ratio and of another number, so that no product overflows
    mixed = (key & 0xFFFFFFFF) * 0x278DDE6D + (key >> 32) * 0x2545F491
    mixed = (mixed & 0x3FFFFFFF ^ mixed >> 30) * 0x278DDE6D
    place = (mixed >> 20 & 0xFFFFFFFF) * len(keys) >> 32
    while keys[place] != 0 and keys[place] != key:
        place += 1
        if place == len(keys):
            place = 0
    return place


@compiled
def _is_full(filled: int, size: int) -> bool:
    return 4 * filled > 3 * (size - MAX_SUCCESSORS)


@compiled
def _fill_table(keys: Array, numbers: Array, table_keys: Array, table_numbers: Array) -> None:
    for index in range(len(keys)):
        if keys[index] != 0:
            place = find_place(keys[index], table_keys)
            table_keys[place] = keys[index]
            table_numbers[place] = numbers[index]


@compiled
def _compact(keys: Array, ways: Array) -> int:
    """Move the entries of a hash table to its beginning and return their number."""
    count = 0
    for place in range(len(keys)):
        if keys[place] != 0:
            keys[count], ways[count] = keys[place], ways[place]
            count += 1
    return count


@compiled
def _spread(
    keys: Array, ways: Array, done: int, step: Step, table_keys: Array, table_ways: Array,
    filled: int,
) -> tuple[int, int]:  # fmt: skip
    """Expand up to `STATES_PER_STEP` states from number `done` on into the hash table.

    Returns the number of states that are done, and of those in the table: -1 on overflow.
    """
    cells = np.zeros((3, MAX_CELLS + 1), dtype=np.int64)
    successors = np.empty(MAX_SUCCESSORS, dtype=np.int64)
    joined_cells = np.empty((MAX_SUCCESSORS, 2), dtype=np.int64)
    last = min(len(keys), done + STATES_PER_STEP)
    while done < last and not _is_full(filled, len(table_keys)):
        for number in range(expand_state(keys[done], step, cells, successors, joined_cells)):
            place = find_place(successors[number], table_keys)
            if table_keys[place] == 0:
                table_keys[place] = successors[number]
                filled += 1
            table_ways[place] += ways[done]
            if table_ways[place] < 0:
                return done, -1
        done += 1
    return done, filled


@compiled
def _count_onward(
    keys: Array, ways: Array, step: Step, table_keys: Array, table_onward: Array
) -> tuple[Array, Array, Array]:
    """Compute `count_onward`; on overflow the array of backward counts is empty.

    The third array has the uses as floating point numbers.
    """
    cells = np.zeros((3, MAX_CELLS + 1), dtype=np.int64)
    successors = np.empty(MAX_SUCCESSORS, dtype=np.int64)
    joined_cells = np.empty((MAX_SUCCESSORS, 2), dtype=np.int64)
    onward = np.zeros(len(keys), dtype=np.int64)
    uses = np.zeros(len(step.others), dtype=np.int64)
    approximate_uses = np.zeros(len(step.others))
    for index in range(len(keys)):
        for number in range(expand_state(keys[index], step, cells, successors, joined_cells)):
            place = find_place(successors[number], table_keys)
            completions = table_onward[place]
            if table_keys[place] == 0 or completions == 0:
                continue
            onward[index] += completions
            if onward[index] < 0:
                return onward[:0], uses, approximate_uses
            for other in joined_cells[number]:
                if other >= 0:
                    uses[other] += ways[index] * completions
                    approximate_uses[other] += float(ways[index]) * float(completions)
    return onward, uses, approximate_uses
