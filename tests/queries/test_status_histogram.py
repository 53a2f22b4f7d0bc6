"""What is published: its status, and counts of its states."""

from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.errors import BadRequest, TableMissing
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.queries import Tables, open_tables
from puzzle_tablebase.queries.published import count_states, list_status, make_unusable_error
from puzzle_tablebase.stores.folder import Folder
from tests.support.build_recorder import build_tables
from tests.support.tampered import rename_entry, write_manifest


@pytest.fixture
def store(copy: Path) -> Folder:
    return Folder(copy)


def test_status_of_optional_and_unknown_tables(store: Folder) -> None:
    entries = read_manifest(store)
    names = ("hanoi", "knight_tours_3x4", "towers")
    further = {name: rename_entry(entries["senet"], name) for name in names}
    write_manifest(store, {**entries, **further})
    commands = {row["table"]: row["command"].split()[1] for row in list_status(store)[-3:]}
    assert commands == {"hanoi": "remove", "knight_tours_3x4": "precompute", "towers": "remove"}


def test_unusable_tables_are_counted_with_one_repair_command(store: Folder) -> None:
    entries = read_manifest(store)
    del entries["eight"], entries["senet"]
    Path(store.locate("knight_counts.parquet")).unlink()
    write_manifest(store, {**entries, "hanoi": rename_entry(entries["knight_counts"], "hanoi")})
    error = make_unusable_error(list_status(store), store)
    assert error
    command = f"pipeline precompute --outputs {store} && pipeline remove hanoi --outputs {store}"
    assert (error.command, error.file) == (command, store.locate("manifest.json"))
    assert "(2 missing, 2 damaged)" in str(error)


def test_histogram_covers_every_published_goal(tmp_path: Path) -> None:
    store = Folder(tmp_path)
    with pytest.raises(TableMissing):
        count_states("sliding", store, "2x3")
    one, *others = SLIDING.find_tables("sliding_2x3_all")
    build_tables(tmp_path, SLIDING, *others)
    assert count_states("sliding", store, "2x3")["goal"].unique().to_list() == ["123405"]
    build_tables(tmp_path, SLIDING, one)
    for board in ("2x3", "3x2"):
        counts = count_states("sliding", store, board)
        totals = counts.group_by("goal").agg(pl.col("states").sum()).rows()
        assert dict(totals) == {"123405": 360, "123450": 360}


def test_a_reader_has_the_histogram_of_its_puzzle(tables: Tables, small_boards: Path) -> None:
    for reader in (tables.eight, tables.senet):
        assert reader.histogram().equals(count_states(reader.puzzle.name, tables.store))
    board = open_tables(str(small_boards)).sliding("2x3")
    counts = board.histogram()
    assert counts.filter(pl.col("goal") == board.puzzle.example)["states"].sum() == 360
    with pytest.raises(BadRequest):
        tables.knight.histogram()
