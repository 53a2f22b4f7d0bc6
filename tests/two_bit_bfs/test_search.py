"""The search in words of bits equals the oracle, bit for bit, on boards of 2 and 3 rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.pipeline.parallel import run_in_threads
from puzzle_tablebase.puzzles.sliding import SlidingBoard, parse_board
from puzzle_tablebase.two_bit_bfs import search
from puzzle_tablebase.two_bit_bfs.search import iter_word_records, search_words
from puzzle_tablebase.two_bit_bfs.space import BLOCK, WordSpace
from tests import first
from tests.support import sliding_oracle as oracle
from tests.support.reference_numbers import numbers


def search_bits(space: WordSpace, threads: int) -> tuple[list[int], npt.NDArray[np.uint8]]:
    """Return the layers' numbers of states, and bit 1 of each depth; require that no other is 1."""
    layers, planes = search_words(space, threads, run_in_threads)
    records = np.concatenate([*iter_word_records(planes)])
    bits = np.unpackbits(records, axis=1, bitorder="little").reshape(space.blocks, -1)
    used = bits[:, : space.states]
    assert used.sum() == bits.sum()
    return layers, used.ravel()


BOARDS = [parse_board(name) for name in ("2x2", "2x3", "2x4", "3x3", "2x5")]
CASES = [(board, goal) for board in BOARDS for goal in board.goals]


@pytest.mark.parametrize(("board", "goal"), first(6, CASES, rest=pytest.mark.nightly), ids=str)
def test_bit_1_of_every_depth_is_the_oracles(
    board: SlidingBoard, goal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Expect it of any number of threads, and of tasks that are smaller than a chunk."""
    distances = oracle.distances(goal, board.height, board.width)
    expected = np.empty(len(distances), dtype=np.uint8)
    expected[[board.rank(state) for state in distances]] = [*distances.values()]
    for threads, rows in ((1, search.MAX_TASK_ROWS), (2, search.MAX_TASK_ROWS), (5, 10)):
        monkeypatch.setattr(search, "MAX_TASK_ROWS", rows)
        layers, bits = search_bits(board.make_words(goal), threads)
        assert layers == np.bincount(expected).tolist()
        assert np.array_equal(bits, expected >> 1 & 1)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["3x4", "2x6"])
def test_every_layer_of_a_board_of_12_cells_is_as_large_as_published(name: str) -> None:
    board = parse_board(name)
    space = board.make_words(board.example)
    layers, _ = search_words(space, 2, run_in_threads)
    published = numbers("sliding.txt", board.tables[0].name)
    assert layers[: len(published)] == published
    assert sum(layers) == space.size


def search_small_boards() -> str:
    """Return the layers and bits of some boards, as text."""
    boards = [parse_board(name) for name in ("2x2", "2x3", "2x4")]
    found = [search_bits(board.make_words(board.example), 2) for board in boards]
    return str([(layers, bits.tolist()) for layers, bits in found])


def test_too_deep_a_search_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "UNREACHABLE", 36)
    board = parse_board("2x4")
    with pytest.raises(SearchError):
        search_words(board.make_words(board.example), 2, run_in_threads)


def test_states_that_no_move_reaches_are_reported() -> None:
    board = parse_board("2x3")
    space = board.make_words(board.example)
    moves = [moves_to[moves_to[:, BLOCK] < 3] for moves_to in space.moves]
    with pytest.raises(SearchError):
        search_words(space._replace(moves=moves), 2, run_in_threads)
