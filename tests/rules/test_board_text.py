"""Boards pasted back: every layout gives its state; a text that can mean two is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import NotationError
from puzzle_tablebase.puzzles import senet
from puzzle_tablebase.puzzles.sliding import EIGHT, SlidingBoard
from tests.support.board_layouts import read_board, write_layouts
from tests.support.strategies import eight_states, senet_positions

SIDES = itertools.product(range(2, 6), repeat=2)
BOARDS = [SlidingBoard(*sides) for sides in SIDES if sides[0] * sides[1] <= 12]


def read(parse: Callable[[str], str], text: str) -> str | None:
    try:
        return parse(text)
    except NotationError:
        return None


@given(eight_states)
def test_every_layout_of_the_8_puzzle_is_read_back(state: str) -> None:
    for text in write_layouts(state, 3):
        assert EIGHT.parse(text) == state, repr(text)


@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_every_layout_of_a_sliding_board_is_read_back(board: SlidingBoard) -> None:
    """Try every cell of the blank, in a few orders of the tiles."""
    tiles = board.example[:-1]
    for order in (tiles, tiles[::-1], tiles[1::2] + tiles[::2]):
        for blank in range(board.cells):
            state = f"{order[:blank]}0{order[blank:]}"
            for text in write_layouts(state, board.width):
                assert board.parse(text) == state, repr(text)


@pytest.mark.parametrize("blank", range(12))
@pytest.mark.parametrize(
    ("form", "blanks"),
    [("{:<3}", ".0"), ("{:>4}", ".0"), ("{},", ["", ".", "0"]), (" {} |", ["", ".", "0"])],
    ids=["left", "right", "csv", "bar"],
)
def test_tiles_with_two_digits_may_be_aligned(form: str, blanks: Sequence[str], blank: int) -> None:
    tiles = [*map(str, range(1, 12))]
    for gap in blanks:
        cells = [*tiles[:blank], gap, *tiles[blank:]]
        rows = ("".join(form.format(cell) for cell in cells[at : at + 4]) for at in (0, 4, 8))
        expected = SlidingBoard(3, 4).make_ordered_state(blank)
        assert SlidingBoard(3, 4).parse("\n".join(rows)) == expected


GAPS = st.sampled_from(["", " ", "\n", ",", ",", ", ", ",,", ",\n", "/", " | "])


@given(eight_states, st.lists(GAPS, min_size=9, max_size=9))
def test_a_text_without_a_blank_is_not_misread(state: str, gaps: list[str]) -> None:
    """Compare with the obvious reader: what it reads as one state is that state, never another."""
    tiles = state.replace("0", "")
    text = "".join(map("".join, zip(gaps, [*tiles, ""], strict=True)))
    result, expected = read(EIGHT.parse, text), read_board(text, tiles, 3)
    assert len(expected) <= 1
    if expected:
        assert {result} == expected
    assert result is None or result.replace("0", "") == tiles


WITHOUT_BLANK = [
    "378 546 21",  # the third row has lost a cell: which one?
    "12\n345\n678",  # the first line may have lost its begin or its end
    *("1 2 3 4 5 6 7 8", "123/456/78", "12 3 45678", "12345678\n", " 12345678 ", "12345678 "),
    *(",1,2,3,4,5,6,7,8,", "12 / 345 / 678", "1,2,3,4,5,6,7,8", "1,2,,4,5,6,,7,8"),
    *("12  34\n5678", "378546 2 1", " 3 7 8\n 5 4 6\n 2   1"),
]


@pytest.mark.parametrize("text", WITHOUT_BLANK)
def test_a_blank_that_may_be_elsewhere_is_refused(text: str) -> None:
    problem = r"the blank is missing: write it as 0|cells|digits"
    for parse in (EIGHT.parse, SlidingBoard(3, 3).parse):
        with pytest.raises(NotationError, match=problem):
            parse(text)


@given(senet_positions, st.sampled_from(["", " ", "  ", ",", ", ", "/", "\t"]), st.booleans())
def test_every_layout_of_senet_is_read_back(position: str, between: str, lower: bool) -> None:
    for empty in "._ " if not between else "._":
        text = between.join(position.replace(".", empty))
        for written in (text, f"[{text}]", f"{text}\n") if empty != " " else (text, f"{text}\n"):
            assert senet.parse(written.lower() if lower else written) == position
