"""The second search of boards, with a bit for each state, finds the layers of a plain search."""

import numpy as np
import pytest

from puzzle_tablebase.pipeline.proofs import board_layers
from puzzle_tablebase.pipeline.proofs.board_layers import (
    WORD_STATES,
    Numbering,
    compare_words,
    iter_layers,
)
from puzzle_tablebase.puzzles.sliding import SlidingBoard, parse_board
from tests.support import sliding_oracle as oracle
from tests.support.reference_numbers import numbers


def list_depths(board: SlidingBoard, goal: str) -> list[int]:
    """List the distance of each state by its rank, as the second search finds it."""
    depth = np.full(board.size, 255)
    numbering = Numbering(board.height, board.width)
    for distance, layers in iter_layers(numbering, goal):
        for place in layers.list_places(distance):
            words = layers.words[place][:, None].view(np.uint8)
            bits = np.unpackbits(words, axis=1, bitorder="little")[:, :WORD_STATES]
            found = place * board.orders + np.flatnonzero(bits)
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
