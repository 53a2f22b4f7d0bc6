"""Where two halves of a sweep meet: which states complete each other, and in how many ways.

Two states at the same cells complete each other if what one needs of each cell the other has laid,
and if the pieces of both, end to end, are one cycle. So the states of both sides are grouped by
needs, and within a group only matchings meet.

A group's question is a linear map: given numbers for the matchings of 2k ends (the *ways* of one
side), find for each matching the sum over those that close with it into one cycle. It is answered
without testing pairs. Say that one side pairs the first end with end j. Then a matching of the
other side goes on from both of them; dropping the two ends, and joining what they led to, leaves a
matching of 2k-2 ends and the same question about those. So for every j the numbers are added up by
the matching that is left, and so on, until one pair is left on both sides, which closes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.compiled import compiled
from pipeline.search.bits import ones
from pipeline.search.frontier import (
    BEGINS,
    ENDS,
    MATCHING,
    MATCHING_BITS,
    MATCHINGS,
    MOST_CELLS,
    Step,
    all_partners,
    numbered,
    unpack,
    without,
)
from pipeline.search.sweep import MOST, Layer, TooMany

Array = npt.NDArray[Any]


class Dropping(NamedTuple):
    """For so many pairs of ends, where the matchings without two of the ends come from.

    Of k pairs: for each end j that the first may be paired with, and each matching of the 2k-2 ends
    without these two, the 2k-2 matchings of all ends that leave it. They begin at `begins[k]`.
    """

    begins: Array
    sources: Array


def complements(layer: Layer, step: Step, *, paths: bool) -> Layer:
    """The layer after a half's last step, as the other half asks for it: by ascending key, what is
    laid instead of what is needed, and the cells of the cut, but not the virtual one, turned round.
    """
    if layer.ways.sum(dtype=float) >= MOST:
        raise TooMany
    keys = _complements(layer.keys, step.cells, int(paths), step.partners)
    by_key = np.argsort(keys)
    return Layer(keys[by_key], layer.ways[by_key])


@compiled
def _complements(keys: Array, cells: int, virtual: int, partners: Array) -> Array:
    partner, turned_partner, ends = np.zeros((3, MOST_CELLS + 1), dtype=np.int64)
    turned = np.arange(cells)
    turned[virtual:] = turned[virtual:][::-1].copy()
    found = np.empty_like(keys)
    for at in range(len(keys)):
        for end in ends[: unpack(keys[at], partners, partner, ends)]:
            turned_partner[turned[end]] = turned[partner[end]]
        needs = 0
        for cell in range(cells):
            need = keys[at] >> MATCHING_BITS + 2 * cell & 3
            needs |= (2 - need) << 2 * turned[cell]
        found[at] = needs << MATCHING_BITS | numbered(needs, turned_partner)
    return found


def dropping(most_pairs: int) -> Dropping:
    """What is needed for up to so many pairs."""
    pairs = np.arange(most_pairs + 1)
    ends = np.cumsum(np.maximum(2 * pairs - 2, 0) * MATCHINGS[pairs])
    sources, partners = np.empty(ends[-1], dtype=np.int32), all_partners(most_pairs)
    for k in range(2, most_pairs + 1):
        shape = (2 * k - 1, int(MATCHINGS[k - 1]), 2 * k - 2)
        _dropping(k, partners, sources[ends[k - 1] : ends[k]].reshape(shape))
    return Dropping(np.roll(ends, 1), sources)


@compiled
def _dropping(pairs: int, partners: Array, found: Array) -> None:
    ends = 2 * pairs
    needs = ENDS & ((1 << 2 * ends) - 1)
    rest, partner = np.zeros((2, ends), dtype=np.int64)
    for j in range(1, ends):
        for matching in range(found.shape[1]):
            packed = partners[BEGINS[pairs - 1] + matching]
            for end in range(ends - 2):
                rest[without(end, j)] = without(packed >> 4 * end & 15, j)
            for way in range(ends - 2):
                # the piece between these two once led through the first end and j
                one = without(way, j)
                other = rest[one]
                partner[:] = rest
                partner[0], partner[one] = one, 0
                partner[j], partner[other] = other, j
                found[j - 1, matching, way] = numbered(needs, partner)


def most_pairs(keys: Array) -> int:
    """The most pairs of ends that a state has."""
    return int(np.bitwise_count(keys >> MATCHING_BITS & ENDS).max(initial=0)) // 2


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
        pairs = ones(needs & ENDS) // 2
        while until < len(other_keys) and other_keys[until] >> MATCHING_BITS == needs:
            until += 1
        if until > meeting:
            asked[: MATCHINGS[pairs]] = 0
            for at in range(meeting, until):
                asked[other_keys[at] & MATCHING] = other_ways[at]
            answer = _closing(asked, spare, pairs, drop)
            for at in range(own, last):
                found[at] = answer[keys[at] & MATCHING]
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
