"""The number of tours between two squares, where it is counted and where it is not."""

from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.errors import BadRequest, NoAnswer, NotationError, TableMissing
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE, make_pair_counts
from puzzle_tablebase.queries.readers import KnightReader
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.stores import Folder
from tests.support.build_recorder import build_tables
from tests.support.shell import run_here
from tests.support.tampered import link_copy


@pytest.fixture
def folder(outputs: Path, tmp_path: Path) -> Path:
    """Return a folder with the default tables, and the tours of 5x5 and 3x8 by both ends."""
    (made := tmp_path / "made").mkdir()
    build_tables(made, PUZZLE, *(make_pair_counts(KnightBoard(*each)) for each in ((5, 5), (3, 8))))
    return link_copy(outputs, tmp_path, made)


@pytest.fixture
def knight(folder: Path) -> KnightReader:
    return open_tables(str(folder)).knight


def test_an_answer_says_how_many_tours_its_ends_have(knight: KnightReader, outputs: Path) -> None:
    rows = pl.read_parquet(outputs / "knight_tours_5x5.parquet")
    pairs = rows.group_by("start", "finish").len().sort("start", "finish")
    for start, finish, tours in pairs.gather_every(25).iter_rows():
        answer = knight.probe(start, board="5x5", to=finish)
        assert answer.tours == tours
        assert f"\ntours    {tours} from {start} to {finish}\n" in answer.to_text()
        count = knight.count(start, board="5x5", to=finish)
        assert (count.start, count.finish, count.tours, count.closed) == (start, finish, tours, 0)


def test_without_the_table_an_answer_says_nothing_of_it(knight: KnightReader) -> None:
    answer = knight.probe("a1", board="6x6", to="b3")
    assert answer.tours is None
    assert "tours" not in answer.to_json()
    assert knight.probe("a1", board="5x5").tours is None
    with pytest.raises(TableMissing) as caught:
        knight.count("a1", board="6x6", to="b3")
    assert caught.value.table == "knight_pair_counts_6x6"


def test_a_pair_of_ends_reads_the_manifest_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, names = Folder.read, list[str]()

    def note(self: Folder, name: str, most: int | None = None) -> bytes:
        names.append(name)
        return read(self, name, most)

    monkeypatch.setattr(Folder, "read", note)
    knight = open_tables(str(folder)).knight
    assert knight.probe("a1", to="b3").tours is None
    assert knight.probe("a1", to="c2").tours is None
    assert names == ["manifest.json"]


def test_a_table_of_pairs_that_is_published_later_is_found(outputs: Path, tmp_path: Path) -> None:
    folder = link_copy(outputs, tmp_path)
    knight = open_tables(str(folder)).knight
    assert knight.probe("a1", to="b3").tours is None
    build_tables(folder, PUZZLE, make_pair_counts(KnightBoard(5, 5)))
    rows = pl.read_parquet(outputs / "knight_tours_5x5.parquet").filter(start="a1")
    finish = rows["finish"][0]
    counted = knight.count("a1", board="5x5", to=finish)
    assert counted.tours == rows.filter(finish=finish).height > 0


def test_each_board_has_its_own_table(knight: KnightReader) -> None:
    ends = ("6x6", "b3"), ("5x5", "c1"), ("6x6", "b3")
    counted = knight.count("a1", board="5x5", to="c1").tours
    found = [knight.probe("a1", board=board, to=finish).tours for board, finish in ends]
    assert found == [None, counted, None]


def test_boards_above_64_squares_are_not_counted_by_both_ends(knight: KnightReader) -> None:
    with pytest.raises(TableMissing):
        knight.count("a1", board="16x4", to="b1")
    with pytest.raises(BadRequest, match="Boards of up to 64 squares can be counted by both ends"):
        knight.count("a1", board="13x5", to="c1")


def test_closed_tours_end_a_jump_away(knight: KnightReader) -> None:
    # 3x8 has no closed tour, but tours from a1 to squares a jump away would be
    with pytest.raises(NoAnswer, match="they are not a knight's move apart"):
        knight.count("a1", board="3x8", to="b1", closed=True)
    count = knight.count("a1", board="3x8", to="b3", closed=True)
    assert (count.tours, count.closed) == (None, 0)


def test_the_default_board_is_that_of_tours(knight: KnightReader) -> None:
    with pytest.raises(TableMissing) as caught:
        knight.count("a1", to="h7")
    assert caught.value.table == "knight_pair_counts_8x8"
    with pytest.raises(NotationError):
        knight.count("a1", board="5x5", to="h7")
    with pytest.raises(NoAnswer, match="a tour of 5x5 ends on the colour of its start"):
        knight.count("a1", board="5x5", to="b1")


def test_every_pair_has_its_record(knight: KnightReader, folder: Path) -> None:
    for board in ("5x5", "3x8"):
        rows = pl.read_parquet(folder / f"knight_pair_counts_{board}.parquet")
        for start, finish, tours in rows.select("start", "finish", "tours").iter_rows():
            assert knight.count(start, board=board, to=finish).tours == tours


@pytest.mark.parametrize("board", ["5x5", "3x8"])
def test_the_example_of_a_table_is_answered_by_it(folder: Path, board: str) -> None:
    name = f"knight_pair_counts_{board}"
    assert name in read_manifest(Folder(folder))
    given = PUZZLE.find_example(name)
    completed = run_here(
        "query", "knight", str(given["key"]), "--board", board, "--to", str(given["to"]), "--count",
        "--outputs", str(folder),
    )  # fmt: skip
    assert (completed.code, completed.err) == (0, "")
    assert completed.out.startswith(f"{board} from a1 to ")
