"""The search in words of bits equals the oracle, state for state, on boards of 2, 3 and 4 rows.

One oracle plays the game on text, and ranks an order of the tiles by looking it up in the list of
all orders; for larger boards another one keeps layers of whole states, as rows of an array.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import permutations
from math import factorial

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


def iter_layers(rows: int, columns: int, goal: str) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the states at each distance, a row of cells each: all neighbours that are new."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    pairs = [*zip(cells[:-1].flat, cells[1:].flat, strict=True)]
    pairs += zip(cells[:, :-1].flat, cells[:, 1:].flat, strict=True)
    weights = 16 ** np.arange(cells.size)
    before = np.empty(0, dtype=np.int64)
    layer = np.array([[int(mark, 16) for mark in goal]])
    while len(layer):
        yield layer
        numbers = [before]
        for one, other in [*pairs, *((other, one) for one, other in pairs)]:
            moved = layer[layer[:, one] == 0]
            moved[:, [one, other]] = moved[:, [other, one]]
            numbers.append(moved @ weights)
        # a neighbour of a layer is in the next one, or in the one before
        new = np.setdiff1d(np.concatenate(numbers), before)
        before, layer = layer @ weights, new[:, None] // weights % 16


def rank_layer(rows: int, columns: int, layer: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Rank states: count, for each tile, the smaller ones after it."""
    places = layer.reshape(-1, rows, columns).swapaxes(1, 2).reshape(len(layer), -1)
    tiles = places[places > 0].reshape(len(layer), -1)
    rank: npt.NDArray[np.int64] = np.zeros(len(layer), dtype=np.int64)
    for at in range(tiles.shape[1]):
        smaller = (tiles[:, at + 1 :] < tiles[:, at : at + 1]).sum(axis=1)
        rank = rank * (tiles.shape[1] - at) + smaller
    rank //= 2
    rank += places.argmin(axis=1) * (factorial(tiles.shape[1]) // 2)
    return rank


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


@pytest.mark.parametrize(("rows", "columns", "goal"), first(3, LARGE, rest=long_run))
def test_every_depth_of_a_larger_board_is_the_oracles(rows: int, columns: int, goal: str) -> None:
    depth = search_depths(parse_board(f"{rows}x{columns}").make_words(goal))
    total = 0
    for distance, layer in enumerate(iter_layers(rows, columns, goal)):
        assert (depth[rank_layer(rows, columns, layer)] == distance).all()
        total += len(layer)
    assert total == len(depth)


@long_run
@pytest.mark.parametrize("name", ["3x4", "2x6", "4x3"])
def test_every_layer_of_a_board_of_12_cells_is_as_large_as_published(name: str) -> None:
    board = parse_board(name)
    goal = f"{CHARACTERS[1:12]}0"
    space = make_word_space(board.line, 12, 11, board.is_odd(goal), board.rank(goal))
    if name == "4x3":  # the search's own columns are then long
        order = [int(goal[at % 4 * 3 + at // 4], 16) for at in range(11)]
        swaps = sum(a > b for at, a in enumerate(order) for b in order[at + 1 :])
        space = make_word_space(4, 12, 11, swaps % 2 == 1, 11 * (space.states) + rank_order(order))
    layers: list[int] = []
    search_words(space, 2, lambda level, count: layers.append(count), run_in_threads)
    published = find_known_layers(board.wide.tables[0].name)[1]
    assert layers[: len(published)] == published
    assert sum(layers) == space.size


def rank_order(order: list[int]) -> int:
    """Rank an order of the tiles by counting the orders before it, a tile at a time."""
    free_tiles, rank = sorted(order), 0
    for tile in order:
        rank = rank * len(free_tiles) + free_tiles.index(tile)
        free_tiles.remove(tile)
    return rank // 2


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
