"""The states of a frontier (`tablebase.frontier`), compiled: a layer of them is taken a step on.

Cells need not leave in the order in which they entered: the virtual square of a sweep for open
paths stays to the end.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.compiled import compiled
from pipeline.search.bits import lowest, ones
from tablebase.frontier import END, FREE, MATCHING_BITS

Array = npt.NDArray[Any]

MOST_PAIRS = 8
MATCHINGS = np.cumprod([1, *range(1, 2 * MOST_PAIRS, 2)], dtype=np.int64)
"""How many matchings so many pairs of ends have."""
BEGINS = np.cumsum([0, *MATCHINGS])
"""Where they begin in a list of the matchings of no pairs, of one, of two, and so on."""
MATCHING = (1 << MATCHING_BITS) - 1
MOST_CELLS = 18

ENDS = sum(END << 2 * cell for cell in range(MOST_CELLS + 1))
"""The bits that are set where a cell is an end."""


class Step(NamedTuple):
    """One step of a sweep: a cell is joined to others as often as it needs, and is finished.

    It leaves the frontier, and a free one enters: the others may have its number, `cells`.
    """

    cells: int
    here: int
    others: Array
    mirror: Array
    """After the last square of a column, where the mirror brings each cell: of a state and its
    image, which can be finished in as many ways, the one with the smaller key stands for both."""
    partners: Array
    """Those of `all_partners`, which unpacking needs."""


@cache
def all_partners(most_pairs: int) -> Array:
    """All matchings of up to so many pairs: in each, four bits an end for its partner."""
    found = np.zeros(BEGINS[most_pairs + 1], dtype=np.int64)
    _all_partners(most_pairs, found)
    return found


@compiled
def _all_partners(most_pairs: int, found: Array) -> None:
    for pairs in range(1, most_pairs + 1):
        at = BEGINS[pairs]
        for chosen in range(1, 2 * pairs):
            for rest in found[BEGINS[pairs - 1] : BEGINS[pairs]]:
                # a matching of all but the first end and the one that is its partner
                packed = np.int64(chosen)
                for end in range(2 * pairs - 2):
                    partner = without(rest >> 4 * end & 15, chosen)
                    packed |= partner << 4 * without(end, chosen)
                found[at] = packed
                at += 1


@compiled
def without(end: int, chosen: int) -> int:
    """The number among all ends of one that is counted without the first and a chosen one."""
    return end + 1 + (end + 1 >= chosen)


@compiled
def unpack(key: int, partners: Array, partner: Array, ends: Array) -> int:
    """Set the partner of each cell that is an end, and list these; returns how many there are."""
    left = key >> MATCHING_BITS & ENDS
    many = 0
    while left:
        ends[many] = lowest(left) // 2
        left &= left - 1
        many += 1
    matched = partners[BEGINS[many // 2] + (key & MATCHING)]
    for end in range(many):
        partner[ends[end]] = ends[matched >> 4 * end & 15]
    return many


@compiled
def numbered(needs: int, partner: Array) -> int:
    """The number of the matching of the cells that are ends."""
    left = needs & ENDS
    others = ones(left) - 1
    matching = 0
    while left:
        other = 1 << 2 * partner[lowest(left) // 2]
        left = left & (left - 1) ^ other
        matching = matching * others + ones(left & (other - 1))
        others -= 2
    return matching


@compiled
def turned(key: int, to: Array, partners: Array, partner: Array, ends: Array, moved: Array) -> int:
    """The key after each cell has gone to another place."""
    many = unpack(key, partners, partner, ends)
    needs = 0
    for cell in range(len(to)):
        needs |= (key >> MATCHING_BITS + 2 * cell & 3) << 2 * to[cell]
    for end in ends[:many]:
        moved[to[end]] = to[partner[end]]
    return needs << MATCHING_BITS | numbered(needs, moved)


@compiled
def following(key: int, step: Step, cells: Array, keys: Array, joined: Array) -> int:
    """All states after a step: their keys, and which of the others the cell was joined to.

    `joined` has two numbers a state, -1 for none. Partners are never joined: that would close a
    cycle, and cycles close where two halves meet. Returns how many states there are. `cells` are
    three rows of room for a number a cell.
    """
    partner, ends, moved = cells
    unpack(key, step.partners, partner, ends)
    here, others = step.here, step.others
    needs = key >> MATCHING_BITS | FREE << 2 * step.cells
    wanted = needs >> 2 * here & 3
    found = 0
    if wanted == 0:
        keys[found] = needs << MATCHING_BITS | key & MATCHING
        joined[found] = -1
        found += 1
    for first in range(len(others) if wanted else 0):
        one = others[first]
        need = needs >> 2 * one & 3
        near = here if wanted == FREE else partner[here]
        far = one if need == FREE else partner[one]
        if need == 0 or near == one:
            continue
        after = needs - (1 << 2 * here) - (1 << 2 * one)
        partner[near], partner[far] = far, near
        if wanted == 1:
            keys[found] = after << MATCHING_BITS | numbered(after, partner)
            joined[found, 0], joined[found, 1] = first, -1
            found += 1
        for second in range(first + 1, len(others) if wanted == FREE else 0):
            two = others[second]
            need = needs >> 2 * two & 3
            further = two if need == FREE else partner[two]
            if need == 0 or far == two:
                continue
            # `here` is an end of the piece that ends at `far`
            last = after - (1 << 2 * here) - (1 << 2 * two)
            partner[far], partner[further] = further, far
            keys[found] = last << MATCHING_BITS | numbered(last, partner)
            joined[found, 0], joined[found, 1] = first, second
            found += 1
            partner[far], partner[further] = near, two
        partner[near], partner[far] = here, one
    below = (1 << 2 * here) - 1
    for at in range(found):
        # the cell is no end any more, so that no matching has another number without it
        needs = keys[at] >> MATCHING_BITS
        needs = needs & below | needs >> 2 & ~below
        keys[at] = needs << MATCHING_BITS | keys[at] & MATCHING
        if len(step.mirror):
            mirrored = turned(keys[at], step.mirror, step.partners, partner, ends, moved)
            keys[at] = min(keys[at], mirrored)
    return found
