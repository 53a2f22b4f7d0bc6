"""The 15-puzzle with 7-8, for hours: it is built, proved, and asked for every published board."""

from pathlib import Path

import pytest

import puzzle_tablebase as pt
from puzzle_tablebase.pipeline.proofs import verify
from puzzle_tablebase.puzzles.fifteen import PUZZLE, make_tables
from puzzle_tablebase.puzzles.sliding import CHARACTERS
from puzzle_tablebase.stores.folder import Folder
from tests.conftest import make_once
from tests.support.build_recorder import build_tables
from tests.support.reference_numbers import lines

pytestmark = pytest.mark.nightly
FIRST, LAST = "0123456789abcdef", "123456789abcdef0"


@pytest.fixture(scope="session")
def patterns_78(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tables = make_tables("7-8")
    return make_once(
        tmp_path_factory, "patterns_78", lambda place: build_tables(place, PUZZLE, *tables)
    )


def read_boards(kind: str) -> dict[str, int]:
    """Return the published boards of a kind, each with its distance."""
    rows = ([*map(int, value.split())] for label, value in lines("fifteen.txt") if kind in label)
    return {"".join(CHARACTERS[cell] for cell in cells): distance for distance, *cells in rows}


def test_tables_of_7_8_are_proved(patterns_78: Path) -> None:
    verdicts = verify(Folder(patterns_78)).verdicts
    assert [verdict.verdict for verdict in verdicts] == ["proved"] * 2


@pytest.mark.parametrize(("kind", "goal", "count"), [("korf", FIRST, 100), ("farthest", LAST, 17)])
def test_published_boards(patterns_78: Path, kind: str, goal: str, count: int) -> None:
    boards = read_boards(kind)
    assert len(boards) == count
    with pt.open_tables(str(patterns_78)) as tables:
        for state, distance in boards.items():
            assert tables.fifteen.probe(state, goal).distance == distance, state
