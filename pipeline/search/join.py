"""Where two halves of a sweep meet: which states complete each other, and in how many ways.

Two states at the same cells complete each other if what one needs of a cell the other has laid, and
if the pieces of both, end to end, are one cycle. So the states of both sides are grouped by needs,
and within a group only matchings meet.

A group's question is a linear map: given numbers for the matchings of 2k ends (the *ways* of one
side), find for each matching the sum over those that close with it into one cycle. It is answered
without testing pairs. Say that one side pairs the first end with end j. Then a matching of the other
side continues from both; dropping the two ends and joining what they led to leaves a matching of 2k-2
ends, and the same question about those. So for every j the numbers are added up by the matching that
is left (`dropping` says where each comes from), and so on until one pair is left, which closes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.compiled import compiled
from pipeline.search.frontier import (
    END,
    MATCHING_BITS,
    MATCHINGS,
    MOST_CELLS,
    no_cells,
    pack,
    unpack,
)
from pipeline.search.sweep import MOST, Layer, TooMany

Array = npt.NDArray[Any]

class Dropping(NamedTuple):
    """For so many pairs of ends, where the matchings without two of the ends come from.

    Of k pairs: for each end j that the first may be paired with and each matching of the 2k-2 ends
    without these two, the 2k-2 matchings of all ends that leave it. `begins[k]` is where they begin.
    """

    begins: Array
    sources: Array


def complements(layer: Layer, order: Array, mirrored: Array) -> Layer:
    """The layer as the other side asks for it, by key: cells in another order, other needs."""
    if layer.ways.sum(dtype=float) >= MOST:
        raise TooMany
    keys = _complements(layer.keys, order, mirrored)
    by_key = np.argsort(keys)
    return Layer(keys[by_key], layer.ways[by_key])


@compiled
def _complements(keys: Array, order: Array, mirrored: Array) -> Array:
    cells = no_cells()
    found = np.empty_like(keys)
    for at in range(len(keys)):
        unpack(keys[at], order, cells)
        for place in order:
            cells.need[place] = 2 - cells.need[place]
        found[at] = pack(mirrored, cells)
    return found


def dropping(most_pairs: int) -> Dropping:
    """What is needed for up to so many pairs."""
    pairs = np.arange(most_pairs + 1)
    ends = np.cumsum(np.maximum(2 * pairs - 2, 0) * MATCHINGS[pairs])
    sources = np.empty(ends[-1], dtype=np.int32)
    for k in range(2, most_pairs + 1):
        shape = (2 * k - 1, int(MATCHINGS[k - 1]), 2 * k - 2)
        _dropping(k, sources[ends[k - 1] : ends[k]].reshape(shape))
    return Dropping(np.roll(ends, 1), sources)


@compiled
def _dropping(pairs: int, found: Array) -> None:
    ends = 2 * pairs
    cells = no_cells()
    every, fewer = np.arange(ends), np.arange(ends - 2)
    ended = 0
    for end in range(ends - 2):
        ended |= END << 2 * end
    left = np.empty(ends, dtype=np.int64)
    for j in range(1, ends):
        for matching in range(found.shape[1]):
            unpack(ended << MATCHING_BITS | matching, fewer, cells)
            # their numbers among all ends: past the first one, and past j
            for end in range(ends - 2):
                partner = cells.partner[end]
                left[end + 1 + (end + 1 >= j)] = partner + 1 + (partner + 1 >= j)
            for end in range(ends):
                cells.need[end] = END
            way = 0
            for end in range(1, ends):
                if end == j:
                    continue
                for other in every[1:]:
                    if other != j:
                        cells.partner[other] = left[other]
                # the piece end - left[end] once led through the first end and j
                cells.partner[0], cells.partner[end] = end, 0
                cells.partner[j], cells.partner[left[end]] = left[end], j
                found[j - 1, matching, way] = pack(every, cells) & ((1 << MATCHING_BITS) - 1)
                way += 1


def most_pairs(keys: Array) -> int:
    """The most pairs of ends that a state has."""
    ended = sum(END << 2 * cell for cell in range(MOST_CELLS))
    ends = np.bitwise_count(keys >> MATCHING_BITS & ended)
    return int(ends.max(initial=0)) // 2


def completions(keys: Array, other: Layer, drop: Dropping) -> Array:
    """For each key of one side, ascending, in how many ways the other side completes it."""
    room = np.zeros((2, MATCHINGS[len(drop.begins) - 1]), dtype=np.int64)
    return _completions(keys, *other, drop, room[0], room[1])


@compiled
def _completions(
    keys: Array, other_keys: Array, other_ways: Array, drop: Dropping, asked: Array, spare: Array
) -> Array:
    found = np.zeros(len(keys), dtype=np.int64)
    own = meeting = 0
    while own < len(keys):
        needs = keys[own] >> MATCHING_BITS
        last = own + 1
        while last < len(keys) and keys[last] >> MATCHING_BITS == needs:
            last += 1
        meeting += np.searchsorted(other_keys[meeting:], needs << MATCHING_BITS)
        until = meeting
        pairs = 0
        for cell in range(MOST_CELLS):
            pairs += needs >> 2 * cell & 1
        pairs //= 2
        while until < len(other_keys) and other_keys[until] >> MATCHING_BITS == needs:
            until += 1
        if until > meeting:
            asked[: MATCHINGS[pairs]] = 0
            for at in range(meeting, until):
                asked[other_keys[at] & ((1 << MATCHING_BITS) - 1)] = other_ways[at]
            answer = _closing(asked, spare, pairs, drop)
            for at in range(own, last):
                found[at] = answer[keys[at] & ((1 << MATCHING_BITS) - 1)]
        own, meeting = last, until
    return found


@compiled
def _closing(asked: Array, spare: Array, pairs: int, drop: Dropping) -> Array:
    """For each matching of so many pairs, the sum over those that close with it into one cycle."""
    every = MATCHINGS[pairs]
    for left in range(pairs, 1, -1):
        many, ways = MATCHINGS[left], 2 * left - 2
        for block in range(0, every, many):
            at = drop.begins[left]
            for matching in range(many):
                total = 0
                for source in drop.sources[at : at + ways]:
                    total += asked[block + source]
                spare[block + matching] = total
                at += ways
        asked, spare = spare, asked
    return asked
