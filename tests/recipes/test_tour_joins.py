"""The kernels of counting, beside slow and obvious ones."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.pipeline.recipes.tour_joins import (
    CYCLE,
    Groups,
    find_moves,
    find_source,
    gather,
    make_edge_sets,
    make_joins,
    make_moves,
    move,
)
from puzzle_tablebase.pipeline.recipes.tour_meet import (
    Cut,
    add_completions,
    find_shared_needs,
    make_cut,
)
from puzzle_tablebase.pipeline.recipes.tour_sweep import (
    CountOverflow,
    Layer,
    Step,
    make_first_layer,
    make_work,
)
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tour_ranker import Sweep
from puzzle_tablebase.tour_frontier.keys import (
    END_BITS,
    MAX_PAIRS,
    list_all_mates,
    rank_matching,
    unpack_key,
)
from puzzle_tablebase.tour_frontier.states import END, FREE, MATCHING_BITS, State

Edge = tuple[int, int]


@st.composite
def states(draw: st.DrawFn) -> tuple[State, list[Edge], list[int]]:
    """Draw a state, some edges between its cells, and new cells for the cells."""
    cells = draw(st.integers(3, 9))
    needs = draw(st.lists(st.integers(0, 2), min_size=cells, max_size=cells))
    ends = [cell for cell in range(cells) if needs[cell] == END]
    if len(ends) % 2:
        needs[ends.pop()] = FREE
    order = draw(st.permutations(ends))
    pairs = [*zip(order[::2], order[1::2], strict=True)]
    mate = dict(pairs) | {other: one for one, other in pairs}
    edges = draw(st.lists(st.sampled_from([*combinations(range(cells), 2)]), max_size=6))
    return State(needs, mate), edges, draw(st.permutations(range(cells)))


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


@given(states(), st.integers(0, 63))
def test_edges_lead_from_group_to_group(
    drawn: tuple[State, list[Edge], list[int]], wanted: int
) -> None:
    """Add all sets of edges to a state, and look up the state from what it becomes."""
    state, edges, new_cells = drawn
    edges = [*dict.fromkeys(edges)] or [(0, 1)]
    wanted &= (1 << len(edges)) - 1
    sets, joins = make_edge_sets(edges, wanted=wanted), make_joins(len(state.needs))
    kept = [bits for bits in list_sets(state, edges) if bits & wanted == wanted]
    key, (work, tables) = state.key, make_work()
    groups = Groups(*Layer.from_keys(np.array([key]), np.ones(1))[:3])
    found = set()
    for number, (bits, total) in enumerate(
        zip(sets.bits.tolist(), sets.sums.tolist(), strict=True)
    ):
        left = (key >> MATCHING_BITS) - total
        if bits not in kept:
            assert left < 0 or find_source(left, total, groups.needs) < 0
            continue
        found.add(bits)
        assert find_source(left, total, groups.needs) == 0
        one = sets._replace(bits=sets.bits[number:][:1], sums=sets.sums[number:][:1])
        values = np.zeros(10_395, dtype=np.int64)
        gather(left, groups, np.array([7]), one, joins, work, tables, values)
        after = add_edges(state, edges, bits)
        ranks = np.flatnonzero(values).tolist()
        assert ranks == ([] if after is None else [after.key & (1 << MATCHING_BITS) - 1])
        if after and ranks:
            moved = after.relabel(new_cells)
            needs = moved.key >> MATCHING_BITS
            rank = move(left, ranks[0], np.array(new_cells), needs, joins.mates, work)
            assert needs << MATCHING_BITS | rank == moved.key
            assert values[ranks[0]] == 7
    assert sorted(found) == sorted(kept)


@pytest.mark.parametrize("cells", [7, 13])
def test_tables_are_those_of_states(cells: int) -> None:
    """Compare some entries of each table with a state of as many ends."""
    joins, seen = make_joins(cells), 0
    for case, pairs, first, second in np.argwhere(joins.begins >= 0).tolist():
        free = case >> 1, case & 1
        # as many ends before each cell; a free one stands before the end of its number
        row = [(2 * at + 1, END) for at in range(2 * pairs)]
        row = sorted(row + [(2 * at, FREE) for at, is_free in ((first, free[0]), (second, free[1]))
                            if is_free])  # fmt: skip
        positions = [position for position, _ in row]
        one, other = (positions.index(2 * at + 1 - is_free)
                      for at, is_free in ((first, free[0]), (second, free[1])))  # fmt: skip
        other += one == other
        needs = sum(need << 2 * cell for cell, (_, need) in enumerate(row))
        for matching in {0, (count_matchings(pairs) - 1) // 2, count_matchings(pairs) - 1}:
            state = State.from_key(needs << MATCHING_BITS | matching, len(row))
            after = state.add_edge(one, other)
            rank = CYCLE if after is None else after.key & (1 << MATCHING_BITS) - 1
            table = joins.begins[case, pairs, first, second]
            assert joins.tables[table + matching] == rank
            seen += 1
    assert seen > 100


@given(st.booleans(), st.lists(st.integers(0, 2), min_size=11, max_size=11), st.integers(0, 944))
def test_moves_of_a_cut_are_those_of_states(paths: bool, needs: list[int], rank: int) -> None:
    """Look up a state at the cut in all views; most have tables."""
    sweep = Sweep(KnightBoard(5, 6), paths=paths)
    cut = make_cut(sweep, mirrored=True)
    needs = [*needs[: sweep.cells - 1], FREE]
    ends = [cell for cell, need in enumerate(needs) if need == END]
    if len(ends) % 2:
        needs[ends.pop()] = FREE
    packed = sum(need << 2 * cell for cell, need in enumerate(needs))
    rank %= count_matchings(len(ends) // 2)
    state = State.from_key(packed << MATCHING_BITS | rank, sweep.cells)
    moves = make_moves(tuple(map(tuple, cut.views.tolist())), sweep.finished)
    assert len(moves.new_cells) == 2
    for view, new_cells in enumerate(cut.views.tolist()):
        moved = state.relabel(new_cells).key & (1 << MATCHING_BITS) - 1
        begin = find_moves(packed, view, moves)
        assert begin >= 0 or len(ends) > 8
        assert begin < 0 or moves.tables[begin + rank] == moved
    # an end outside the two columns
    assert find_moves(packed - (END << 2 * (sweep.cells - 1)), 0, moves) == -1


def count_matchings(pairs: int) -> int:
    return 1 if pairs < 2 else (2 * pairs - 1) * count_matchings(pairs - 1)


@given(states(), st.integers(0, 8), st.integers(-3, 3), st.integers(0, 511), st.booleans())
def test_needs_after_a_step_are_listed(
    drawn: tuple[State, list[Edge], list[int]], cell: int, surplus: int, dark: int, is_wanted: bool
) -> None:
    """Join a cell to any others, and keep the needs whose colours balance."""
    state, _, _ = drawn
    cells = len(state.needs)
    cell %= cells
    others = [*range(cell + 1, cells + 1)]
    edges = [(cell, other) for other in others]
    before = State([*state.needs, FREE], state.mate)
    dark_cells = [at for at in range(cells) if dark >> at & 1]
    light_cells = [at for at in range(1, cells) if not dark >> at & 1]
    bits = (sum(END << 2 * at for at in group) for group in (dark_cells, light_cells))
    step = Step(cells, cell, np.array(others), np.empty(0, np.int64))
    step = step._replace(dark=next(bits), light=next(bits), surplus=surplus)
    step = step._replace(wanted=0 if is_wanted else -1)
    expected = set()
    for chosen in list_sets(before, edges):
        needs = list_needs(before, edges, chosen)
        if needs.pop(cell) or (is_wanted and not chosen & 1) or END not in needs:
            continue
        balance = sum(needs[at] for at in dark_cells) - sum(needs[at] for at in light_cells)
        if needs[0] or balance == surplus:
            expected.add(sum(need << 2 * at for at, need in enumerate(needs)))
    listed = step.list_needs(np.array([state.key >> MATCHING_BITS]))
    assert listed.tolist() == sorted(expected)


# ---- the meeting of halves ------------------------------------------------------------------


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
    cells = int(ours.needs[0]).bit_length() // 2
    cut = Cut(edges, their_edges, np.tile(np.arange(cells), (views, 1)))
    needs, onward = find_shared_needs(ours.needs, other.needs, cut), np.zeros_like(ours.ways)
    uses = add_completions(needs, ours, other, cut, onward)
    return onward.tolist(), uses[0].diagonal()[: cells - 1].tolist()


@pytest.mark.parametrize("pairs", range(1, 6))
def test_matchings_are_ranked_in_order(pairs: int) -> None:
    """Rank all matchings by the mate of the first end, then by that of the next free end."""
    mates = list_all_mates(2 * MAX_PAIRS - 4)
    mate, ends = np.zeros((2, 20), dtype=np.int64)
    needs = END_BITS & ((1 << 4 * pairs) - 1)
    for rank, matching in enumerate(matchings(tuple(range(2 * pairs)))):
        assert unpack_key(needs << MATCHING_BITS | rank, mates, mate, ends) == 2 * pairs
        assert ends[: 2 * pairs].tolist() == sorted(matching)
        assert dict(enumerate(mate[: 2 * pairs].tolist())) == matching
        assert rank_matching(needs, mate) == rank


@pytest.mark.parametrize("pairs", range(1, 6))
def test_matchings_complete_those_that_close_with_them(pairs: int) -> None:
    random = np.random.default_rng(pairs)
    all_matchings = matchings(tuple(range(2 * pairs)))
    (needs,) = make_first_layer([END] * 2 * pairs + [FREE]).keys
    keys = np.arange(len(all_matchings)) + needs
    ways = random.integers(1, 1000, len(keys))
    ours, theirs = (Layer.from_keys(keys, each) for each in (np.ones_like(keys), ways))
    result, _ = meet(ours, theirs, [], [])
    for mine, sum_of_ways in zip(all_matchings, result, strict=True):
        assert sum_of_ways == ways[[is_one_cycle(mine, each) for each in all_matchings]].sum()


@pytest.mark.parametrize("views", [1, 2])
def test_cycle_counts_near_the_limit_are_exact(views: int) -> None:
    """Count near the largest number, which the sum over two equal views exceeds on the way."""
    ours = make_first_layer([END, FREE, FREE, END, FREE])
    theirs = make_first_layer([FREE, END, END, FREE, FREE])
    scaled = ours._replace(ways=ours.ways * (5 << 60))
    edges = [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert meet(scaled, theirs, edges, [], views) == ([2], [0, 5 << 60, 5 << 60, 0])
    for ways in (1 << 62, (1 << 63) - 1):
        with pytest.raises(CountOverflow):
            meet(ours, theirs._replace(ways=theirs.ways * ways), edges, [], 2)


def test_sums_over_many_matchings_do_not_wrap_around() -> None:
    """Complete a state by eight of fifteen: together they exceed even 64 bits."""
    (needs,) = make_first_layer([END] * 6 + [FREE]).keys
    keys = np.arange(15) + needs
    ours = Layer.from_keys(keys, np.ones_like(keys))
    result, _ = meet(ours, ours._replace(ways=np.full_like(keys, 1 << 59)), [], [])
    assert result == [8 << 59] * 15
    with pytest.raises(CountOverflow):
        meet(ours, ours._replace(ways=np.full_like(keys, 1 << 61)), [], [])


def test_sums_over_sets_of_edges_are_checked() -> None:
    """Complete a state by one other after either of two sets of edges."""
    ours = make_first_layer([END, FREE, FREE, END, FREE])
    theirs = make_first_layer([FREE, END, END, FREE, FREE])
    edges = [(0, 1), (0, 2), (1, 3), (2, 3)]
    most = (1 << 62) - 1
    assert meet(ours, theirs._replace(ways=theirs.ways * most), edges, [])[0] == [2 * most]
    with pytest.raises(CountOverflow):
        meet(ours, theirs._replace(ways=theirs.ways * (most + 1)), edges, [])
