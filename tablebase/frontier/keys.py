"""The keys of a frontier's states (`tablebase.frontier.state`), compiled: unpacked and packed
again."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tablebase.frontier.bits import lowest, ones
from tablebase.frontier.state import END, MATCHING_BITS
from tablebase.jit import compiled

Array = npt.NDArray[Any]

MOST_PAIRS = 9
MATCHINGS = np.cumprod([1, *range(1, 2 * MOST_PAIRS, 2)], dtype=np.int64)
"""How many matchings so many pairs of ends have."""
BEGINS = np.cumsum([0, *MATCHINGS])
"""Where they begin in a list of the matchings of no pairs, of one, of two, and so on."""
MATCHING = (1 << MATCHING_BITS) - 1
MOST_CELLS = 18

ENDS = sum(END << 2 * cell for cell in range(MOST_CELLS + 1))
"""The bits that are set where a cell is an end."""


@cache
def all_partners(cells: int) -> Array:
    """All matchings that so many cells can have without their first pair, four bits an end."""
    most_pairs = max(cells // 2 - 1, 0)
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
    if many == 0:
        return 0
    rest = many // 2 - 1
    chosen, first = 1 + (key & MATCHING) // MATCHINGS[rest], ends[0]
    partner[first], partner[ends[chosen]] = ends[chosen], first
    matched = partners[BEGINS[rest] + (key & MATCHING) % MATCHINGS[rest]]
    for end in range(many - 2):
        other = ends[without(matched >> 4 * end & 15, chosen)]
        partner[ends[without(end, chosen)]] = other
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
