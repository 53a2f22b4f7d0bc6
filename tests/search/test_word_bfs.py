"""The search in words of bits equals the oracle, state for state, on boards of 2, 3 and 4 rows.

The oracle plays the game on text, and ranks an order of the tiles by looking it up in the list of
all orders; for larger boards, the ranks are those of the rules.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest

from pipeline.search import word_bfs
from pipeline.search.word_bfs import (
    MAX_TASK_ROWS,
    estimate_search_bytes,
    iter_word_records,
    search_words,
)
from pipeline.tasks import run_in_threads
from pipeline.verify.sliding import find_known_layers
from tablebase.errors import SearchError
from tablebase.puzzles.sliding import parse_board
from tablebase.word_space import BLOCK, ROW_STATES, WordSpace, make_word_space
from tests import first, long_run
from tests.support import sliding_oracle as oracle

CHARACTERS = "0123456789abcdef"


@cache
def rank_orders(cells: int) -> dict[tuple[str, ...], int]:
    """Return the number of each order of the tiles; an even and an odd one share each."""
    return {order: at // 2 for at, order in enumerate(permutations(CHARACTERS[1:cells]))}


def read_places(state: str, rows: int, columns: int) -> tuple[int, tuple[str, ...]]:
    """Return the blank's place and the order of the tiles, column by column."""
    cells = [state[row * columns + column] for column in range(columns) for row in range(rows)]
    return cells.index("0"), tuple(mark for mark in cells if mark != "0")


def rank_slowly(state: str, rows: int, columns: int) -> int:
    place, order = read_places(state, rows, columns)
    numbers = rank_orders(rows * columns)
    return place * (len(numbers) // 2) + numbers[order]


def make_space(rows: int, columns: int, goal: str) -> WordSpace:
    place, order = read_places(goal, rows, columns)
    swaps = sum(a > b for at, a in enumerate(order) for b in order[at + 1 :])
    return make_word_space(
        rows, rows * columns, place, swaps % 2 == 1, rank_slowly(goal, rows, columns)
    )


def search_depths(
    space: WordSpace, threads: int = 2, max_task_rows: int = MAX_TASK_ROWS
) -> npt.NDArray[np.uint8]:
    """Return all depths; require that the layers' sizes and the records follow from them."""
    depth = np.full(space.size, 255, dtype=np.uint8)
    layers: list[tuple[int, int]] = []
    planes = search_words(
        space,
        threads,
        lambda *layer: layers.append(layer),
        run_in_threads,
        depth,
        max_task_rows=max_task_rows,
    )
    assert layers == [*enumerate(np.bincount(depth).tolist())]
    records = np.concatenate([*iter_word_records(planes)])
    bits = np.unpackbits(records, axis=1, bitorder="little").reshape(space.blocks, -1)
    used = bits[:, : space.states]
    assert np.array_equal(used.ravel(), depth >> 1 & 1)
    assert used.sum() == bits.sum()
    return depth


def list_goals(rows: int, columns: int) -> list[str]:
    """List goals with the blank on each cell, whose tiles are in an order of either parity."""
    tiles = CHARACTERS[1 : rows * columns]
    goals = [f"{tiles[:at]}0{tiles[at:]}" for at in range(len(tiles) + 1)]
    return [*goals, tiles[1] + tiles[0] + tiles[2:] + "0"]


SMALL = [
    (rows, columns, goal)
    for rows, columns in [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2)]
    for goal in list_goals(rows, columns)
]
LARGE = [
    (rows, columns, goal)
    for rows, columns in [(3, 3), (2, 5)]
    for goal in parse_board(f"{rows}x{columns}").goals
]


@pytest.mark.parametrize(("rows", "columns", "goal"), SMALL)
def test_every_depth_is_the_oracles(rows: int, columns: int, goal: str) -> None:
    depth = search_depths(make_space(rows, columns, goal))
    expected = oracle.distances(goal, rows, columns)
    assert len(expected) == len(depth)
    for state, moves in expected.items():
        assert depth[rank_slowly(state, rows, columns)] == moves


@pytest.mark.parametrize(("rows", "columns", "goal"), first(1, LARGE, rest=long_run))
def test_every_depth_of_a_larger_board_is_the_oracles(rows: int, columns: int, goal: str) -> None:
    board = parse_board(f"{rows}x{columns}")
    depth = search_depths(board.make_words(goal))
    expected = oracle.distances(goal, rows, columns)
    assert len(expected) == len(depth)
    for state, moves in expected.items():
        assert depth[board.rank(state)] == moves


@long_run
@pytest.mark.parametrize("name", ["3x4", "2x6"])
def test_every_layer_of_a_board_of_12_cells_is_as_large_as_published(name: str) -> None:
    board, layers = parse_board(name), list[int]()
    space = board.make_words(f"{CHARACTERS[1:12]}0")
    search_words(space, 2, lambda level, count: layers.append(count), run_in_threads)
    published = find_known_layers(board.tables[0].name)[1]
    assert layers[: len(published)] == published
    assert sum(layers) == space.size


def test_threads_and_the_size_of_tasks_do_not_change_a_byte() -> None:
    board = parse_board("3x3")
    expected = search_depths(board.make_words(board.example), 1)
    for threads in (1, 5):
        # less than a chunk
        found = search_depths(board.make_words(board.example), threads, max_task_rows=10)
        assert np.array_equal(found, expected)


def search_small_boards() -> str:
    """Return the depths of some boards, as text."""
    boards = [parse_board(name) for name in ("2x2", "2x3", "2x4")]
    return str([search_depths(board.make_words(board.example)).tolist() for board in boards])


def test_a_failure_of_a_callback_ends_the_search() -> None:
    def tired(level: int, states: int) -> None:
        raise KeyboardInterrupt

    board = parse_board("2x4")
    with pytest.raises(KeyboardInterrupt):
        search_words(board.make_words(board.example), 2, tired, run_in_threads)


def test_too_deep_a_search_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_bfs, "UNREACHED", 36)
    board = parse_board("2x4")
    with pytest.raises(SearchError, match="36 or more moves"):
        search_words(board.make_words(board.example), 2, lambda *layer: None, run_in_threads)


def test_states_that_no_move_reaches_are_reported() -> None:
    board = parse_board("2x3")
    space = board.make_words(board.example)
    moves = [moves_to[moves_to[:, BLOCK] < 3] for moves_to in space.moves]
    with pytest.raises(SearchError, match="of 360 states were reached"):
        search_words(space._replace(moves=moves), 2, lambda *layer: None, run_in_threads)


def test_two_searches_run_in_parallel() -> None:
    board = parse_board("3x3")
    spaces = [board.make_words(board.example) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(search_depths, spaces)
    assert np.array_equal(first, second)


def test_the_estimate_of_memory_is_two_words_for_60_states() -> None:
    space = parse_board("3x4").make_words("123456789ab0")
    rows = space.size // ROW_STATES
    assert estimate_search_bytes(space.size) == rows * 98
