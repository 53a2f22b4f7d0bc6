"""The keys of a frontier's states (`tablebase.frontier.state`), compiled: unpacked and packed
again."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tablebase.frontier.bits import count_ones, find_lowest
from tablebase.frontier.state import END, MATCHING_BITS
from tablebase.jit import compiled

Array = npt.NDArray[Any]

MAX_PAIRS = 9
MATCHING_COUNTS = np.cumprod([1, *range(1, 2 * MAX_PAIRS, 2)], dtype=np.int64)
"""How many matchings so many pairs of ends have."""
MATCHING_STARTS = np.cumsum([0, *MATCHING_COUNTS])
"""Where they begin in a list of the matchings of no pairs, of one, of two, and so on."""
MATCHING_MASK = (1 << MATCHING_BITS) - 1
MAX_CELLS = 18

END_BITS = sum(END << 2 * cell for cell in range(MAX_CELLS + 1))
"""The bits that are set where a cell is an end."""


@cache
def list_all_partners(cells: int) -> Array:
    """All matchings that so many cells can have without their first pair, four bits an end."""
    max_pairs = max(cells // 2 - 1, 0)
    partners = np.zeros(MATCHING_STARTS[max_pairs + 1], dtype=np.int64)
    _fill_all_partners(max_pairs, partners)
    return partners


@compiled
def _fill_all_partners(max_pairs: int, partners: Array) -> None:
    for pairs in range(1, max_pairs + 1):
        at = MATCHING_STARTS[pairs]
        for chosen in range(1, 2 * pairs):
            for rest in partners[MATCHING_STARTS[pairs - 1] : MATCHING_STARTS[pairs]]:
                # a matching of all but the first end and the one that is its partner
                packed = np.int64(chosen)
                for end in range(2 * pairs - 2):
                    partner = renumber_end(rest >> 4 * end & 15, chosen)
                    packed |= partner << 4 * renumber_end(end, chosen)
                partners[at] = packed
                at += 1


@compiled
def renumber_end(end: int, chosen: int) -> int:
    """The number among all ends of one that is counted without the first and a chosen one."""
    return end + 1 + (end + 1 >= chosen)


@compiled
def unpack_key(key: int, partners: Array, partner: Array, ends: Array) -> int:
    """Set the partner of each cell that is an end, and list these; returns how many there are."""
    ends_left = key >> MATCHING_BITS & END_BITS
    many = 0
    while ends_left:
        ends[many] = find_lowest(ends_left) // 2
        ends_left &= ends_left - 1
        many += 1
    if many == 0:
        return 0
    rest = many // 2 - 1
    chosen, first = 1 + (key & MATCHING_MASK) // MATCHING_COUNTS[rest], ends[0]
    partner[first], partner[ends[chosen]] = ends[chosen], first
    matched = partners[MATCHING_STARTS[rest] + (key & MATCHING_MASK) % MATCHING_COUNTS[rest]]
    for end in range(many - 2):
        other = ends[renumber_end(matched >> 4 * end & 15, chosen)]
        partner[ends[renumber_end(end, chosen)]] = other
    return many


@compiled
def rank_matching(needs: int, partner: Array) -> int:
    """The number of the matching of the cells that are ends."""
    ends_left = needs & END_BITS
    others = count_ones(ends_left) - 1
    matching = 0
    while ends_left:
        other = 1 << 2 * partner[find_lowest(ends_left) // 2]
        ends_left = ends_left & (ends_left - 1) ^ other
        matching = matching * others + count_ones(ends_left & (other - 1))
        others -= 2
    return matching


@compiled
def relabel_cells(
    key: int, to: Array, partners: Array, partner: Array, ends: Array, moved: Array
) -> int:
    """The key after each cell has gone to another place."""
    many = unpack_key(key, partners, partner, ends)
    needs = 0
    for cell in range(len(to)):
        needs |= (key >> MATCHING_BITS + 2 * cell & 3) << 2 * to[cell]
    for end in ends[:many]:
        moved[to[end]] = to[partner[end]]
    return needs << MATCHING_BITS | rank_matching(needs, moved)
