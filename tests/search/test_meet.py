"""The meeting of halves: matchings that close with each other, and edges that complete states."""

import numpy as np
import pytest

from puzzle_tablebase.frontier.layers import END, FREE, MATCHING_BITS
from puzzle_tablebase.pipeline.recipes.tour_meet import (
    add_completions,
    find_shared_needs,
    make_pair_removal,
    make_side,
)
from puzzle_tablebase.pipeline.recipes.tour_sweep import Layer, make_first_layer

Edge = tuple[int, int, int]


def matchings(ends: tuple[int, ...]) -> list[dict[int, int]]:
    """Return every matching of some ends, in the order of their ranks."""
    if not ends:
        return [{}]
    first, *rest = ends
    return [
        {first: other, other: first, **matching}
        for other in rest
        for matching in matchings(tuple(end for end in rest if end != other))
    ]


def is_one_cycle(one: dict[int, int], other: dict[int, int]) -> bool:
    """Tell whether two matchings, joined at their ends, form one cycle."""
    at, seen = 0, 0
    while True:
        at, seen = other[one[at]], seen + 2
        if at == 0:
            return seen == len(one)


def meet(
    ours: Layer, other: Layer, edges: list[Edge], their_edges: list[Edge], views: int = 1
) -> tuple[list[int], list[int]]:
    """Return each own state's backward count, and how many cycles join each cell to the first."""
    cells = int(ours.keys[0] >> MATCHING_BITS).bit_length() // 2
    one, two = (
        make_side(layer, np.array(laid, np.int64).reshape(-1, 3), np.tile(np.arange(cells), (n, 1)))
        for layer, laid, n in ((ours, edges, 1), (other, their_edges, views))
    )
    needs, onward = find_shared_needs(one, two), np.zeros_like(ours.ways)
    uses = add_completions(needs, one, two, make_pair_removal(5), onward)
    return onward.tolist(), uses[: cells - 1].tolist()


@pytest.mark.parametrize("pairs", range(1, 6))
def test_matchings_complete_those_that_close_with_them(pairs: int) -> None:
    random = np.random.default_rng(pairs)
    all_matchings = matchings(tuple(range(2 * pairs)))
    count = len(all_matchings)
    (needs,) = make_first_layer([END] * 2 * pairs + [FREE]).keys
    theirs, ours = (np.sort(random.choice(count, min(count, 40), replace=False)) for _ in range(2))
    ways = random.integers(1, 1000, len(theirs))
    result, _ = meet(Layer(ours + needs, np.ones_like(ours)), Layer(theirs + needs, ways), [], [])
    for mine, sum_of_ways in zip(ours.tolist(), result, strict=True):
        pairs_of_mine = all_matchings[mine]
        closing = [is_one_cycle(pairs_of_mine, all_matchings[each]) for each in theirs.tolist()]
        assert sum_of_ways == ways[closing].sum()


@pytest.mark.parametrize("views", [1, 2])
def test_cycle_counts_near_the_limit_are_exact(views: int) -> None:
    """Count near the largest number, which the sum over two equal views exceeds on the way."""
    ours = make_first_layer([END, FREE, FREE, END, FREE])
    theirs = make_first_layer([FREE, END, END, FREE, FREE])
    scaled = Layer(ours.keys, ours.ways * (5 << 60))
    edges = [(0, 1, 1), (0, 2, 1), (1, 3, 0), (2, 3, 0)]
    assert meet(scaled, theirs, [], edges, views) == ([2], [0, 5 << 60, 5 << 60, 0])
