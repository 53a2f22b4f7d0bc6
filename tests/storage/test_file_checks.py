"""A missing, cut or changed Parquet file is reported with a repair command, and never read."""

from pathlib import Path

import pytest

from queries.scans import require_intact
from tablebase.errors import TableDamaged, TableError, TableMissing
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from tablebase.puzzles.knight.tables import make_tour_table
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests.support.build_recorder import build_tables
from tests.support.tampered import flip_byte, write_manifest

TOURS = make_tour_table(KnightBoard(3, 4))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    build_tables(tmp_path, KNIGHT, TOURS)
    file = require_intact(Folder(tmp_path), TOURS).parquet
    assert file
    assert file.file == "knight_tours_3x4.parquet"
    return tmp_path / TOURS.file


def refusal(path: Path) -> TableError:
    with pytest.raises(TableError) as caught:
        require_intact(Folder(path.parent), TOURS)
    assert caught.value.file == str(path)
    assert caught.value.command == f"pipeline precompute {TOURS.name} --outputs {path.parent}"
    return caught.value


def test_a_missing_file_is_reported(path: Path) -> None:
    path.unlink()
    assert isinstance(refusal(path), TableMissing)


def test_a_folder_in_place_of_a_file_is_reported(path: Path) -> None:
    path.unlink()
    path.mkdir()
    assert f"{path} cannot be read: it is a folder, not a file" in str(refusal(path))


def test_an_unlisted_file_is_missing(path: Path) -> None:
    write_manifest(Folder(path.parent), {})
    assert read_manifest(Folder(path.parent)) == {}
    assert isinstance(refusal(path), TableMissing)


def test_a_wrong_size_is_damage(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:1000])
    error = refusal(path)
    assert isinstance(error, TableDamaged)
    assert error.problem == f"it has 1,000 bytes, the manifest says {len(data):,}"


def test_a_wrong_hash_is_damage(path: Path) -> None:
    flip_byte(path)
    error = refusal(path)
    assert isinstance(error, TableDamaged)
    assert error.problem == "its SHA-256 differs from the manifest"
