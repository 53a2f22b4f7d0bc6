"""The tables that names stand for: to build, to remove, and those that are published."""

from pathlib import Path

import pytest

from puzzle_tablebase.errors import BadRequest, TableMissing
from puzzle_tablebase.pipeline.select import (
    find_removable,
    find_request,
    list_requests,
    select_published,
    select_tables,
)
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.registry import list_puzzles
from puzzle_tablebase.stores import Folder
from tests.support.build_recorder import TOURS, build_tables


def name_tables(*names: str) -> list[str]:
    return [table.name for _, table in select_tables(names)]


def test_a_table_is_selected_once_in_the_order_of_the_names() -> None:
    defaults = [table.name for puzzle in list_puzzles() for table in puzzle.tables]
    assert name_tables() == defaults
    assert name_tables("senet", "eight_edge", "eight") == ["senet", "eight_edge", "eight"]
    assert name_tables("sliding_2x3", "sliding_2x3_5") == ["sliding_2x3_6", "sliding_2x3_5"]


def test_every_listed_name_stands_for_tables_and_near_ones_are_advised() -> None:
    names = list_requests(list_puzzles())
    assert len(names) == len({*names}) > 100
    without_defaults = {puzzle.name for puzzle in list_puzzles() if not puzzle.tables}
    for name in {*names} - without_defaults:
        puzzle, tables = find_request(name)
        assert tables, name
        assert all(puzzle.find_table(table.name) for table in tables), name
    for wrong in ("knight_tour_5x5", "Eight", "eight ", ""):
        with pytest.raises(BadRequest) as caught:
            find_request(wrong)
        assert ("Did you mean knight_tours_5x5" in str(caught.value)) == wrong.startswith("knight")


def test_only_what_is_there_and_no_default_table_is_removed(tmp_path: Path) -> None:
    build_tables(tmp_path, KNIGHT, TOURS)
    (tmp_path / ".work").mkdir(exist_ok=True)
    (tmp_path / ".work" / "knight_tours_3x8.0123.a1.kept").touch()
    store = Folder(tmp_path)
    assert find_removable(store, TOURS.name) == [TOURS.name]
    assert find_removable(store, "knight_tours_3x8") == ["knight_tours_3x8"], "checkpoints alone"
    for name in ("knight_tours_4x5", "eight", "knight_tours_5x5", "nothing"):
        with pytest.raises(BadRequest):
            find_removable(store, name)
    with pytest.raises(BadRequest, match="default table"):
        find_removable(store, "knight")


def test_a_puzzle_stands_for_its_published_tables(tmp_path: Path) -> None:
    build_tables(tmp_path, KNIGHT, TOURS)
    store, default = Folder(tmp_path), [table.name for table in KNIGHT.tables]
    assert select_published(store, ["knight"]) == ([TOURS.name], default)
    assert select_published(store, [TOURS.name, "knight"])[0] == [TOURS.name]
    with pytest.raises(TableMissing):
        select_published(store, ["senet"])
    with pytest.raises(BadRequest):
        select_published(store, ["nothing"])
