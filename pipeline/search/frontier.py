"""The frontier of a sweep, as one number.

A sweep takes the squares of a board one after another and lays the edges of a cycle through all of
them. What was laid so far lies behind a *frontier*: a row of cells, each a square whose edges are
not all decided. A cell *needs* two more edges if it is free, one if a piece of path ends there, and
none if it is used up. The pieces join the ends in pairs: two ends of a piece are *partners*, and a
free cell is its own partner, a piece of one square.

Nothing else matters for what can still be laid, so states that agree in this are one. A state's
*key* has two bits a cell for its needs and, below them, the number of its *matching*: how the ends
are paired. Matchings of 2k ends are numbered from 0 to 1*3*5*...*(2k-1) - 1: which of the other
ends is the first one's partner counts first, then the matching of all the rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.compiled import compiled

Array = npt.NDArray[Any]

MATCHING_BITS = 26
MOST_CELLS = 18
"""As many as fit a key: 36 bits, and the 34,459,425 matchings of 18 ends in 26."""
MATCHINGS = np.cumprod([1, *range(1, MOST_CELLS, 2)], dtype=np.int64)
"""How many matchings so many pairs of ends have."""

FREE, END, USED = 2, 1, 0
"""What a cell can need."""


class Step(NamedTuple):
    """One step of a sweep: a cell is joined to some others, as often as it and they need.

    Cells have fixed places; a key names their states in the order of `before`, and after the step
    in that of `after`. A `finished` cell must need nothing afterwards and leaves the frontier;
    `fresh` is the place of a square that enters it, or -1.
    """

    before: Array
    after: Array
    fresh: int
    here: int
    others: Array
    finished: bool


class Cells(NamedTuple):
    """A state laid out by places: needs and partners; the rest is for packing."""

    need: Array
    partner: Array
    ends: Array
    number: Array


@compiled
def no_cells() -> Any:
    blank = np.zeros((4, MOST_CELLS + 2), dtype=np.int64)
    return Cells(blank[0], blank[1], blank[2], blank[3])


@compiled
def unpack(key: int, order: Array, cells: Cells) -> int:
    """Lay a state out; returns how many ends it has."""
    needs = key >> MATCHING_BITS
    ends = 0
    for position in range(len(order)):
        place = order[position]
        need = needs >> 2 * position & 3
        cells.need[place] = need
        cells.partner[place] = place
        if need == END:
            cells.ends[ends] = place
            ends += 1
    matching = key & ((1 << MATCHING_BITS) - 1)
    left = ends
    while left:
        rest = MATCHINGS[left // 2 - 1]
        chosen = 1 + matching // rest
        matching %= rest
        one, other = cells.ends[0], cells.ends[chosen]
        cells.partner[one] = other
        cells.partner[other] = one
        for end in range(1, chosen):
            cells.ends[end - 1] = cells.ends[end]
        for end in range(chosen + 1, left):
            cells.ends[end - 2] = cells.ends[end]
        left -= 2
    return ends


@compiled
def pack(order: Array, cells: Cells) -> int:
    """The key of a state that is laid out."""
    needs = 0
    ends = 0
    for position in range(len(order)):
        place = order[position]
        need = cells.need[place]
        needs |= need << 2 * position
        if need == END:
            cells.ends[ends] = place
            cells.number[place] = ends
            ends += 1
    matching = 0
    others = ends - 1
    unpaired = (1 << ends) - 1
    for end in range(ends):
        if unpaired >> end & 1:
            other = cells.number[cells.partner[cells.ends[end]]]
            unpaired ^= 1 << end | 1 << other
            matching = matching * others + _ones(unpaired & ((1 << other) - 1))
            others -= 2
    return needs << MATCHING_BITS | matching


@compiled
def _ones(bits: int) -> int:
    """How many bits of a word of 32 are set."""
    bits -= bits >> 1 & 0x55555555
    bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F
    return (bits * 0x01010101 & 0xFFFFFFFF) >> 24


@compiled
def following(key: int, step: Step, cells: Cells, keys: Array, joined: Array) -> int:
    """All states after a step: their keys, and which of the others each was joined to.

    `joined` has two numbers a state, -1 for none. Partners are never joined: that would close a
    cycle, and cycles close where two halves meet. Returns how many states there are.
    """
    unpack(key, step.before, cells)
    need, partner = cells.need, cells.partner
    here, others = step.here, step.others
    if step.fresh >= 0:
        need[step.fresh] = FREE
        partner[step.fresh] = step.fresh
    wanted = need[here]
    found = 0
    if wanted == 0 or not step.finished:
        keys[found] = pack(step.after, cells)
        joined[found] = -1
        found += 1
    if wanted == 0:
        return found
    for first in range(len(others)):
        one = others[first]
        if need[one] == 0 or partner[here] == one:
            continue
        near, far = partner[here], partner[one]
        need[here] -= 1
        need[one] -= 1
        partner[near], partner[far] = far, near
        if wanted == 1 or not step.finished:
            keys[found] = pack(step.after, cells)
            joined[found, 0], joined[found, 1] = first, -1
            found += 1
        if wanted == 2:
            for second in range(first + 1, len(others)):
                two = others[second]
                if need[two] == 0 or partner[here] == two:
                    continue
                nearer, further = partner[here], partner[two]
                need[two] -= 1
                need[here] -= 1
                partner[nearer], partner[further] = further, nearer
                keys[found] = pack(step.after, cells)
                joined[found, 0], joined[found, 1] = first, second
                found += 1
                partner[nearer], partner[further] = here, two
                need[two] += 1
                need[here] += 1
        partner[near], partner[far] = here, one
        need[here] += 1
        need[one] += 1
    return found
