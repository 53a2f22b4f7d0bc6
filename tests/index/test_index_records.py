"""Tests of what `docs/format/ranks.md` says of each puzzle's records, against the real files."""

import struct
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tablebase.puzzles import eight, senet
from tablebase.puzzles.knight import tables as knight
from tablebase.puzzles.knight.board import KnightBoard
from tests.support.default_tables import INDEXES
from tests.support.format_page import all_records, layout_of, section, tables_under

EIGHT = "8-puzzle: "
SENET = "Senet: "
KNIGHT = "Knight's tours: "
BOARD = KnightBoard(*knight.PAIRS_BOARD)

# ---- 8-puzzle -----------------------------------------------------------------


def _find_odd_states() -> npt.NDArray[np.bool_]:
    """Return for every state whether an odd number of tile pairs are out of order."""
    cells = eight.PUZZLE.list_states().view(np.uint8).reshape(-1, 9)
    odd = np.zeros(len(cells), dtype=np.bool_)
    for first, later in combinations(range(9), 2):
        odd ^= (cells[:, later] < cells[:, first]) & (cells[:, later] != ord("0"))
    return odd


def test_the_records_of_the_8_puzzle(outputs: Path) -> None:
    layout = tables_under(EIGHT)[0]
    for file in ("eight.idx", "eight_edge.idx"):
        assert layout_of(layout) == INDEXES[file].record_format
        assert [row["field"] for row in layout] == [name for name, _ in INDEXES[file].index]
        fields = all_records(outputs, INDEXES[file])
        assert len(fields) == factorial(9)
        unreached = fields[:, 0] == 255
        assert np.array_equal(unreached, fields[:, 1] == 0)
        assert np.array_equal(unreached, _find_odd_states() & (file == "eight_edge.idx"))


def test_the_goal_follows_from_the_pairs_out_of_order() -> None:
    even, odd = (row for row in tables_under(EIGHT)[1])
    in_eight, in_edge = list(even)[1:]
    assert even[in_eight] == _name_goal("corner")
    assert odd[in_eight] == _name_goal("centre")
    assert even[in_edge] == _name_goal("edge")
    assert not eight.is_odd(eight.GOALS["corner"])
    assert not eight.is_odd(eight.GOALS["edge"])
    assert eight.is_odd(eight.GOALS["centre"])


def _name_goal(name: str) -> str:
    return f"{eight.GOALS[name]}, called {name}"


# ---- Senet --------------------------------------------------------------------


def test_the_records_of_senet(outputs: Path) -> None:
    table = INDEXES["senet.idx"]
    layout = tables_under(SENET)[0]
    assert layout_of(layout) == table.record_format
    assert [row["field"] for row in layout] == [name for name, _ in table.index]
    kind = np.dtype([(name, f"<u{struct.calcsize(letter)}") for name, letter in table.index])
    result = all_records(outputs, table).view(kind).ravel()
    fewest = np.minimum(result["plies_even"], result["plies_odd"])
    assert np.array_equal(result["lines"] == 0, fewest == 255)
    opening = np.arange(len(result)) == senet.rank(senet.OPENING)
    for side in ("even", "odd"):
        plies, last = result[f"plies_{side}"], result[f"last_{side}"]
        reached = plies != 255
        assert np.all(plies[reached] % 2 == (side == "odd"))
        assert np.array_equal(last == 0, ~reached | (opening & (side == "even")))
    largest = max(
        int(result[name][result[name] < 255].max()) for name in ("plies_even", "plies_odd")
    )
    text = (
        f"Plies are at most {largest}, the smaller of the two at most {fewest[fewest < 255].max()}."
    )
    assert text in " ".join(section(SENET).split())


# ---- knight -------------------------------------------------------------------


def test_the_records_of_the_knight(outputs: Path) -> None:
    table = INDEXES["knight_tours_8x8.idx"]
    layout = tables_under(KNIGHT)[0]
    assert layout_of(layout) == table.record_format
    tours = all_records(outputs, table)
    assert np.array_equal(32 * tours[:, 0].astype(int) + tours[:, 63] // 2, np.arange(len(tours)))
    for start in range(64):
        others = [end for end in range(64) if BOARD.is_light(end) != BOARD.is_light(start)]
        assert tours[32 * start : 32 * (start + 1), 63].tolist() == others
    assert "a1 is 0, b1 is 1, h8 is 63" in section(KNIGHT)
    assert [BOARD.name_square(square) for square in (0, 1, 63)] == ["a1", "b1", "h8"]
