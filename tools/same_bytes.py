"""A check that another Python builds the same bytes: `python -m tools.same_bytes PYTHON`.

The lock file's packages and the program are installed as a user installs them, in a folder outside
the checkout. The tables built there are compared with those of `outputs/`.
"""

from __future__ import annotations

import filecmp
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from puzzle_tablebase.pipeline.log import RUNS
from puzzle_tablebase.stores import LOCK
from tools.sessions import ROOT

NOT_COMPARED = (LOCK, RUNS)
"""Files that are not part of the tables: the lock, and the log of builds."""
ENVIRONMENT = {"PATH": os.environ["PATH"], "COLUMNS": "80", "LC_ALL": "C.UTF-8"}


def find_differences(python: str, folder: Path) -> tuple[list[str], list[str]]:
    """Build with another Python; return the files that differ or that one build lacks."""
    scripts = folder / "venv" / "bin"
    pip = [str(scripts / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements.lock")], check=True)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", str(ROOT)], check=True)
    for words in (["precompute"], ["verify", "--quick"]):
        subprocess.run([scripts / "pipeline", *words], cwd=folder, env=ENVIRONMENT, check=True)
    built = [path.name for path in (folder / "outputs").iterdir() if path.name not in NOT_COMPARED]
    folders = (folder / "outputs", ROOT / "outputs")
    _, different, absent = filecmp.cmpfiles(*folders, built, shallow=False)
    return different, absent


def main(python: str) -> None:
    """Compare a Python with this one; exit with 1 if anything differs."""
    with tempfile.TemporaryDirectory() as folder:
        different, absent = find_differences(python, Path(folder))
    if wrong := [*different, *absent]:
        sys.exit(f"{python} makes others than {sys.executable} does: {', '.join(sorted(wrong))}")
    print(f"{python} builds the same bytes as {sys.executable}.")


if __name__ == "__main__":
    main(sys.argv[1])
