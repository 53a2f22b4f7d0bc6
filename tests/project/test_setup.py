"""Tests of the setup: locked packages, and what `make clean` removes."""

from pathlib import Path

import pytest

from puzzle_tablebase.stores.folder import Folder
from tests.support.shell import ROOT
from tools.remove_outputs import remove_outputs

LOCKS = [*ROOT.glob("requirements*.lock"), ROOT / "package-lock.json"]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_file_holds_no_address(lock: Path) -> None:
    assert "://" not in lock.read_text("utf-8")


def test_only_what_the_program_has_written_is_removed(copy: Path) -> None:
    ours = "explorer.html", ".runs.jsonl", ".work/.0123456789abcdef.unpublished"
    (copy / ".work").mkdir()
    for name in ours:
        (copy / name).write_text("of the program")
    others = {"notes.txt", "other.parquet", "README.md"}
    for name in others:
        (copy / name).write_text("precious")
    remove_outputs(Folder(copy))
    assert {path.name for path in copy.iterdir()} == others
