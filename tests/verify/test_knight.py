"""The proof of lists of tours: what it claims, and tables in any row groups."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.build import build
from pipeline.plan import Request
from pipeline.progress import BuildObserver
from pipeline.verify import knight_tours
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from tablebase.puzzles.knight.tables import make_tour_table
from tablebase.tables.store import Folder
from tests.support.tampered import get_refutation, open_one, prove_one, rewrite, story


@pytest.mark.parametrize("name", ["knight_tours_5x5", "knight_tours_8x8"])
def test_claims_about_tours(outputs: Path, golden: Callable[[str, str], None], name: str) -> None:
    golden(f"claims_{name}", story(outputs, name))


def test_row_groups_of_any_size_pass(copy: Path) -> None:
    rewrite(copy, "knight_tours_5x5", lambda rows: rows, 17)
    prove_one(copy, "knight_tours_5x5")


def test_a_total_differing_from_the_published_one_is_detected(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knight_tours, "find_known_total", lambda board: (1730, "a book"))
    failure = get_refutation(copy, "knight_tours_5x5")
    assert failure.claim.claim == "5x5 has 1,730 directed tours (a book)"
    assert (failure.row, failure.found, failure.expected) == (None, "tours 1728", 1730)


def test_requested_boards_are_proved(copy: Path) -> None:
    sides = (3, 4), (3, 3), (7, 3), (5, 6)
    boards = [make_tour_table(KnightBoard(files, ranks)) for files, ranks in sides]
    build(Request(Folder(copy), [(KNIGHT, tuple(boards))]), BuildObserver())
    for name, rows in (("3x4", 16), ("3x3", 0), ("7x3", 104), ("5x6", 37568)):
        proved = prove_one(copy, f"knight_tours_{name}")
        assert any(f"{rows:,} directed tours" in claim.claim for claim in proved)
        command = f"pipeline precompute knight_tours_{name} --force --outputs {copy}"
        assert open_one(copy, f"knight_tours_{name}").begin_claim("").command == command
