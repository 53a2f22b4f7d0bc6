"""The tour ranker: the layers of a sweep in plain Python, compared with an obvious search."""

import random
from collections.abc import Iterable
from itertools import accumulate, chain, combinations, pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import make_ranking_table
from puzzle_tablebase.puzzles.knight.tour_ranker import Sweep, TourRanker
from puzzle_tablebase.queries.files import IndexReader
from puzzle_tablebase.stores import Folder
from puzzle_tablebase.tour_frontier.keys import encode_layer
from puzzle_tablebase.tour_frontier.layers import InconsistentLayers, LayerReader
from puzzle_tablebase.tour_frontier.states import FREE, State, step_back, step_forward
from tests import usual_or_nightly
from tests.support import oracles

COUNTS = {"10x3": 16, "5x6": 8, "6x5": 8, "6x6": 9862}


def open_ranker(folder: Path, board: str, *, paths: bool = False) -> TourRanker:
    table = make_ranking_table(parse_board(board), closed=not paths)
    index = IndexReader(Folder(folder), table)
    return TourRanker(parse_board(board), LayerReader(index.read_record, index.count), paths=paths)


@pytest.mark.parametrize("board", ["10x3", "5x6", "6x5"])
def test_ranks_and_closed_tours_are_one_to_one(ranked_boards: Path, board: str) -> None:
    numbers, sides = open_ranker(ranked_boards, board), parse_board(board)
    assert numbers.count_tours() == COUNTS[board]
    result = [numbers.unrank(number, 1) for number in range(numbers.count_tours())]
    drawn = {frozenset(map(frozenset, pairwise([*tour, tour[0]]))) for tour in result}
    assert drawn == oracles.knight_closed_ranks(sides.files, sides.ranks)
    assert [numbers.rank(squares) for squares in result] == [*range(numbers.count_tours())]


STARTS = [
    ("5x4", range(20)),
    ("5x5", [12]),
    ("8x3", [2]),
    pytest.param("8x3", range(24), marks=pytest.mark.nightly),
    pytest.param("5x5", range(25), marks=pytest.mark.nightly),
]


@pytest.mark.parametrize(("board", "starts"), STARTS)
def test_ranks_and_open_tours_are_one_to_one(
    ranked_boards: Path, board: str, starts: Iterable[int]
) -> None:
    numbers, sides = open_ranker(ranked_boards, board, paths=True), parse_board(board)
    for start in starts:
        result = [numbers.unrank(number, start) for number in range(numbers.count_tours(start))]
        assert sorted(map(tuple, result)) == oracles.knight_tours(sides.files, sides.ranks, start)
        assert [numbers.rank(squares) for squares in result] == [*range(len(result))]


@pytest.mark.parametrize("board", ["5x4", "5x5", "7x7", "12x3", "8x7"])
def test_symmetric_starts_share_a_route(board: str) -> None:
    knight_board = parse_board(board)
    sweep = Sweep(knight_board, paths=True)
    for start in range(knight_board.squares):
        route, numbers = sweep.find_route(start), sweep.map_squares(start)
        assert {sweep.find_route(image) for image in knight_board.find_images(start)} == {route}
        assert (route is None) == bool(knight_board.squares % 2 and knight_board.is_light(start))
        if route:
            assert numbers[start] == route.start < sweep.longer + sweep.rows
    layers = [layer for route in sweep.routes for layer in (*route.layers, route.cut)]
    assert {*layers} | {*range(sweep.longer + 1)} == {*range(sweep.routes[-1].cut + 1)}


def test_a_closed_tour_has_one_rank_from_any_square(ranked_boards: Path) -> None:
    numbers, draw = open_ranker(ranked_boards, "6x6"), random.Random(6)
    assert numbers.count_tours() == COUNTS["6x6"]
    tried = range(numbers.count_tours())
    for number in draw.sample(tried, usual_or_nightly(60, numbers.count_tours())):
        squares = numbers.unrank(number, draw.randrange(36))
        oracles.knight_check(6, 6, squares)
        assert oracles.is_closed(6, squares)
        assert squares[1] < squares[-1]
        turn = draw.randrange(36)
        assert numbers.rank([*squares[turn:], *squares[:turn]][:: draw.choice((1, -1))]) == number


