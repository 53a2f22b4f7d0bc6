"""`verify` proves tables with one bit of each distance, and finds any bit that is false."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from puzzle_tablebase.pipeline.proofs import board_layers, verify
from puzzle_tablebase.puzzles.sliding import PUZZLE, parse_board
from puzzle_tablebase.stores.folder import Folder
from tests.support import sliding_oracle as oracle
from tests.support.build_recorder import build_tables
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import Records, change_records, falsify, get_refutation

NAME = "sliding_2x4_8"
GOAL = "12345670"


@pytest.fixture(autouse=True)
def _with_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat boards of 8 cells as large: they have only an index with a bit for each state."""
    treat_as_large(monkeypatch, 8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build_tables(tmp_path, PUZZLE, *PUZZLE.find_tables("sliding_2x4"))
    return tmp_path


def flip(*ranks: int) -> Records:
    """Return a change of the bits of some states."""

    def edit(every: npt.NDArray[np.uint8]) -> None:
        for rank in ranks:
            every[rank // 360, rank % 360 // 8] ^= 1 << (rank % 8)

    return Records(edit)


def test_a_table_of_bits_is_proved(folder: Path) -> None:
    claims = verify(Folder(folder)).claims
    assert claims[-1]["claim"] == "as many states are at each distance as the proof counted"
    assert "each bit is bit 1 of the state's distance, layer by layer from the goal" in {
        claim["claim"] for claim in claims
    }


@pytest.mark.parametrize("rank", [0, 1, 361, 7777, 20_159])
def test_a_wrong_bit_is_named_with_its_state(folder: Path, rank: int) -> None:
    state = parse_board("2x4").unrank(rank, GOAL)
    distance = oracle.distances(GOAL, 2, 4)[state]
    bit = distance >> 1 & 1
    error = falsify(folder, NAME, flip(rank))
    assert (error.row, error.content) == (rank, {"state": state, "distance": distance})
    assert (error.found, error.expected) == (f"bit {1 - bit}", f"{bit}")
    change_records(folder, NAME, flip(rank).edit)
    assert verify(Folder(folder)).claims


def test_values_that_go_in_a_circle_are_detected(folder: Path) -> None:
    """Add 2 to the values of all states but those near the goal: most neighbours still agree."""
    board, known = parse_board("2x4"), oracle.distances(GOAL, 2, 4)
    far = (board.rank(state) for state, distance in known.items() if distance > 12)
    assert falsify(folder, NAME, flip(*far)).content["distance"] == 13


def test_states_out_of_reach_are_detected(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_layers, "list_moves", lambda *arguments: [])
    error = get_refutation(folder, NAME)
    assert (error.found, error.expected) == ("states that reach the goal 2", 20_160)
