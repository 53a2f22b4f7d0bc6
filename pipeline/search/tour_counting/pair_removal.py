"""Matchings from which a pair of ends is removed: what joins the ends that were paired with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tablebase.frontier.compiled import MATCHING_COUNTS, Array


class PairRemoval(NamedTuple):
    """The matchings that become a given matching when a pair of ends is removed, by pairs of ends.

    For k pairs: for each end j that the first end may be paired with, and each matching of the 2k-2
    ends without these two, the 2k-2 matchings of all ends that become it. They begin at
    `sources[begins[k]]`.
    """

    begins: Array
    sources: Array


def make_pair_removal(max_pairs: int) -> PairRemoval:
    """Return the pair removal for matchings of up to `max_pairs` pairs."""
    pairs = np.arange(max_pairs + 1)
    ends = np.cumsum(np.maximum(2 * pairs - 2, 0) * MATCHING_COUNTS[pairs])
    sources = np.empty(ends[-1], dtype=np.int32)
    swaps = [list[Array](), [np.zeros(1, dtype=np.int32)]]
    for k in range(2, max_pairs + 1):
        shape = (2 * k - 1, int(MATCHING_COUNTS[k - 1]), 2 * k - 2)
        _fill_pair_removal(swaps[k - 1], sources[ends[k - 1] : ends[k]].reshape(shape))
        swaps.append(_list_swaps(k, swaps[k - 1]))
    return PairRemoval(np.roll(ends, 1), sources)


def _fill_pair_removal(swaps: list[Array], sources: Array) -> None:
    """Fill in the sources for k pairs, given the swaps for k-1 pairs.

    Before the removal of the first end and `j`, the path between two other ends went through both:
    the first end was paired with `one` of them, and `j` with the other. Without the first pair,
    this is the matching after the removal, with `one` moved to the place of `j`.
    """
    _, count, ways = sources.shape
    for way in range(ways):  # the place of `one` after the removal
        unmoved: Array = np.arange(count, dtype=np.int32)
        ranks = unmoved
        for place in range(way, -1, -1):  # `j` is the end number place + 1, and `one` is way + 2
            sources[place, :, way] = (way + 1) * count + ranks
            ranks = swaps[place - 1][ranks] if place else ranks
        ranks = unmoved
        for place in range(way, ways):  # `j` is the end number place + 2, and `one` is way + 1
            sources[place + 1, :, way] = way * count + ranks
            ranks = swaps[place][ranks] if place + 1 < ways else ranks


def _list_swaps(pairs: int, swaps: list[Array]) -> list[Array]:
    """List for each two neighbouring ends the matchings' ranks after these have changed places.

    `swaps` are those for one pair less.
    """
    ends, count = 2 * pairs, int(MATCHING_COUNTS[pairs - 1])
    ranks: Array = np.arange(MATCHING_COUNTS[pairs], dtype=np.int32)
    results = [ranks.reshape(ends - 1, count).copy() for _ in range(ends - 1)]
    for end, result in enumerate(results):
        for partner in range(1, ends):
            if end == 0 and partner > 1:
                result[partner - 1] = _swap_first_ends(pairs, partner)
            elif end > 0 and partner in (end, end + 1):
                result[partner - 1] = (2 * end - partner) * count + ranks[:count]
            elif end > 0:
                result[partner - 1] = (partner - 1) * count + swaps[end - 1 - (partner < end)]
    return [result.ravel() for result in results]


def _swap_first_ends(pairs: int, partner: int) -> Array:
    """Return the ranks after the first two ends have changed places, for the first one's partner.

    The partner is none of the two.
    """
    count, rest_count = MATCHING_COUNTS[pairs - 1], MATCHING_COUNTS[pairs - 2]
    place, rest = np.divmod(np.arange(count, dtype=np.int32), np.int32(rest_count))
    other = place + 2 + (place + 2 >= partner)  # the partner of the second end
    ranks: Array = (other - 1) * count + (partner - 2 - (other < partner)) * rest_count + rest
    return ranks
