"""Environments of their own, with packages from the index that pip is set up for."""

import sys
import sysconfig
from pathlib import Path

from tests.support.shell import ROOT, run


def run_apart(*command: str | Path, cwd: Path) -> str:
    """Run a command apart from this checkout's packages; return its output."""
    env = {"SOURCE_DATE_EPOCH": "1700000000", "PYTHONPATH": "", "PIPELINE_TRACEBACK": ""}
    ended = run(command, cwd=cwd, env=env)
    assert ended.code == 0, ended
    return ended.out


def make_environment(folder: Path, *requirements: str) -> Path:
    """Make an environment, or take one, and install packages; return the folder of its programs."""
    if not folder.exists():
        run_apart(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    pip = (folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check")
    run_apart(*pip, "install", "--quiet", *requirements, cwd=folder.parent)
    return folder / "bin"


def see_packages(programs: Path) -> None:
    """Let an environment use this checkout and the packages of the tests, which it installs not."""
    (site,) = programs.parent.glob("lib/python*/site-packages")
    (site / "tests.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")
