"""What a list will take, before it is made."""

from pathlib import Path

import pytest

from pipeline.pieces import Listing
from pipeline.plan import planned
from tablebase.puzzles.knight import PUZZLE as KNIGHT
from tablebase.puzzles.knight import listed_table
from tablebase.puzzles.knight_board import parse_board
from tablebase.tables.kept import Piece
from tablebase.tables.store import Folder
from tests import LONG
from tests.support.shell import Cli


def listing(board: str) -> Listing:
    return Listing(KNIGHT, listed_table(parse_board(board)))


def test_rows_are_those_that_are_counted(outputs: Path) -> None:
    six = planned(Folder(outputs), listing("6x6"), Piece(1, 1))
    counted = planned(Folder(outputs), listing("6x6"), None)
    assert (counted.parts, counted.rows, counted.error) == (36, 6_637_920, 0)
    assert six.rows == 6_637_920
    size = (outputs / "knight_tours_6x6.parquet").stat().st_size
    assert 0.8 < counted.bytes / size < 1.2


def test_pieces_add_up_to_the_list(tmp_path: Path) -> None:
    store = Folder(tmp_path)
    plans = [planned(store, listing("5x5"), Piece(number, 4)) for number in (1, 2, 3, 4)]
    assert [plan.parts for plan in plans] == [7, 6, 6, 6]
    assert sum(plan.rows for plan in plans) == 1728
    assert planned(store, listing("5x5"), Piece(26, 30)) == (0, 0, 0, 0, 0)


def test_large_lists_are_estimated(tmp_path: Path) -> None:
    plan = planned(Folder(tmp_path), listing("13x3"), None)
    assert plan.parts == 20
    assert abs(plan.rows / 257_728 - 1) < 0.2
    assert 0.7 < plan.bytes / 1_630_752 < 1.3
    assert plan.seconds > 0


@pytest.mark.skipif(not LONG, reason="a part of the long run")
def test_the_tours_of_seven(tmp_path: Path) -> None:
    plan = planned(Folder(tmp_path), listing("7x7"), None)
    assert plan.parts == 10_864
    assert abs(plan.rows / 165_575_218_320 - 1) < 3 * plan.error
    assert 0 < plan.error < 0.15
    piece = planned(Folder(tmp_path), listing("7x7"), Piece(5, 2500))
    assert abs(piece.rows / 86_022_593 - 1) < 0.2


def test_at_the_shell(cli: Cli, tmp_path: Path) -> None:
    words = ["precompute", "knight", "--board", "4x3", "--outputs", str(tmp_path / "new"), "--plan"]
    said = cli(*words)
    assert (said.code, said.err) == (0, "")
    head, row = said.out.splitlines()
    assert head.split()[:4] == ["table", "parts", "rows", "error"]
    assert row.split()[:4] == ["knight_tours_4x3", "12", "16", "exact"]
    assert cli(*words, "--piece", "2/12").out.splitlines()[1].split()[1:3] == ["1", "0"]
    assert cli(*words, "--finish").code == 2
    assert not (tmp_path / "new").exists()
