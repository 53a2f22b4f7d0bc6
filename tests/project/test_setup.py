"""Tests of the setup: locked packages, interrupted installs, and what `make clean` removes."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from queries.explorer.writer import write_explorer
from tablebase.tables.store import Folder
from tests.support.shell import ROOT, environment
from tools.remove_outputs import remove_outputs

LOCKS = [*ROOT.glob("requirements*.lock"), ROOT / "package-lock.json"]
PYTHON = """#!/bin/sh
echo "$@" >> called
case "$2" in
venv) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
pip) test ! -e broken ;;
esac
"""
"""A Python that makes environments of itself, notes how it is called, and may fail to install."""


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_file_holds_no_address(lock: Path) -> None:
    assert "://" not in lock.read_text("utf-8")


def test_an_interrupted_install_starts_again_with_an_empty_environment(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "python").write_text(PYTHON)
    (tmp_path / "python").chmod(0o755)
    calls, broken = tmp_path / "called", tmp_path / "broken"

    def set_up() -> tuple[int, bool]:
        """Return the exit code of `make setup`, and whether it made the environment anew."""
        calls.write_text("")
        command = ["make", "setup", f"PYTHON={tmp_path}/python"]
        code = subprocess.run(command, cwd=tmp_path, env=environment(), check=False).returncode
        return code, "-m venv --clear .venv\n" in calls.read_text()

    for is_first in (True, False):
        broken.touch()
        assert set_up() == (2, is_first)
        broken.unlink()
        assert set_up() == (0, True)
        assert set_up() == (0, False)
        assert calls.read_text() == "", "nothing is left to install"
        os.utime(tmp_path / ".venv" / ".tables", times=(0, 0))  # the lock file is newer


def test_only_what_the_program_has_written_is_removed(copy: Path) -> None:
    write_explorer(Folder(copy), str(copy / "explorer.html"))
    (copy / ".eight.parquet.unpublished").write_text("half")
    others = {"notes.txt", "other.parquet", "README.md"}
    for name in others:
        (copy / name).write_text("precious")
    remove_outputs(Folder(copy))
    assert {path.name for path in copy.iterdir()} == others
