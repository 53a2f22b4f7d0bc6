"""A check that the newest installed Python builds the same bytes: `make same-bytes`.

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
import tomllib
from pathlib import Path

from puzzle_tablebase.pipeline.runs import RUNS
from puzzle_tablebase.stores.folder import LOCK
from tools.sessions import PROGRAM, ROOT

NOT_COMPARED = (LOCK, RUNS)
"""Names that are no part of the tables: the lock, and the log of builds."""
QUERY_GROUPS = ("eight", "senet", "knight", "no", "overview")
"""Files of `tests/golden` whose commands are run."""
ENVIRONMENT = {"PATH": os.environ["PATH"], "COLUMNS": "80", "LC_ALL": "C.UTF-8"}


def find_newest() -> tuple[str, str] | None:
    """Return version and path of the newest Python here, or None if this one is the newest.

    Only versions that `pyproject.toml` lists are considered.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    versions = (word.rpartition(" ")[2] for word in project["classifiers"])
    minors = (int(word[2:]) for word in versions if word.startswith("3."))
    for minor in sorted(minors, reverse=True):
        if minor <= sys.version_info.minor:
            break
        version = f"3.{minor}"
        # pyenv runs the version that this variable names
        env = {**os.environ, "PYENV_VERSION": version}
        try:
            result = subprocess.run(
                [f"python{version}", "-c", "import sys; print(sys.executable)"],
                env=env,
                capture_output=True,
                text=True,
                check=True,
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        return version, result.stdout.strip()
    return None


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


def main() -> int:
    """Compare the newest Python with this one; return 1 if anything differs."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    newest = find_newest()
    if newest is None:
        print(f"No Python newer than {here} is here: nothing to compare.")
        return 0
    version, python = newest
    with tempfile.TemporaryDirectory() as folder:
        wrong = find_differences(python, Path(folder))
    for name in wrong:
        print(f"Python {version} makes another {name} than {here} does.", file=sys.stderr)
    if not wrong:
        print(f"Python {version} builds the same bytes as {here}, and answers the same.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
