"""The text that represents opened tables at a prompt."""

from pathlib import Path

from msgspec.structs import replace

from queries import open_tables
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests.support.tampered import write_manifest

FIVE = "knight_tours_5x5"


def test_repr_names_the_folder_and_its_tables(copy: Path) -> None:
    tables = open_tables(str(copy))
    knights = "knight_counts, knight_tours_5x5, knight_tours_6x6, knight_tours_8x8"
    assert repr(tables) == f"<Tables in {copy}: eight, eight_edge, {knights}, senet>"
    assert repr(tables.eight) == f"<EightTable in {copy}: eight, eight_edge>"
    assert repr(tables.goals("eight")) == f"<GoalTable in {copy}: eight, eight_edge>"
    assert repr(tables.senet) == f"<SenetTable in {copy}: senet>"
    assert repr(tables.knight) == f"<KnightTable in {copy}: {knights}>"


def test_repr_of_a_puzzle_without_tables(copy: Path) -> None:
    entries = read_manifest(Folder(copy))
    files = [replace(entries[FIVE].files[0], file="knight_tours_3x4.parquet")]
    other_entries = {"knight_tours_3x4": replace(entries[FIVE], files=files)}
    write_manifest(Folder(copy), {"eight": entries["eight"], **other_entries})
    tables = open_tables(str(copy))
    assert repr(tables.senet) == f"<SenetTable in {copy}: none published>"
    assert repr(tables.knight) == f"<KnightTable in {copy}: knight_tours_3x4>"


def test_repr_shows_errors_without_raising(copy: Path) -> None:
    tables = open_tables(str(copy))
    (copy / "manifest.json").write_text("[]")
    assert repr(tables).startswith(f"<Tables in {copy}: {copy}/manifest.json is damaged: ")
