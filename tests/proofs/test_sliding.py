"""`verify` proves sliding boards with rows, by moves that equal the oracle's."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.pipeline.proofs import verify
from puzzle_tablebase.pipeline.proofs.goals import BoardRules
from puzzle_tablebase.puzzles.sliding import PUZZLE, SlidingBoard
from puzzle_tablebase.stores.folder import Folder
from tests.support import sliding_oracle as oracle
from tests.support.build_recorder import build_tables
from tests.support.tampered import change_byte, falsify, sha256, story


def build_small_board() -> str:
    """Return hashes of a board's files, its proof's claims, and the error of a false record."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        build_tables(folder, PUZZLE, *PUZZLE.find_tables("sliding_2x3"))
        hashes = [sha256(file) for file in sorted(folder.glob("sliding*"))]
        claims = story(*verify(Folder(folder)).results)
        failure = falsify(folder, "sliding_2x3_6", change_byte(100, 5))
        return json.dumps([hashes, claims, str(failure).replace(place, "")], indent=1)


def test_boards_are_proved(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    build_tables(tmp_path, PUZZLE, *PUZZLE.find_tables("sliding_2x3"))
    golden("claims_sliding", story(*verify(Folder(tmp_path)).results))


@pytest.mark.parametrize("board", ["2x2", "2x4", "3x3"])
def test_boards_of_other_shapes_are_proved(board: str, tmp_path: Path) -> None:
    build_tables(tmp_path, PUZZLE, *PUZZLE.find_tables(f"sliding_{board}"))
    assert {verdict.verdict for verdict in verify(Folder(tmp_path)).verdicts} == {"proved"}


@pytest.mark.parametrize("goal", ["123450", "123405"])
def test_false_records_of_any_goal_are_detected(tmp_path: Path, goal: str) -> None:
    build_tables(tmp_path, PUZZLE, *PUZZLE.find_tables("sliding_2x3_all"))
    failure = falsify(tmp_path, f"sliding_2x3_{goal.index('0') + 1}", change_byte(100, 1))
    assert (failure.row, {*failure.content}) == (100, {"distance"})


@pytest.mark.parametrize("sides", [(2, 2), (2, 3), (2, 4), (3, 3)])
def test_rules_of_boards_are_those_of_the_oracle(sides: tuple[int, int]) -> None:
    board, rules = SlidingBoard(*sides), BoardRules(*sides, by_columns=True)
    states = [board.unrank(rank) for rank in range(0, board.size, max(1, board.size // 500))]
    rows = pl.LazyFrame({"state": states, "goal": board.example}).with_row_index("row")
    expected = {
        (state, letter, after)
        for state in states
        for letter, after in oracle.neighbours(state, *sides).items()
    }
    moves = rules.list_moves(rows).select("state", pl.col("letter").cast(pl.String), "after")
    assert {*moves.collect().iter_rows()} == expected
    keys = rules.number(rows).collect()["key"].to_list()
    assert keys == sorted(keys)
    roots = {board.example: board.example}
    features = rules.compute_features(rules.number(rows), roots).collect()
    assert features["manhattan, expected"].to_list() == [
        board.compute_features(state, board.example)["manhattan"] for state in states
    ]


@pytest.mark.parametrize("text", ["", "12345", "1234500", "123455", "12345x", "é2345"])
def test_other_texts_are_no_states(text: str) -> None:
    rows = pl.LazyFrame({"state": [text], "row": [0]})
    for by_columns in (False, True):
        numbered = BoardRules(2, 3, by_columns=by_columns).number(rows).select("key").collect()
        assert numbered.item() is None
