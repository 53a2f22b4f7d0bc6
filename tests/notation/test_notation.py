"""Boards pasted back: every layout gives its state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.notation.senet import parse_position
from puzzle_tablebase.puzzles.sliding import EIGHT, SlidingBoard
from tests.support.board_layouts import write_layouts
from tests.support.strategies import senet_positions, white_space

SIDES = [(high, wide) for high in range(2, 6) for wide in range(2, 6) if high * wide <= 12]
BOARDS = [
    EIGHT,
    *(SlidingBoard(sides[0], sides[1]) for sides in SIDES if sides[0] * sides[1] <= 12),
]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.title)
def test_every_layout_of_a_board_is_read_back(board: SlidingBoard) -> None:
    """Try every cell of the blank, in a few orders of the tiles."""
    tiles = board.example[:-1]
    for order in (tiles, tiles[::-1], tiles[1::2] + tiles[::2]):
        for blank in range(board.cells):
            state = f"{order[:blank]}0{order[blank:]}"
            for text in write_layouts(state, board.width):
                assert board.parse(text) == state, repr(text)


@pytest.mark.parametrize("form", ["{:<3}", "{:>4}", "{},", " {} |"])
def test_tiles_with_two_digits_may_be_aligned(form: str) -> None:
    board = SlidingBoard(3, 4)
    for blank in range(board.cells):
        cells = [*map(str, range(1, 12))]
        cells.insert(blank, "." if blank % 2 else "0")
        rows = ("".join(map(form.format, cells[at : at + 4])) for at in (0, 4, 8))
        assert board.parse("\n".join(rows)) == board.make_ordered_state(blank)


@given(senet_positions, st.sampled_from(["", " ", "  ", ",", ", ", "/", "\t"]), white_space)
def test_every_layout_of_senet_is_read_back(position: str, between: str, around: str) -> None:
    for empty in "._":
        text = between.join(position.replace(".", empty))
        for written in (text.lower(), f"[{text}]", f"{around}{text}\n", f"{text}{around}"):
            assert parse_position(written) == position
