"""Counting without lists: matchings and keys, the join, all small boards, sums that do not fit."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.making import cycles
from pipeline.search import sweep
from pipeline.search.bits import lowest, ones
from pipeline.search.frontier import (
    END,
    ENDS,
    FREE,
    MATCHING_BITS,
    MATCHINGS,
    MOST_PAIRS,
    Step,
    all_partners,
    following,
    numbered,
    unpack,
)
from pipeline.search.halves import half
from pipeline.search.join import completions, dropping
from pipeline.search.sweep import Layer, TooMany, back, first_layer, forward, in_table, place_of
from pipeline.work import Work
from tablebase.errors import SearchError
from tablebase.puzzles.knight import Board
from tests.support import oracles
from tests.support.shell import uncompiled
from tests.support.tour_lists import all_tours

UPRIGHT = [(files, ranks) for files in range(1, 6) for ranks in range(files, 6)]
UPRIGHT += [(3, 6), (3, 7), (3, 8), (4, 6)]


def counts(files: int, ranks: int, *, paths: bool = True) -> cycles.Counts:
    with ThreadPoolExecutor(2) as pool:
        return cycles.counts(Board(files, ranks), Work(pool, 2), paths=paths)


# ---- boards ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("files", "ranks"), UPRIGHT)
def test_a_board_has_as_many_tours_as_are_listed(files: int, ranks: int) -> None:
    found = counts(files, ranks)
    listed = all_tours(files, ranks)
    assert found.tours is not None
    assert found.tours.tolist() == [len(tours) for tours in listed]
    closed = [sum(oracles.is_closed(files, tour) for tour in tours) for tours in listed]
    assert closed == [found.closed] * (files * ranks)


def test_closed_tours_are_counted_alone() -> None:
    assert counts(3, 10, paths=False) == cycles.Counts(None, 32)
    assert counts(5, 6, paths=False) == cycles.Counts(None, 16)


def test_layers_that_are_cut_in_slices_count_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = counts(4, 6)
    monkeypatch.setattr(cycles, "SLICE", 7)
    monkeypatch.setattr(sweep, "PIECE", 5)
    sliced = counts(4, 6)
    assert whole.tours is not None
    assert sliced.tours is not None
    assert (whole.tours.tolist(), whole.closed) == (sliced.tours.tolist(), sliced.closed)


# ---- sums that do not fit -------------------------------------------------------------------


def tripled(layer: Layer, times: int) -> Layer:
    return Layer(layer.keys, layer.ways * times)


def test_ways_that_do_not_fit_are_refused() -> None:
    """On 3x4, two states lead to one: their ways are added up."""
    steps = half([[to for to in Board(3, 4).neighbours(at) if to > at] for at in range(12)],
                 left=True, paths=True)  # fmt: skip
    layer = steps.first
    many = [layer := forward(layer, step, lambda: None) for step in steps.steps]
    at = next(n for n, (one, other) in enumerate(pairwise(many))
              if other.ways.max() > one.ways.max())  # fmt: skip
    step, full = steps.steps[at + 1], (1 << 63) // int(many[at + 1].ways.max())
    assert forward(tripled(many[at], full - 1), step, lambda: None).ways.min() > 0
    with pytest.raises(TooMany):
        forward(tripled(many[at], full + 1), step, lambda: None)


@pytest.mark.parametrize(("ways", "onward"), [(1 << 32, 1 << 31), (1 << 62, 2), (3, 1 << 62)])
def test_cycles_that_do_not_fit_are_refused(ways: int, onward: int) -> None:
    assert sweep.cycles(np.array([ways, 0]), np.array([onward // 2, 1])) == ways * (onward // 2)
    with pytest.raises(TooMany):
        sweep.cycles(np.array([ways, ways]), np.array([onward // 2, onward // 2]))


def test_onward_numbers_that_do_not_fit_are_refused() -> None:
    step = half([[1, 2], [2], []], left=True, paths=True).steps[0]
    layer = first_layer([FREE] * 3)
    after = forward(layer, step, lambda: None)
    onward = np.full(len(after.keys), (1 << 62) // len(after.keys))
    _, uses = back(layer, step, *in_table(after.keys, onward))
    assert uses.max() > 1 << 61
    for ways, each in ((1, onward * 3), (4, onward)):
        with pytest.raises(TooMany):
            back(tripled(layer, ways), step, *in_table(after.keys, each))


def test_a_board_with_too_many_tours_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pipeline.search.sweep.MOST", 10.0)
    with pytest.raises(SearchError, match=r"^The tours of 4x5 are more than a table can hold"):
        counts(4, 5)


# ---- states ---------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [1, 2, 3, 0b1011000, 1 << 37, (1 << 38) - 1])
def test_bits_of_a_word(word: int) -> None:
    assert ones(word) == bin(word).count("1")
    assert bin(word)[::-1].index("1") == lowest(word)


@pytest.mark.parametrize("pairs", range(1, 6))
def test_matchings_have_their_numbers_in_order(pairs: int) -> None:
    """All of them, by the partner of the first end, then by that of the next that is left."""
    partners = all_partners(MOST_PAIRS - 2)
    partner, ends = np.zeros((2, 20), dtype=np.int64)
    needs = ENDS & ((1 << 4 * pairs) - 1)
    before: list[int] = []
    for matching in range(int(MATCHINGS[pairs])):
        assert unpack(needs << MATCHING_BITS | matching, partners, partner, ends) == 2 * pairs
        assert ends[: 2 * pairs].tolist() == [*range(2 * pairs)]
        found = partner[: 2 * pairs].tolist()
        assert all(found[end] != end == found[found[end]] for end in range(2 * pairs))
        # the partners of ends that are not yet taken
        said = [other for end, other in enumerate(found) if other > end]
        assert said > before
        before = said
        assert numbered(needs, partner) == matching


def test_a_state_is_followed_by_all_that_can_be_laid() -> None:
    """A free cell, two ends of one piece, and another free cell."""
    needs = FREE | END << 2 | END << 4 | FREE << 6
    step = Step(4, 0, np.array([1, 2, 3]), True, all_partners(2))
    keys = np.zeros(20, dtype=np.int64)
    joined = np.zeros((20, 2), dtype=np.int64)
    partner, ends = np.zeros((2, 20), dtype=np.int64)
    many = following(needs << MATCHING_BITS, step, partner, ends, keys, joined)
    # 1 and 2 are partners: joined to both, the first cell would close a cycle
    assert joined[:many].tolist() == [[0, 2], [1, 2]]
    for key, other in zip(keys[:many].tolist(), (2, 1), strict=True):
        needs = END << 2 * (other - 1) | END << 4 | FREE << 6
        assert key == needs << MATCHING_BITS


@given(st.lists(st.integers(1, (1 << 59) - 1), unique=True, max_size=300))
def test_a_table_finds_its_keys(keys: list[int]) -> None:
    numbers = np.arange(len(keys)) + 1
    table, found = in_table(np.array(keys, dtype=np.int64), numbers)
    places = [place_of(key, table) for key in keys]
    assert found[places].tolist() == numbers.tolist()
    others = {key ^ 1 for key in keys} - {0, *keys}
    assert all(table[place_of(key, table)] == 0 for key in others)


def test_keys_are_spread_over_a_table() -> None:
    """Keys of neighbouring states differ in few bits; each still finds a place nearby."""
    later = [[to for to in Board(5, 6).neighbours(at) if to > at] for at in range(30)]
    made = half(later, left=True, paths=True)
    layer = made.first
    for step in made.steps:
        layer = forward(layer, step, lambda: None)
    table, _ = in_table(layer.keys, layer.ways)
    runs = np.diff(np.flatnonzero(table == 0))
    assert len(layer.keys) > 30_000
    assert runs.max() < 500


# ---- the join -------------------------------------------------------------------------------


def matchings(ends: tuple[int, ...]) -> list[dict[int, int]]:
    """Every way to pair some ends, in the order of their numbers."""
    if not ends:
        return [{}]
    first, *rest = ends
    return [
        {first: other, other: first, **more}
        for other in rest
        for more in matchings(tuple(end for end in rest if end != other))
    ]


def closes(one: dict[int, int], other: dict[int, int]) -> bool:
    """Whether the pieces of two matchings, end to end, are one cycle."""
    at, seen = 0, 0
    while True:
        at, seen = other[one[at]], seen + 2
        if at == 0:
            return seen == len(one)


@pytest.mark.parametrize("pairs", range(1, 6))
def test_matchings_complete_those_that_close_with_them(pairs: int) -> None:
    random = np.random.default_rng(pairs)
    every = matchings(tuple(range(2 * pairs)))
    needs = (ENDS & ((1 << 4 * pairs) - 1)) << MATCHING_BITS
    keys = np.sort(random.choice(len(every), min(len(every), 40), replace=False))
    own = np.sort(random.choice(len(every), min(len(every), 40), replace=False))
    ways = random.integers(1, 1000, len(keys))
    found = completions(own + needs, Layer(keys + needs, ways), dropping(pairs))
    assert found.tolist() == [
        sum(
            int(way)
            for key, way in zip(keys.tolist(), ways, strict=True)
            if closes(every[mine], every[key])
        )
        for mine in own.tolist()
    ]


def test_states_that_need_something_else_do_not_meet() -> None:
    both, one = (needs << MATCHING_BITS for needs in (0b0101, 0b010100))
    other = Layer(np.array([both]), np.array([7]))
    assert completions(np.array([both, one]), other, dropping(1)).tolist() == [7, 0]
    nothing = Layer(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
    assert completions(np.array([both]), nothing, dropping(1)).tolist() == [0]


# ---- other graphs, and the compiler off -----------------------------------------------------


@st.composite
def alike_from_both_ends(draw: st.DrawFn) -> list[list[int]]:
    """The later neighbours in a graph that looks the same when it is numbered backwards."""
    squares = draw(st.integers(7, 11))
    width = draw(st.integers(2, 4))
    pairs = [pair for pair in combinations(range(squares), 2) if pair[1] - pair[0] <= width]
    kept = {pair for pair in pairs if draw(st.integers(0, 4))}
    turned = {(squares - 1 - b, squares - 1 - a) for a, b in kept}
    whole = kept | turned | {(0, width), (squares - 1 - width, squares - 1)}
    return [[b for a, b in sorted(whole) if a == square] for square in range(squares)]


class Graph:
    """What is counted on, in place of a board."""

    def __init__(self, later: list[list[int]]) -> None:
        self.files, self.squares = 3, len(later)
        self.near = [
            [*(b for b in range(a) if a in later[b]), *later[a]] for a in range(self.squares)
        ]

    def neighbours(self, square: int) -> list[int]:
        return self.near[square]

    def paths(self, path: tuple[int, ...]) -> list[tuple[int, ...]]:
        if len(path) == self.squares:
            return [path]
        return [
            whole
            for to in self.near[path[-1]]
            if to not in path
            for whole in self.paths((*path, to))
        ]


@given(alike_from_both_ends())
def test_a_random_graph_has_the_paths_that_the_obvious_search_finds(later: list[list[int]]) -> None:
    graph = Graph(later)
    with ThreadPoolExecutor(1) as pool:
        found = cycles.counts(graph, Work(pool, 1), paths=True)  # type: ignore[arg-type]
    every = [path for start in range(graph.squares) for path in graph.paths((start,))]
    begun = Counter(path[0] for path in every)
    assert found.tours is not None
    assert found.tours.tolist() == [begun[start] for start in range(graph.squares)]
    closed = [path for path in every if path[0] == 0 and path[-1] in graph.near[0]]
    assert found.closed == len(closed)


def small_boards() -> str:
    found = [counts(files, ranks) for files, ranks in ((3, 4), (4, 5))]
    return json.dumps([[of.tours is not None and of.tours.tolist(), of.closed] for of in found])


def test_the_compiler_off_counts_the_same() -> None:
    assert uncompiled(small_boards) == small_boards()
