"""The log of builds: how each ended; one that cannot be written is a note."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from puzzle_tablebase.errors import StoreError
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.log import RUNS
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.stores import Folder
from tests.support.build_recorder import TOURS, build_tables
from tests.support.shell import Cli


@pytest.mark.parametrize("obstruct", [Path.mkdir, lambda path: path.symlink_to("/dev/null")])
def test_a_log_that_cannot_be_written_is_a_note(
    obstruct: Callable[[Path], None], cli: Cli, tmp_path: Path
) -> None:
    obstruct(tmp_path / RUNS)
    text = cli("precompute", "knight_tours_5x5", "--outputs", str(tmp_path))
    assert (text.code, f"note: {tmp_path / RUNS} was not written: " in text.err) == (0, True)
    assert {*read_manifest(Folder(tmp_path))} == {"knight_tours_5x5"}


def test_a_build_that_cannot_be_published_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StoreError(str(tmp_path), "no more files fit", "Free some space.")

    monkeypatch.setattr("puzzle_tablebase.pipeline.build.publish_table", refuse)
    with pytest.raises(StoreError):
        build_tables(tmp_path, KNIGHT, TOURS)
    monkeypatch.undo()
    build_tables(tmp_path, KNIGHT, TOURS)
    lines = (tmp_path / RUNS).read_text().splitlines()
    assert [json.loads(line)["outcome"] for line in lines] == ["failed", "completed"]
