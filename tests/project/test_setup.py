"""Tests of the setup: locked packages, and what `make clean` removes."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.shell import ROOT

LOCKS = [*ROOT.glob("requirements*.lock"), ROOT / "queries" / "package-lock.json"]


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
    subprocess.run([sys.executable, "-m", "tools.remove_outputs", copy], cwd=ROOT, check=True)
    assert {path.name for path in copy.iterdir()} == others