@pytest.mark.parametrize("finished", [0, 1])
def test_step_back_inverts_step_forward(finished: int) -> None:
    """Require that stepping back from a state yields exactly the steps that lead to it."""
    board, cells = KnightBoard(4, 5), 9 + finished
    layer = {State([FREE] * cells, {}).key}
    for square in range(12 - 6 * finished):
        others = [0] * finished
        others += [to - square + finished for to in board.list_neighbours(square) if to > square]
        sets = [*chain.from_iterable(combinations(others, size) for size in range(3))]
        led = {
            (key, laid): step_forward(key, laid, cells, finished) for key in layer for laid in sets
        }
        layer = {key for key in led.values() if key is not None}
        for key in layer:
            back = [*step_back(key, others, cells, finished)]
            assert len({*back}) == len(back)
            for then, laid in back:
                assert step_forward(then, laid, cells, finished) == key
            assert {step for step, to in led.items() if to == key} <= {*back}
    assert layer


# ---- records --------------------------------------------------------------------------------


def make_records(layers: list[dict[int, int]], size: int) -> list[tuple[int, int, int, bytes]]:
    """Return layers as a file stores them, about so many states in a record."""
    result = []
    for number, layer in enumerate(layers):
        keys, numbers = np.array(sorted(layer.items())).T
        parts = encode_layer(keys, numbers, 18 * size)
        records = zip(*(part.tolist() for part in parts), strict=True)
        result += [(number, *record) for record in records]
    return result


@given(
    st.lists(
        st.dictionaries(st.integers(0, 1 << 60), st.integers(1, 1 << 40), min_size=1, max_size=20),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 6),
    st.integers(0, 1 << 60),
)
def test_layers_return_the_written_states(
    written: list[dict[int, int]], size: int, other: int
) -> None:
    records = make_records(written, size)
    layers = LayerReader(records.__getitem__, len(records))
    for number, layer in enumerate(written):
        keys = sorted(layer)
        sums = [0, *accumulate(layer[key] for key in keys)]
        states = [(key, before, layer[key]) for key, before in zip(keys, sums, strict=False)]
        assert [*layers.iter_states(number, 0, 1 << 62)] == states
        assert layers.sum_layer(number) == sums[-1]
        between = [state for state in states if other <= state[0] < 2 * other]
        assert [*layers.iter_states(number, other, 2 * other)] == between
        if other not in layer:
            assert layers.find_state(number, other) == (0, 0)
        for key, before, count in states:
            assert layers.find_state(number, key) == (before, count)
            for within in (before, before + count - 1):
                assert layers.find_state_at(number, within) == (key, before, count)
        with pytest.raises(InconsistentLayers):
            layers.find_state_at(number, sums[-1])


def test_empty_layers_have_no_records_and_no_sum() -> None:
    first, _, last = records = make_records([{5: 7}, {6: 1}, {3: 2, 9: 4}], 2)
    layers = LayerReader([first, last].__getitem__, 2)
    assert layers.sum_layer(1) == 0
    assert [*layers.iter_states(1, 0, 1 << 62)] == []
    assert layers.sum_layer(2) == 6
    assert LayerReader(records.__getitem__, 3).sum_layer(1) == 1


def test_truncated_records_and_impossible_sums_are_reported() -> None:
    ((layer, key, total, packed),) = make_records([{5: 300, 7: 1}], 2)
    layers = LayerReader([(layer, key, total, packed + b"\x02")].__getitem__, 1)
    with pytest.raises(InconsistentLayers):
        layers.find_state(0, 5)
    # more tours than a sample can be drawn from
    with pytest.raises(InconsistentLayers):
        LayerReader([(layer, key, 1 << 62, packed)].__getitem__, 1).sum_layer(layer)


# ---- which boards ---------------------------------------------------------------------------


def test_boards_without_tours_match_the_counts(outputs: Path) -> None:
    counts = pl.read_parquet(outputs / "knight_counts.parquet")
    rows = counts.group_by("board", "files", "ranks").agg(pl.col("tours", "closed").sum())
    for row in rows.iter_rows(named=True):
        board = KnightBoard(row["files"], row["ranks"])
        assert board.has_tours() == (row["tours"] > 0), board
        assert board.has_closed_tours() == (row["closed"] > 0), board
