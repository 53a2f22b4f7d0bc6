"""Tests of the setup: locked packages, interrupted installs, and what `make clean` removes."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tablebase.tables.manifest import read_manifest, record_page
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


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clone with all that `make setup` uses, and that Python."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, folder)
    (folder / "python").write_text(PYTHON)
    (folder / "python").chmod(0o755)
    return folder


def set_up(clone: Path) -> tuple[int, bool]:
    """Return the exit code of `make setup`, and whether it made the environment anew."""
    (clone / "called").write_text("")
    command = ["make", "setup", f"PYTHON={clone}/python"]
    code = subprocess.run(command, cwd=clone, env=environment(), check=False).returncode
    return code, "-m venv --clear .venv\n" in (clone / "called").read_text()


def test_an_interrupted_install_starts_again_with_an_empty_environment(clone: Path) -> None:
    for is_first in (True, False):
        (clone / "broken").touch()
        assert set_up(clone) == (2, is_first)
        (clone / "broken").unlink()
        assert set_up(clone) == (0, True)
        assert set_up(clone) == (0, False)
        assert (clone / "called").read_text() == "", "nothing is left to install"
        os.utime(clone / ".venv" / ".tables", times=(0, 0))  # the lock file is newer


def test_a_renamed_clone_makes_its_environment_anew(clone: Path) -> None:
    assert set_up(clone) == (0, True)
    renamed = clone.rename(clone.with_name("renamed"))
    assert set_up(renamed) == (0, True)
    assert set_up(renamed) == (0, False)


def test_only_what_the_program_has_written_is_removed(copy: Path) -> None:
    (copy / "explorer.html").write_text("a page")
    record_page(Folder(copy), str(copy / "explorer.html"), "explore", read_manifest(Folder(copy)))
    (copy / ".eight.parquet.0123456789abcdef.unpublished").write_text("half")
    others = {"notes.txt", "other.parquet", "README.md"}
    for name in others:
        (copy / name).write_text("precious")
    remove_outputs(Folder(copy))
    assert {path.name for path in copy.iterdir()} == others
