"""The second search of boards, with a bit for each state, finds the layers of a plain search."""

from itertools import permutations

import numpy as np
import pytest

from pipeline.verify import board_layers
from pipeline.verify.board_layers import (
    Layers,
    compare_words,
    iter_layers,
    join_bits,
    list_head_parities,
    list_moves,
    list_parities,
    split_records,
)
from pipeline.verify.sliding import FARTHEST, find_known_layers
from tablebase.puzzles.sliding import SlidingBoard, parse_board
from tests import first, long_run
from tests.support import sliding_oracle as oracle


def list_depths(board: SlidingBoard, goal: str) -> list[int]:
    """List the distance of each state by its rank, as the second search finds it."""
    depth = np.full(board.size, 255)
    for distance, layers in iter_layers(board, goal):
        for place in layers.list_places(distance):
            part, found = depth[place * board.orders :], join_bits(layers.words[place])
            assert (part[: board.orders][found] == 255).all()
            part[: board.orders][found] = distance
    return depth.tolist()


def list_layer_sizes() -> str:
    """List the number of states at each distance, and the states of the last one."""
    board = parse_board("2x4")
    depths = np.array(list_depths(board, board.example))
    return str([np.bincount(depths).tolist(), np.flatnonzero(depths == depths.max()).tolist()])


@pytest.mark.parametrize("name", [*first(1, ["2x4", "3x3"]), pytest.param("2x5", marks=long_run)])
def test_layers_are_those_of_a_plain_search(name: str) -> None:
    board = parse_board(name)
    for goal in board.goals if board.cells < 10 else [board.example]:
        known = oracle.distances(goal, board.height, board.width)
        depths = list_depths(board, goal)
        assert len(depths) == len(known)
        assert all(depths[board.rank(state)] == known[state] for state in known)


def test_tasks_and_chunks_may_have_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    board = parse_board("2x4")
    whole = list_depths(board, board.example)
    monkeypatch.setattr(board_layers, "TASK_WORDS", 25)
    monkeypatch.setattr(board_layers, "CHUNK_WORDS", 11)
    assert list_depths(board, board.example) == whole


def test_every_state_of_2x5_is_as_far_as_published() -> None:
    board = parse_board("2x5")
    counts = np.bincount(list_depths(board, board.example)).tolist()
    assert (counts, len(counts) - 1) == (find_known_layers("sliding_2x5_10")[1], FARTHEST["2x5"])


def test_parts_are_all_words_of_the_places_of_a_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_layers, "TASK_WORDS", 20)
    layers = Layers(parse_board("2x4"), "12345670")
    assert layers.list_places(0) == [0, 3, 4, 7]
    assert layers.list_parts(1) == [
        (place, first, end)
        for place in (1, 2, 5, 6)
        for first, end in ((0, 20), (20, 40), (40, 42))
    ]


@pytest.mark.parametrize(("name", "step"), [("2x4", 1), ("3x3", 1), ("2x5", 4)])
def test_moves_come_from_where_the_tile_was(name: str, step: int) -> None:
    """Compare every move from line to line with moves of lists of tiles, in part of the words."""
    board, tiles = parse_board(name), parse_board(name).cells - 1
    orders = [*permutations(range(tiles))]
    numbers = {order: at // 2 for at, order in enumerate(orders)}
    size = len(orders) // 120
    layer = np.random.default_rng(3).integers(0, 1 << 60, size, dtype=np.uint64)
    begin, end = size // 5, size // 5 + min(100, size // 2)
    heads, is_set = list_head_parities(tiles)[begin:end], join_bits(layer)
    for target in range(0, board.cells, step):
        for source, collect, arguments in list_moves(board, target):
            reached = np.zeros(end - begin, dtype=np.uint64)
            collect(layer, begin, reached, heads, *arguments)
            expected = []
            for number in range(60 * begin, 60 * end):
                order = min(orders[2 * number : 2 * number + 2], key=is_odd)
                before = [*order[:target], None, *order[target:]]
                before[source], before[target] = None, before[source]
                came_from = tuple(tile for tile in before if tile is not None)
                expected.append(is_set[numbers[came_from]])
            assert join_bits(reached).tolist() == expected


def is_odd(order: tuple[int, ...]) -> bool:
    return sum(a > b for at, a in enumerate(order) for b in order[at:]) % 2 == 1


@pytest.mark.parametrize("name", ["2x4", "3x3"])
def test_parities_are_those_of_the_states(name: str) -> None:
    board = parse_board(name)
    for goal in board.goals:
        states = [board.unrank(place * board.orders, goal) for place in range(board.cells)]
        assert list_parities(board, goal).tolist() == [board.is_odd(state) for state in states]


def test_words_of_records_are_their_bits() -> None:
    records = np.random.default_rng(7).integers(0, 256, (4, 45), dtype=np.uint8)
    words = split_records(records)
    bits = np.unpackbits(records.ravel(), bitorder="little")
    assert words.tolist() == [
        sum(1 << at for at in range(60) if bits[60 * word + at]) for word in range(24)
    ]
    assert join_bits(words).tolist() == bits.tolist()


@pytest.mark.parametrize(
    ("layer", "bits", "is_set", "expected"),
    [
        ([0, 0b101, 1 << 59], [7, 0, 0], False, (3, -1)),
        ([0, 0b101, 1 << 59], [0, 0b111, 1 << 59], True, (3, -1)),
        ([0, 0b101, 1 << 59], [0, 0b010, 1 << 59], False, (3, 2)),
        ([0, 0b101, 1 << 59], [0, 0b100, 0], True, (3, 1)),
        ([1, 3], [1, 2], False, (3, 0)),
    ],
)
def test_the_first_word_with_a_wrong_bit_is_found(
    layer: list[int], bits: list[int], is_set: bool, expected: tuple[int, int]
) -> None:
    states, table = (np.array(each, dtype=np.uint64) for each in (layer, bits))
    assert compare_words(states, table, is_set) == expected
