"""The moves of a space in blocks are those of the rules; `test_sharded_bfs` searches with them."""

import random
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from tablebase.graph import Blocks, ForkedMove
from tablebase.puzzles.sliding.definition import parse_board

Depths = npt.NDArray[np.uint8]


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
