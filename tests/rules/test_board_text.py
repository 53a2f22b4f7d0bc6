"""Boards pasted back: every layout gives its state, and a text without a blank is refused."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import NotationError
from puzzle_tablebase.puzzles import senet
from puzzle_tablebase.puzzles.sliding import EIGHT, SlidingBoard
from tests.support.board_layouts import write_layouts
from tests.support.strategies import senet_positions

SIDES = itertools.product(range(2, 6), repeat=2)
BOARDS = [EIGHT, *(SlidingBoard(*sides) for sides in SIDES if sides[0] * sides[1] <= 12)]


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


WITHOUT_BLANK = ["378 546 21", "12345678", "1 2 3 4 5 6 7 8", "3,7,8,5,4,6,2,,1"]


@pytest.mark.parametrize("text", WITHOUT_BLANK)
def test_a_text_without_a_blank_is_refused(text: str) -> None:
    with pytest.raises(NotationError, match="the blank is missing: write it as 0"):
        EIGHT.parse(text)


@given(senet_positions, st.sampled_from(["", " ", "  ", ",", ", ", "/", "\t"]), st.booleans())
def test_every_layout_of_senet_is_read_back(position: str, between: str, lower: bool) -> None:
    for empty in "._":
        text = between.join(position.replace(".", empty))
        for written in (text, f"[{text}]", f"{text}\n"):
            assert senet.parse(written.lower() if lower else written) == position
