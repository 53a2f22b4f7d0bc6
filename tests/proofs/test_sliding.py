"""`verify` proves sliding boards: those with rows by the oracle's moves, others bit by bit."""

import json
import tempfile
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.pipeline.proofs import board_layers
from puzzle_tablebase.pipeline.proofs.goals import BoardRules
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.puzzles.sliding import PUZZLE, SlidingBoard, parse_board
from puzzle_tablebase.stores import Folder
from tests.support import sliding_oracle as oracle
from tests.support.build_recorder import build_tables
from tests.support.false_tables import flip_state
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import change_byte, falsify, get_refutation, sha256, story


def build_small_board() -> str:
    """Return hashes of a board's files, its proof's claims, and the error of a false record."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        build_tables(folder, PUZZLE, *PUZZLE.find_tables("sliding_2x3"))
        hashes = [sha256(file) for file in sorted(folder.glob("sliding*"))]
        claims = story(*verify(Folder(folder)).results)
        failure = falsify(folder, "sliding_2x3_6", change_byte(100, 5))
        return json.dumps([hashes, claims, str(failure).replace(place, "")], indent=1)


@pytest.mark.parametrize("board", ["2x2", "2x4", "3x3"])
def test_boards_of_other_shapes_are_proved(board: str, tmp_path: Path) -> None:
    build_tables(tmp_path, PUZZLE, *PUZZLE.find_tables(f"sliding_{board}"))
    assert {verdict.verdict for verdict in verify(Folder(tmp_path)).verdicts} == {"proved"}


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


# ---- a bit for each state -------------------------------------------------------------------

NAME, GOAL = "sliding_2x4_8", "12345670"


@pytest.fixture
def bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which a board of 8 cells is treated as large."""
    treat_as_large(monkeypatch, 8)
    build_tables(tmp_path, PUZZLE, *PUZZLE.find_tables("sliding_2x4"))
    return tmp_path


def test_a_wrong_bit_is_named_with_its_state(bits: Path) -> None:
    state = SlidingBoard(2, 4, GOAL).unrank(7777)
    distance = oracle.distances(GOAL, 2, 4)[state]
    error = falsify(bits, NAME, flip_state(7777))
    assert (error.row, error.content) == (7777, {"state": state, "distance": distance})


def test_values_that_go_in_a_circle_are_detected(bits: Path) -> None:
    """Add 2 to the values of all states but those near the goal: most neighbours still agree."""
    board, known = parse_board("2x4"), oracle.distances(GOAL, 2, 4)
    far = [board.rank(state) for state, distance in known.items() if distance > 12]
    assert falsify(bits, NAME, flip_state(*far)).content["distance"] == 13


def test_states_out_of_reach_are_detected(bits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_layers, "list_moves", lambda *arguments: [])
    error = get_refutation(bits, NAME)
    assert (error.found, error.expected) == ("states that reach the goal 2", 20_160)
