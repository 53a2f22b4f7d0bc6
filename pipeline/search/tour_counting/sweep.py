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

from pipeline.search.tour_counting.expand import Step, following
from tablebase.frontier.keys import MOST_CELLS
from tablebase.frontier.state import MATCHING_BITS
from tablebase.jit import compiled

Array = npt.NDArray[Any]

MOST = float(1 << 63)
PIECE = 200_000
"""States between two moments at which a sweep can be told to end."""
MOST_FOLLOWING = 1 + MOST_CELLS + MOST_CELLS * (MOST_CELLS - 1) // 2
"""States after one step at most: joined to none, to one, or to two."""


class Layer(NamedTuple):
    """States, no two alike, and how many ways lead to each."""

    keys: Array
    ways: Array


class TooMany(ArithmeticError):
    """A number of cycles that does not fit 63 bits."""


def first_layer(needs: list[int]) -> Layer:
    """One state, before anything is laid, with cells that need so much."""
    packed = sum(need << 2 * cell for cell, need in enumerate(needs))
    return Layer(np.array([packed << MATCHING_BITS]), np.array([1]))


def forward(layer: Layer, step: Step, going: Callable[[], None]) -> Layer:
    """The next layer; `going` is called several times a second."""
    # in the middle of a column a large layer grows less than this, and at its end it shrinks
    keys, ways = _room(len(layer.keys) * (4 if len(step.mirror) else 8) // 5)
    done = filled = 0
    while done < len(layer.keys):
        going()
        done, filled = _spread(*layer, done, step, keys, ways, filled)
        if filled < 0:
            raise TooMany
        if done < len(layer.keys) and _full(filled, len(keys)):
            # as many more as have come so far, or fewer: more and more are there already
            likely = filled * len(layer.keys) // done
            keys, ways = in_table(keys, ways, min(3 * filled // 2, likely + filled // 20))
    many = _gathered(keys, ways)
    for column in (keys, ways):
        column.resize(many, refcheck=False)  # where they are: a copy would be the peak of memory
    return Layer(keys, ways)


def back(layer: Layer, step: Step, keys: Array, onward: Array) -> tuple[Array, Array]:
    """The layer's onward numbers, and how many cycles use each edge that the step may lay.

    `keys` and `onward` are a table of the next layer.
    """
    found, uses, about = _back(*layer, step, keys, onward)
    if about.max(initial=0) >= MOST or len(found) < len(layer.keys):
        raise TooMany
    return found, uses


def cycles(ways: Array, onward: Array) -> int:
    """How many cycles pass a layer, given both numbers of each of its states."""
    if onward.min(initial=0) < 0 or np.dot(ways.astype(float), onward.astype(float)) >= MOST:
        raise TooMany
    return int(np.dot(ways, onward))


def in_table(keys: Array, numbers: Array, room: int = 0) -> tuple[Array, Array]:
    """Keys, but for noughts, with their numbers as a table in which `place_of` finds them."""
    table = _room(room or len(keys))
    _fill(keys, numbers, *table)
    return table


def _room(states: int) -> tuple[Array, Array]:
    size = 2 * MOST_FOLLOWING + PIECE // 100 + 4 * states // 3
    return np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)


@compiled
def place_of(key: int, keys: Array) -> int:
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
def _full(filled: int, size: int) -> bool:
    return 4 * filled > 3 * (size - MOST_FOLLOWING)


@compiled
def _fill(keys: Array, numbers: Array, table_keys: Array, table_numbers: Array) -> None:
    for at in range(len(keys)):
        if keys[at] != 0:
            place = place_of(keys[at], table_keys)
            table_keys[place] = keys[at]
            table_numbers[place] = numbers[at]


@compiled
def _gathered(keys: Array, ways: Array) -> int:
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
    cells = np.zeros((3, MOST_CELLS + 1), dtype=np.int64)
    after = np.empty(MOST_FOLLOWING, dtype=np.int64)
    joined = np.empty((MOST_FOLLOWING, 2), dtype=np.int64)
    last = min(len(keys), done + PIECE)
    while done < last and not _full(filled, len(table_keys)):
        for number in range(following(keys[done], step, cells, after, joined)):
            place = place_of(after[number], table_keys)
            if table_keys[place] == 0:
                table_keys[place] = after[number]
                filled += 1
            table_ways[place] += ways[done]
            if table_ways[place] < 0:
                return done, -1
        done += 1
    return done, filled


@compiled
def _back(
    keys: Array, ways: Array, step: Step, table_keys: Array, table_onward: Array
) -> tuple[Array, Array, Array]:
    cells = np.zeros((3, MOST_CELLS + 1), dtype=np.int64)
    after = np.empty(MOST_FOLLOWING, dtype=np.int64)
    joined = np.empty((MOST_FOLLOWING, 2), dtype=np.int64)
    onward = np.zeros(len(keys), dtype=np.int64)
    uses = np.zeros(len(step.others), dtype=np.int64)
    about = np.zeros(len(step.others))
    for at in range(len(keys)):
        for number in range(following(keys[at], step, cells, after, joined)):
            place = place_of(after[number], table_keys)
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
