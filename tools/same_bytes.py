"""A check that another Python builds the same bytes: `python -m tools.same_bytes PYTHON`.

The lock file's packages and the program are installed as a user installs them, in a folder outside
the checkout. The tables built there, and the answers to queries, are compared with those of
`outputs/`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from puzzle_tablebase.pipeline.runs import RUNS
from puzzle_tablebase.stores.folder import LOCK
from tools.sessions import PROGRAM, ROOT

NOT_COMPARED = (LOCK, RUNS)
"""Names that are no part of the tables: the lock, and the log of builds."""
QUERY_GROUPS = ("eight", "senet", "knight", "no", "overview")
"""Files of `tests/golden` whose commands are run."""
ENVIRONMENT = {"PATH": os.environ["PATH"], "COLUMNS": "80", "LC_ALL": "C.UTF-8"}


def list_queries() -> list[list[str]]:
    """List the words of the recorded commands."""
    texts = (
        (ROOT / "tests" / "golden" / f"{name}.txt").read_text("utf-8") for name in QUERY_GROUPS
    )
    commands = (re.findall(r"^\$ pipeline (.+)", text, re.MULTILINE) for text in texts)
    return [shlex.split(command) for each in commands for command in each]


def run_query(script: Path, words: list[str], folder: Path) -> tuple[int, str, str]:
    """Run a command in a folder with `outputs/`; return its exit code, stdout and stderr."""
    result = subprocess.run(
        [str(script), *words],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    return result.returncode, result.stdout, result.stderr


def find_differences(python: str, folder: Path) -> list[str]:
    """Build and query with another Python; return the files and commands that differ."""
    scripts = folder / "venv" / "bin"
    pip = [str(scripts / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements.lock")], check=True)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", str(ROOT)], check=True)
    script = scripts / "pipeline"
    subprocess.run([script, "precompute"], cwd=folder, env=ENVIRONMENT, check=True)
    subprocess.run([script, "verify", "--quick"], cwd=folder, env=ENVIRONMENT, check=True)
    built = sorted(path for path in (folder / "outputs").iterdir() if path.name not in NOT_COMPARED)
    wrong = [path.name for path in built if not have_same_bytes(path, ROOT / "outputs" / path.name)]
    for words in list_queries():
        if run_query(script, words, folder) != run_query(PROGRAM, words, ROOT):
            wrong.append(f"pipeline {' '.join(words)}")
    return wrong


def have_same_bytes(path: Path, other: Path) -> bool:
    return other.is_file() and path.read_bytes() == other.read_bytes()


def main(python: str) -> int:
    """Compare a Python with this one; return 1 if anything differs."""
    with tempfile.TemporaryDirectory() as folder:
        wrong = find_differences(python, Path(folder))
    for name in wrong:
        print(f"{python} makes another {name} than {sys.executable} does.", file=sys.stderr)
    if not wrong:
        print(f"{python} builds the same bytes as {sys.executable}, and answers the same.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
