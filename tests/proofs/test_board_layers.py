"""The second search of boards: layers of a plain search, its numbers, and false tables of bits."""

import random
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from puzzle_tablebase.pipeline.proofs import board_layers
from puzzle_tablebase.pipeline.proofs.board_layers import (
    WORD_STATES,
    Numbering,
    compare_words,
    iter_layers,
)
from puzzle_tablebase.puzzles.sliding import PUZZLE, SlidingBoard, parse_board
from tests.support import sliding_oracle as oracle
from tests.support.build_recorder import build_tables
from tests.support.false_tables import flip_state
from tests.support.reference_numbers import numbers
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import falsify, get_refutation


def list_depths(board: SlidingBoard, goal: str) -> list[int]:
    """List the distance of each state by its rank, as the second search finds it."""
    depth = np.full(board.size, 255)
    numbering = Numbering(board.height, board.width)
    for distance, layers in iter_layers(numbering, goal):
        for place in layers.list_places(distance):
            words = layers.words[place][:, None].view(np.uint8)
            bits = np.unpackbits(words, axis=1, bitorder="little")[:, :WORD_STATES]
            found = place * board.even_permutations + np.flatnonzero(bits)
            assert (depth[found] == 255).all()
            depth[found] = distance
    return depth.tolist()


def list_layer_sizes() -> str:
    """List the number of states at each distance, and the states of the last one."""
    board = parse_board("2x4")
    depths = np.array(list_depths(board, board.example))
    return str([np.bincount(depths).tolist(), np.flatnonzero(depths == depths.max()).tolist()])


@pytest.mark.parametrize("name", ["2x4", "3x3", pytest.param("2x5", marks=pytest.mark.nightly)])
def test_layers_are_those_of_a_plain_search(name: str) -> None:
    board = parse_board(name)
    for goal in board.goals if board.cells < 9 else [board.example]:
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
    assert (counts, len(counts) - 1) == (numbers("sliding.txt", "sliding_2x5_10"), 55)


@pytest.mark.parametrize(
    ("bits", "is_set", "first_wrong"),
    [
        ([7, 0, 0], False, (-1, 0)),
        ([0, 0b111, 1 << 59], True, (-1, 0)),
        ([0, 0b010, 1 << 59], False, (2, 59)),
        ([0, 0b001, 0], True, (1, 2)),
    ],
)
def test_the_first_wrong_bit_is_found(
    bits: list[int], is_set: bool, first_wrong: tuple[int, int]
) -> None:
    layer = np.array([0, 0b101, 1 << 59], dtype=np.uint64)
    assert compare_words(layer, np.array(bits, dtype=np.uint64), is_set) == (3, *first_wrong)


@pytest.mark.parametrize(("height", "width"), [(2, 3), (2, 4), (3, 3), (3, 4)])
def test_numbers_are_positions_in_a_list_of_all_orders(height: int, width: int) -> None:
    """List the orders of the tiles in ascending order, and look states up in the list."""
    numbering, cells = Numbering(height, width), height * width
    tiles = [f"{tile:x}" for tile in range(1, cells)]
    # of a large board, only the last tiles are out of order
    fixed = max(0, len(tiles) - 7)
    orders = [[*tiles[:fixed], *order] for order in permutations(tiles[fixed:])]
    draw = random.Random(height * width)
    for number, order in draw.sample([*enumerate(orders)], min(len(orders), 400)):
        place = draw.randrange(cells)
        # cell by cell in columns, then read in rows
        marks = [*order[:place], "0", *order[place:]]
        rows = [marks[row::height] for row in range(height)]
        state = "".join(mark for row in rows for mark in row)
        is_odd = sum(a > b for at, a in enumerate(order) for b in order[at:]) % 2 == 1
        assert numbering.read_state(state) == (place, number // 2, is_odd)
        assert numbering.write_state(place, number // 2, is_odd) == state


def test_states_that_reach_the_goal_have_all_numbers() -> None:
    numbering, goal = Numbering(2, 4), "12345670"
    reached = oracle.distances(goal, 2, 4)
    numbers = [numbering.read_state(state)[:2] for state in reached]
    assert sorted(place * numbering.orders + at for place, at in numbers) == [*range(20_160)]


# ---- false tables of a bit for each state ---------------------------------------------------

NAME, GOAL = "sliding_2x4_8", "12345670"


@pytest.fixture
def bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which a board of 8 cells is treated as large."""
    treat_as_large(monkeypatch, 8)
    build_tables(tmp_path, PUZZLE, *PUZZLE.find_tables("sliding_2x4"))
    return tmp_path


def test_a_wrong_bit_is_named_with_its_state(bits: Path) -> None:
    state = SlidingBoard(2, 4, GOAL).unrank(7777)
    distance = oracle.distances(GOAL, 2, 4)[state]
    error = falsify(bits, NAME, flip_state(7777))
    assert (error.row, error.content) == (7777, {"state": state, "distance": distance})


def test_values_that_go_in_a_circle_are_detected(bits: Path) -> None:
    """Add 2 to the values of all states but those near the goal: most neighbours still agree."""
    board, known = parse_board("2x4"), oracle.distances(GOAL, 2, 4)
    far = [board.rank(state) for state, distance in known.items() if distance > 12]
    assert falsify(bits, NAME, flip_state(*far)).content["distance"] == 13


def test_states_out_of_reach_are_detected(bits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_layers, "list_moves", lambda *arguments: [])
    error = get_refutation(bits, NAME)
    assert (error.found, error.expected) == ("states that reach the goal 2", 20_160)
