"""The newest Python that there is builds the same bytes: `make same-bytes`.

It gets the lock file's packages and the program as a user installs it, in a folder of its own far
from the checkout, builds every table there and answers. What it makes is held against `outputs/`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from tests.support.commands import lines
from tests.support.shell import ROOT, SCRIPT, environment

ASKED = ("eight", "senet", "knight", "no", "overview")


def newest() -> tuple[str, str] | None:
    """The newest Python that the project names and that runs here, if newer than this one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = (word.rpartition(" ")[2] for word in project["classifiers"])
    minors = (int(word[2:]) for word in named if word.startswith("3."))
    for minor in sorted(minors, reverse=True):
        if minor <= sys.version_info.minor:
            break
        version = f"3.{minor}"
        # where pyenv holds several, it runs the one that this names
        env = {**os.environ, "PYENV_VERSION": version}
        try:
            said = subprocess.run(
                [f"python{version}", "-c", "import sys; print(sys.executable)"],
                env=env,
                capture_output=True,
                text=True,
                check=True,
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        return version, said.stdout.strip()
    return None


def run_query(script: Path, words: list[str], folder: Path) -> tuple[int, str, str]:
    """How a command ended and what it said, asked in a folder with outputs/ in it."""
    ended = subprocess.run(
        [str(script), *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


def differences(python: str, folder: Path) -> list[str]:
    """What another Python makes otherwise, in a folder of its own."""
    scripts = folder / "venv" / "bin"
    pip = [str(scripts / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements.lock")], check=True)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", str(ROOT)], check=True)
    script = scripts / "pipeline"
    subprocess.run([script, "precompute"], cwd=folder, env=environment(), check=True)
    subprocess.run([script, "verify", "--quick"], cwd=folder, env=environment(), check=True)
    made = sorted(path for path in (folder / "outputs").iterdir() if path.name != ".lock")
    wrong = [path.name for path in made if not same(path, ROOT / "outputs" / path.name)]
    for words in (words for group in ASKED for words in lines(group)):
        if run_query(script, words, folder) != run_query(SCRIPT, words, ROOT):
            wrong.append(f"pipeline {' '.join(words)}")
    return wrong


def same(path: Path, other: Path) -> bool:
    return other.is_file() and path.read_bytes() == other.read_bytes()


def main() -> int:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = newest()
    if found is None:
        print(f"No Python newer than {here} is here: nothing to compare.")
        return 0
    version, python = found
    with tempfile.TemporaryDirectory() as folder:
        wrong = differences(python, Path(folder))
    for name in wrong:
        print(f"Python {version} makes another {name} than {here} does.", file=sys.stderr)
    if not wrong:
        print(f"Python {version} builds the same bytes as {here}, and answers the same.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
