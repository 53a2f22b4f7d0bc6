"""The block search: its moves are those of the rules, its depths those of the oracle."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import pytest

from pipeline.search.block_bfs import search_blocks
from pipeline.verify.sliding.references import find_known_layers
from tablebase.errors import SearchError
from tablebase.graph import BlockMove, Blocks, ForkedMove
from tablebase.puzzles.sliding.definition import BoardWithTables, parse_board
from tests import wide
from tests.support import sliding_oracle as oracle

Depths = npt.NDArray[np.uint8]


def search(space: Blocks, threads: int = 2) -> Depths:
    return search_blocks(space, threads, lambda level, depth: None, lambda: None)


class LevelRecorder:
    """Progress callback that keeps the levels that a search reported."""

    def __init__(self) -> None:
        self.levels: list[int] = []

    def __call__(self, level: int, depth: Depths) -> None:
        self.levels.append(level)


def neighbours(space: Blocks, rank: int) -> Iterator[int]:
    """Yield the states that the moves of one state lead to, as `Blocks` describes them."""
    rows = len(space.row_kinds)
    block, row, place = (
        rank // space.places // rows,
        rank // space.places % rows,
        rank % space.places,
    )
    for move in (move for pair in space.moves for move in pair if move.source == block):
        new_place = place
        if isinstance(move, ForkedMove):
            kind = space.row_kinds[row] ^ space.block_kinds[block]
            fork = move.forks[kind, place]
            to = int(move.rows[row, fork])
            new_place = int(move.places[kind, move.entries[row, fork], place])
            assert to // space.rows_per_prefix == row // space.rows_per_prefix
        else:
            to = int(move.rows[row])
        assert space.sides[move.source] != space.sides[move.target]
        yield (move.target * rows + to) * space.places + new_place


@pytest.mark.parametrize("name", ["2x2", "2x3", "2x4", "3x3", "2x5", "3x4", "2x6"])
def test_moves_follow_the_rules(name: str) -> None:
    board, chance = parse_board(name), random.Random(name)
    for goal in board.layouts:
        space = board.make_blocks(goal)
        assert len(space.sides) * len(space.row_kinds) * space.places == board.size
        assert space.root == board.rank(goal)
        for rank in chance.sample(range(board.size), min(board.size, 300)):
            state = board.unrank(rank, goal)
            expected = sorted(board.rank(after) for _, after in board.moves(state))
            assert sorted(neighbours(space, rank)) == expected


@pytest.mark.parametrize("name", ["2x2", "2x3", "2x4", pytest.param("3x3", marks=wide)])
def test_every_depth_equals_the_oracles(name: str) -> None:
    board = parse_board(name)
    for goal in board.layouts:
        depth = search(board.make_blocks(goal))
        expected = oracle.distances(goal, board.height, board.width)
        assert len(expected) == len(depth)
        assert all(depth[board.rank(state)] == moves for state, moves in expected.items())


@pytest.mark.parametrize("name", ["2x3", "2x4", "3x3"])
def test_layer_sizes_match_published_ones(name: str) -> None:
    board = parse_board(name)
    for table, goal in zip(board.tables, board.layouts, strict=True):
        _, published = find_known_layers(table.name)
        if published or goal == board.example:
            assert np.bincount(search(board.make_blocks(goal))).tolist() == published


@pytest.fixture(scope="module")
def board() -> BoardWithTables:
    return parse_board("2x5")


@pytest.fixture(scope="module")
def depths(board: BoardWithTables) -> Depths:
    return search(board.make_blocks(board.example))


def test_layer_sizes_of_2x5_match_published_ones(board: BoardWithTables, depths: Depths) -> None:
    assert np.bincount(depths).tolist() == find_known_layers(board.tables[0].name)[1]


def test_threads_do_not_change_a_byte(board: BoardWithTables, depths: Depths) -> None:
    for threads in (1, 5):
        assert np.array_equal(search(board.make_blocks(board.example), threads), depths)


def test_a_search_resumes_from_any_layer_with_some_blocks_ahead(
    board: BoardWithTables, depths: Depths
) -> None:
    space = board.make_blocks(board.example)
    for level in (0, 1, 17, 40, 54, 55):
        ahead = np.where(np.arange(board.size) < board.size // 3, level + 3, level)
        result = np.where(depths <= ahead, depths, np.uint8(255)).astype(np.uint8)
        reported = LevelRecorder()
        resumed = search_blocks(space, 2, reported, lambda: None, (level, result))
        assert np.array_equal(resumed, depths)
        assert reported.levels == list(range(level, 56))


def test_an_exception_in_a_callback_ends_the_search(board: BoardWithTables) -> None:
    def tired() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_blocks(board.make_blocks(board.example), 2, lambda level, depth: None, tired)


def test_depths_end_at_253() -> None:
    """Search a path of blocks with one state each: 253 moves fit, 254 do not."""

    def path(blocks: int) -> Blocks:
        one = np.zeros(1, dtype=np.uint32)
        pairs = [
            (BlockMove(at, at + 1, one), BlockMove(at + 1, at, one)) for at in range(blocks - 1)
        ]
        sides = (np.arange(blocks) % 2).astype(np.uint8)
        kinds = np.zeros(blocks, dtype=np.uint8)
        return Blocks(0, 1, 1, sides, kinds, np.zeros(1, dtype=np.uint8), pairs)

    assert search(path(254)).tolist() == list(range(254))
    with pytest.raises(SearchError, match="254 or more moves"):
        search(path(255))


def test_two_searches_run_in_parallel(board: BoardWithTables, depths: Depths) -> None:
    with ThreadPoolExecutor(2) as pool:
        spaces = [board.make_blocks(board.example) for _ in range(2)]
        for result in pool.map(search, spaces):
            assert np.array_equal(result, depths)
