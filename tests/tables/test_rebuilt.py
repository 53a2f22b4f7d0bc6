"""Tables built again, in this process, are the published ones, byte for byte."""

from pathlib import Path

import pytest

from tablebase.puzzles import MODULES, puzzle
from tablebase.tables.manifest import files_of, read_manifest
from tablebase.tables.store import Folder
from tests.support.recorder import built

LISTED = "knight_tours_6x6"
"""Built again by the tests of `precompute`."""


@pytest.mark.parametrize("name", MODULES)
def test_a_table_built_again_is_the_one_published(name: str, outputs: Path, tmp_path: Path) -> None:
    asked = puzzle(name)
    built(tmp_path, asked, *(table for table in asked.tables if table.name != LISTED))
    published = read_manifest(Folder(outputs))
    for table, entry in read_manifest(Folder(tmp_path)).items():
        # boards that somebody listed are counted too
        if entry["parameters"] == published[table]["parameters"]:
            assert entry == published[table]
            for file in files_of(entry):
                path = outputs / file["file"]
                assert (tmp_path / path.name).read_bytes() == path.read_bytes()
