"""The log of builds: one that cannot be written is a note."""

from collections.abc import Callable
from pathlib import Path

import pytest

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.log import RUNS
from puzzle_tablebase.stores import Folder
from tests.support.shell import Cli


@pytest.mark.parametrize("obstruct", [Path.mkdir, lambda path: path.symlink_to("/dev/null")])
def test_a_log_that_cannot_be_written_is_a_note(
    obstruct: Callable[[Path], None], cli: Cli, tmp_path: Path
) -> None:
    obstruct(tmp_path / RUNS)
    text = cli("precompute", "knight_tours_5x5", "--outputs", str(tmp_path))
    assert (text.code, f"note: {tmp_path / RUNS} was not written: " in text.err) == (0, True)
    assert {*read_manifest(Folder(tmp_path))} == {"knight_tours_5x5"}
