"""Tables built again, in this process, are the published ones, byte for byte."""

from pathlib import Path

import pytest

from tablebase.puzzles import MODULES, get_puzzle
from tablebase.tables.manifest import list_parameters, read_manifest
from tablebase.tables.store import Folder
from tests.support.build_recorder import build_tables

LISTED = "knight_tours_6x6"
"""Built again by the tests of `precompute`."""


@pytest.mark.parametrize("name", [name for name in MODULES if get_puzzle(name).tables])
def test_a_table_built_again_is_the_one_published(name: str, outputs: Path, tmp_path: Path) -> None:
    """Boards that somebody listed are counted, in both places."""
    asked, published = get_puzzle(name), read_manifest(Folder(outputs))
    again = {table.name for table in asked.tables} - {LISTED}
    beside = list_parameters(published)
    build_tables(tmp_path, asked, *(asked.adapt_to_manifest(t, beside) for t in asked.tables if t.name in again))
    assert read_manifest(Folder(tmp_path)) == {table: published[table] for table in again}
    files = {file.file for table in again for file in published[table].all_files}
    assert len(files) >= len(again) > 0
    for file in files:
        assert (tmp_path / file).read_bytes() == (outputs / file).read_bytes()
