"""The 15-puzzle with 7-8, for hours: it is built, proved, and solves every published board."""

from pathlib import Path

import pytest

import puzzle_tablebase as pt
from puzzle_tablebase.notation.sliding import CHARACTERS
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.puzzles.fifteen import PUZZLE, make_tables
from puzzle_tablebase.stores import Folder
from tests.support.build_recorder import build_tables
from tests.support.reference_numbers import lines

PUBLISHED = (("korf", "0123456789abcdef", 100), ("farthest", "123456789abcdef0", 17))


@pytest.mark.nightly
def test_tables_of_7_8_and_published_boards(tmp_path: Path) -> None:
    build_tables(tmp_path, PUZZLE, *make_tables("7-8"))
    verdicts = verify(Folder(tmp_path)).verdicts
    assert [verdict.verdict for verdict in verdicts] == ["proved"] * 2
    with pt.open_tables(str(tmp_path)) as tables:
        for name, goal, count in PUBLISHED:
            rows = [value.split() for label, value in lines("fifteen.txt") if name in label]
            assert len(rows) == count
            for distance, *cells in rows:
                state = "".join(CHARACTERS[int(cell)] for cell in cells)
                assert tables.fifteen.probe(state, goal).distance == int(distance), state
