"""Compiled functions on the keys of a frontier's states (`tablebase.frontier.state`)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tablebase.frontier.instructions import count_ones, find_lowest
from tablebase.frontier.state import END, MATCHING_BITS
from tablebase.jit import compiled

Array = npt.NDArray[Any]

MAX_PAIRS = 9
MATCHING_COUNTS = np.cumprod([1, *range(1, 2 * MAX_PAIRS, 2)], dtype=np.int64)
"""The number of matchings of 0, 1, 2 ... pairs of ends."""
MATCHING_STARTS = np.cumsum([0, *MATCHING_COUNTS])
"""Where the matchings of 0, 1, 2 ... pairs begin in a list of all of them, in that order."""
MATCHING_MASK = (1 << MATCHING_BITS) - 1
MAX_CELLS = 18

END_BITS = sum(END << 2 * cell for cell in range(MAX_CELLS + 1))
"""The bits of needs that are set for cells that are ends."""


@cache
def list_all_partners(cells: int) -> Array:
    """List the partners in all matchings of so many cells without their first pair.

    Each matching has four bits for each end. Matchings of fewer pairs come first.
    """
    max_pairs = max(cells // 2 - 1, 0)
    partners = np.zeros(MATCHING_STARTS[max_pairs + 1], dtype=np.int64)
    for pairs in range(1, max_pairs + 1):
        before, begin, end = MATCHING_STARTS[pairs - 1 : pairs + 2].tolist()
        # a row for each partner of the first end, with the matchings of all ends but these two
        rows = partners[begin:end].reshape(2 * pairs - 1, begin - before)
        for chosen in range(1, 2 * pairs):
            rows[chosen - 1] = chosen
            for number in range(2 * pairs - 2):
                partner = (partners[before:begin] >> 4 * number & 15) + 1
                partner += partner >= chosen
                rows[chosen - 1] |= partner << 4 * (number + 1 + (number + 1 >= chosen))
    return partners


@compiled
def unpack_key(key: int, partners: Array, partner: Array, ends: Array) -> int:
    """Set the partner of each cell that is an end, list these cells in `ends`, and count them."""
    ends_left = key >> MATCHING_BITS & END_BITS
    count = 0
    while ends_left:
        ends[count] = find_lowest(ends_left) // 2
        ends_left &= ends_left - 1
        count += 1
    if count == 0:
        return 0
    rest = count // 2 - 1
    chosen, first = 1 + (key & MATCHING_MASK) // MATCHING_COUNTS[rest], ends[0]
    partner[first], partner[ends[chosen]] = ends[chosen], first
    matched = partners[MATCHING_STARTS[rest] + (key & MATCHING_MASK) % MATCHING_COUNTS[rest]]
    for number in range(count - 2):  # the ends without the first and its partner
        end, other = number + 1, (matched >> 4 * number & 15) + 1
        end += end >= chosen
        other += other >= chosen
        partner[ends[end]] = ends[other]
    return count


@compiled
def rank_matching(needs: int, partner: Array) -> int:
    """Return the number of the matching of the cells that are ends."""
    ends_left = needs & END_BITS
    others = count_ones(ends_left) - 1
    matching = 0
    while ends_left:
        other = 1 << 2 * partner[find_lowest(ends_left) // 2]
        ends_left = ends_left & (ends_left - 1) ^ other
        matching = matching * others + count_ones(ends_left & (other - 1))
        others -= 2
    return matching
