"""A sweep: layer after layer of frontier states, each with the number of ways to reach it.

Forward, the states of a layer spread to those of the next, and ways that meet are added up. Back,
a state's *onward* number, the ways to finish from it, is the sum of those of the states that follow
it. What a step joins in a state lies on as many cycles as ways lead there times ways lead onward
from the state after: so one walk back tells of every edge how many cycles use it.

No sum wraps unseen. Adding up ways is checked at each step; products are also added up as floating
point numbers, which tell whether the whole numbers fitted.
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
"""States between two moments at which a sweep can be told to end."""
MAX_SUCCESSORS = 1 + MAX_CELLS + MAX_CELLS * (MAX_CELLS - 1) // 2
"""States after one step at most: joined to none, to one, or to two."""


class Layer(NamedTuple):
    """States, no two alike, and how many ways lead to each."""

    keys: Array
    ways: Array


class CountOverflow(ArithmeticError):
    """A number of cycles that does not fit 63 bits."""


def make_first_layer(needs: list[int]) -> Layer:
    """One state, before anything is laid, with cells that need so much."""
    packed = sum(need << 2 * cell for cell, need in enumerate(needs))
    return Layer(np.array([packed << MATCHING_BITS]), np.array([1]))


def advance_layer(layer: Layer, step: Step, check_running: Callable[[], None]) -> Layer:
    """The next layer; `check_running` is called several times a second."""
    # in the middle of a column a large layer grows less than this, and at its end it shrinks
    keys, ways = _allocate_table(len(layer.keys) * (4 if len(step.mirror) else 8) // 5)
    done = filled = 0
    while done < len(layer.keys):
        check_running()
        done, filled = _spread(*layer, done, step, keys, ways, filled)
        if filled < 0:
            raise CountOverflow
        if done < len(layer.keys) and _is_full(filled, len(keys)):
            # as many more as have come so far, or fewer: more and more are there already
            likely = filled * len(layer.keys) // done
            keys, ways = make_hash_table(keys, ways, min(3 * filled // 2, likely + filled // 20))
    many = _compact(keys, ways)
    for column in (keys, ways):
        column.resize(many, refcheck=False)  # where they are: a copy would be the peak of memory
    return Layer(keys, ways)


def count_onward(layer: Layer, step: Step, keys: Array, onward: Array) -> tuple[Array, Array]:
    """The layer's onward numbers, and how many cycles use each edge that the step may lay.

    `keys` and `onward` are a table of the next layer.
    """
    onward_counts, uses, about = _count_onward(*layer, step, keys, onward)
    if about.max(initial=0) >= COUNT_LIMIT or len(onward_counts) < len(layer.keys):
        raise CountOverflow
    return onward_counts, uses


def sum_cycles(ways: Array, onward: Array) -> int:
    """How many cycles pass a layer, given both numbers of each of its states."""
    if onward.min(initial=0) < 0 or np.dot(ways.astype(float), onward.astype(float)) >= COUNT_LIMIT:
        raise CountOverflow
    return int(np.dot(ways, onward))


def make_hash_table(keys: Array, numbers: Array, room: int = 0) -> tuple[Array, Array]:
    """Keys, but for noughts, with their numbers as a table in which `find_place` finds them."""
    table = _allocate_table(room or len(keys))
    _fill_table(keys, numbers, *table)
    return table


def _allocate_table(states: int) -> tuple[Array, Array]:
    size = 2 * MAX_SUCCESSORS + STATES_PER_STEP // 100 + 4 * states // 3
    return np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)


@compiled
def find_place(key: int, keys: Array) -> int:
    """Where a key is in a table, or would be. No key is 0."""
    # mixed twice by 30 bits of the golden ratio and of another number, so that no product wraps
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
    for at in range(len(keys)):
        if keys[at] != 0:
            place = find_place(keys[at], table_keys)
            table_keys[place] = keys[at]
            table_numbers[place] = numbers[at]


@compiled
def _compact(keys: Array, ways: Array) -> int:
    """Bring what is in a table to its beginning; returns how many these are."""
    many = 0
    for place in range(len(keys)):
        if keys[place] != 0:
            keys[many], ways[many] = keys[place], ways[place]
            many += 1
    return many


@compiled
def _spread(
    keys: Array, ways: Array, done: int, step: Step, table_keys: Array, table_ways: Array,
    filled: int,
) -> tuple[int, int]:  # fmt: skip
    """Take some states on; returns how many are done and in the table, -1 where a sum wraps."""
    cells = np.zeros((3, MAX_CELLS + 1), dtype=np.int64)
    after = np.empty(MAX_SUCCESSORS, dtype=np.int64)
    joined = np.empty((MAX_SUCCESSORS, 2), dtype=np.int64)
    last = min(len(keys), done + STATES_PER_STEP)
    while done < last and not _is_full(filled, len(table_keys)):
        for number in range(expand_state(keys[done], step, cells, after, joined)):
            place = find_place(after[number], table_keys)
            if table_keys[place] == 0:
                table_keys[place] = after[number]
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
    cells = np.zeros((3, MAX_CELLS + 1), dtype=np.int64)
    after = np.empty(MAX_SUCCESSORS, dtype=np.int64)
    joined = np.empty((MAX_SUCCESSORS, 2), dtype=np.int64)
    onward = np.zeros(len(keys), dtype=np.int64)
    uses = np.zeros(len(step.others), dtype=np.int64)
    about = np.zeros(len(step.others))
    for at in range(len(keys)):
        for number in range(expand_state(keys[at], step, cells, after, joined)):
            place = find_place(after[number], table_keys)
            more = table_onward[place]
            if table_keys[place] == 0 or more == 0:
                continue
            onward[at] += more
            if onward[at] < 0:
                return onward[:0], uses, about
            for other in joined[number]:
                if other >= 0:
                    uses[other] += ways[at] * more
                    about[other] += float(ways[at]) * float(more)
    return onward, uses, about
