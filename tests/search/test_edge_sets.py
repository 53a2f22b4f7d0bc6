"""The kernels of counting, beside slow and obvious ones."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.frontier.layers import END, FREE, MATCHING_BITS, State
from puzzle_tablebase.pipeline.recipes import tour_meet
from puzzle_tablebase.pipeline.recipes.tour_edge_sets import (
    Filter,
    iter_edge_sets,
    rank_edge_sets,
    relabel_needs,
)
from puzzle_tablebase.pipeline.recipes.tour_keys import (
    END_BITS,
    MAX_PAIRS,
    list_all_partners,
    rank_matching,
    unpack_key,
)
from puzzle_tablebase.pipeline.recipes.tour_meet import (
    add_completions,
    find_shared_needs,
    make_pair_removal,
    make_side,
)
from puzzle_tablebase.pipeline.recipes.tour_sweep import CountOverflow, Layer, make_first_layer

Edge = tuple[int, int]


@st.composite
def states(draw: st.DrawFn) -> tuple[State, list[Edge], list[int]]:
    """Draw a state, some edges between its cells, and new places for the cells."""
    cells = draw(st.integers(3, 9))
    needs = draw(st.lists(st.integers(0, 2), min_size=cells, max_size=cells))
    ends = [cell for cell in range(cells) if needs[cell] == END]
    if len(ends) % 2:
        needs[ends.pop()] = FREE
    order = draw(st.permutations(ends))
    pairs = [*zip(order[::2], order[1::2], strict=True)]
    partner = dict(pairs) | {other: one for one, other in pairs}
    edges = draw(st.lists(st.sampled_from([*combinations(range(cells), 2)]), max_size=6))
    return State(needs, partner), edges, draw(st.permutations(range(cells)))


def list_sets(state: State, edges: list[Edge]) -> list[int]:
    """List the sets of edges, as bits, that give no cell more than it needs."""
    return [bits for bits in range(1 << len(edges)) if min(list_needs(state, edges, bits)) >= 0]


def list_needs(state: State, edges: list[Edge], bits: int) -> list[int]:
    """List what the cells need after a set of edges."""
    needs = [*state.needs]
    for number, edge in enumerate(edges):
        for cell in edge:
            needs[cell] -= bits >> number & 1
    return needs


def add_edges(state: State, edges: list[Edge], bits: int) -> State | None:
    """Return the state with a set of edges, added one by one; None if they close a cycle."""
    result: State | None = state
    for number, (one, other) in enumerate(edges):
        if result and bits >> number & 1:
            result = result.add_edge(one, other)
    return result


@given(states(), states())
def test_sets_of_edges_are_listed_and_ranked(
    drawn: tuple[State, list[Edge], list[int]], second: tuple[State, list[Edge], list[int]]
) -> None:
    """Add all sets of edges to two states of as many cells."""
    state, edges, places = drawn
    edges = edges or [(0, 1)]
    others = [state, second[0]] if len(second[0].needs) == len(state.needs) else [state, state]
    keys = np.array([other.key for other in others])
    edge_cells, to = np.array(edges), np.array(places)
    ((rows, chosen, left),) = iter_edge_sets(keys >> MATCHING_BITS, edge_cells, Filter())
    expected = [(row, bits) for row in range(2) for bits in list_sets(others[row], edges)]
    assert sorted(zip(rows.tolist(), chosen.tolist(), strict=True)) == expected
    needs = relabel_needs(left, to)
    partners = list_all_partners(len(state.needs) + 2)
    ranks = rank_edge_sets(keys[rows], chosen, needs, edge_cells, to, partners)
    found = (column.tolist() for column in (rows, chosen, needs, ranks))
    for row, bits, need, rank in zip(*found, strict=True):
        after = add_edges(others[row], edges, bits)
        assert (rank < 0) == (after is None)
        if after:
            assert need << MATCHING_BITS | rank == after.relabel(places).key


@given(states(), st.integers(0, 63), st.integers(0, 8), st.integers(-3, 3), st.integers(0, 511))
def test_sets_of_edges_are_filtered(
    drawn: tuple[State, list[Edge], list[int]], wanted: int, finished: int, surplus: int, dark: int
) -> None:
    state, edges, _ = drawn
    cells, wanted = len(state.needs), wanted & (1 << len(edges)) - 1
    finished %= cells
    dark_cells = [cell for cell in range(cells) if dark >> cell & 1]
    light_cells = [cell for cell in range(1, cells) if not dark >> cell & 1]
    dark_bits, light_bits = (
        sum(END << 2 * cell for cell in group) for group in (dark_cells, light_cells)
    )
    kept = Filter(wanted, 3 << 2 * finished, 3, dark_bits, light_bits, surplus)
    sets = [*iter_edge_sets(np.array([state.key >> MATCHING_BITS]),
                            np.array(edges, dtype=np.int64).reshape(-1, 2), kept)]  # fmt: skip
    expected = []
    for bits in list_sets(state, edges):
        needs = list_needs(state, edges, bits)
        balance = sum(needs[cell] for cell in dark_cells) - sum(needs[cell] for cell in light_cells)
        if bits & wanted == wanted and not needs[finished] and (needs[0] or balance == surplus):
            expected.append(bits)
    assert sorted(bits for _, chosen, _ in sets for bits in chosen.tolist()) == expected


@pytest.mark.parametrize("most", [0, 1 << 62, (1 << 63) - 1])
def test_counts_are_added_up_to_the_limit(most: int) -> None:
    totals, places = np.array([most, 0, 7]), np.array([1, 2, 1, 1])
    tour_meet._add_counts(totals, places, np.array([1, 2, 1 << 61, 1 << 61]))
    assert totals.tolist() == [most, 1 + (1 << 62), 9]
    tour_meet._add_counts(totals, np.array([1]), np.array([(1 << 62) - 2]))
    assert totals.tolist() == [most, (1 << 63) - 1, 9]
    for more in ([1], [1 << 62] * 4, [1 << 62] * 5):
        with pytest.raises(CountOverflow):
            tour_meet._add_counts(totals.copy(), np.full(len(more), 1), np.array(more))


# ---- the meeting of halves ------------------------------------------------------------------

Virtual = tuple[int, int, int]
"""An edge of the cut: two cells, and whether the first is the virtual one."""


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
    ours: Layer, other: Layer, edges: list[Virtual], their_edges: list[Virtual], views: int = 1
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
def test_matchings_are_ranked_in_order(pairs: int) -> None:
    """Rank all matchings by the partner of the first end, then by that of the next free end."""
    partners = list_all_partners(2 * MAX_PAIRS - 4)
    partner, ends = np.zeros((2, 20), dtype=np.int64)
    needs = END_BITS & ((1 << 4 * pairs) - 1)
    for rank, matching in enumerate(matchings(tuple(range(2 * pairs)))):
        assert unpack_key(needs << MATCHING_BITS | rank, partners, partner, ends) == 2 * pairs
        assert ends[: 2 * pairs].tolist() == sorted(matching)
        assert dict(enumerate(partner[: 2 * pairs].tolist())) == matching
        assert rank_matching(needs, partner) == rank


@pytest.mark.parametrize("pairs", range(1, 6))
def test_matchings_complete_those_that_close_with_them(pairs: int) -> None:
    random = np.random.default_rng(pairs)
    all_matchings = matchings(tuple(range(2 * pairs)))
    (needs,) = make_first_layer([END] * 2 * pairs + [FREE]).keys
    keys = np.arange(len(all_matchings)) + needs
    ways = random.integers(1, 1000, len(keys))
    result, _ = meet(Layer(keys, np.ones_like(keys)), Layer(keys, ways), [], [])
    for mine, sum_of_ways in zip(all_matchings, result, strict=True):
        assert sum_of_ways == ways[[is_one_cycle(mine, each) for each in all_matchings]].sum()


@pytest.mark.parametrize("views", [1, 2])
def test_cycle_counts_near_the_limit_are_exact(views: int) -> None:
    """Count near the largest number, which the sum over two equal views exceeds on the way."""
    ours = make_first_layer([END, FREE, FREE, END, FREE])
    theirs = make_first_layer([FREE, END, END, FREE, FREE])
    scaled = Layer(ours.keys, ours.ways * (5 << 60))
    edges = [(0, 1, 1), (0, 2, 1), (1, 3, 0), (2, 3, 0)]
    assert meet(scaled, theirs, [], edges, views) == ([2], [0, 5 << 60, 5 << 60, 0])
