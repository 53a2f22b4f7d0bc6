"""The proof of lists of tours: what it claims, and of which boards."""

from collections.abc import Callable
from pathlib import Path

import pytest

from puzzle_tablebase.puzzles.knight.board import parse_board
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from tests.support.build_recorder import build_tables
from tests.support.tampered import prove_one, story


@pytest.mark.parametrize("name", ["knight_tours_5x5", "knight_tours_8x8"])
def test_claims_about_tours(outputs: Path, golden: Callable[[str, str], None], name: str) -> None:
    golden(f"claims_{name}", story(prove_one(outputs, name)))


def test_requested_boards_are_proved(tmp_path: Path) -> None:
    for board, rows in (("3x4", 16), ("3x3", 0), ("7x3", 104), ("5x6", 37568)):
        build_tables(tmp_path, KNIGHT, make_tour_table(parse_board(board)))
        name = f"knight_tours_{board}"
        assert {claim["rows"] for claim in prove_one(tmp_path, name).claims} == {rows}
