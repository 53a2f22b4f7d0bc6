"""Tests of the setup: what each lock file holds, and what `make` installs, prints and repairs."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from queries.explorer.writer import write_explorer
from tablebase.tables.store import Folder
from tests.support.shell import ROOT
from tools.remove_outputs import remove_outputs

LOCKS = ("requirements.lock", "requirements-report.lock", "requirements-dev.lock")
PACKAGE = re.compile(r"[a-z0-9-]+==[\w.]+(?: ; [^;\\/]+)?")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def read_lock(name: str) -> dict[str, set[str]]:
    """Return each package of a lock file, with version and marker, and the hashes of its files."""
    result: dict[str, set[str]] = {}
    for package in (ROOT / name).read_text("utf-8").replace("\\\n", "").splitlines():
        first, *hashes = package.split("    ")
        assert PACKAGE.fullmatch(first.strip()), first
        assert all(HASH.fullmatch(word.strip()) for word in hashes), first
        result[first.strip()] = {word.strip() for word in hashes}
    return result


def list_names(packages: dict[str, set[str]]) -> set[str]:
    return {package.partition("==")[0] for package in packages}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_holds_only_names_versions_and_hashes(name: str) -> None:
    packages = read_lock(name)
    assert packages
    assert all(packages.values()), "every file that may be installed is known by its hash"


def test_each_lock_file_includes_the_one_before_it() -> None:
    base, report, dev = (read_lock(name) for name in LOCKS)
    assert base.items() < report.items() < dev.items()


def test_the_first_lock_file_has_the_dependencies_and_no_tool() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    base_lock, report_lock, dev_lock = (list_names(read_lock(name)) for name in LOCKS)

    def parse_names(requirements: list[str | dict[str, str]]) -> set[str]:
        texts = [text for text in requirements if isinstance(text, str)]
        return {re.split(r"[\[>=;]", text)[0] for text in texts}

    groups = project["dependency-groups"]
    assert (
        parse_names(project["project"]["dependencies"]) | parse_names(groups["build"]) <= base_lock
    )
    report = parse_names(project["project"]["optional-dependencies"]["report"])
    assert report <= report_lock
    assert not report & base_lock
    assert parse_names(groups["dev"]) <= dev_lock
    assert not parse_names(groups["dev"]) & report_lock


def test_no_lock_file_holds_an_address() -> None:
    for name in (*LOCKS, "package-lock.json"):
        assert "://" not in (ROOT / name).read_text("utf-8"), name


# ---- make -----------------------------------------------------------------------------------

STUB = """#!/bin/sh
echo "$*" >> "$LOG"
case "$*" in
    *version_info*) exit ${OLD:-0} ;;
    *ensurepip*) exit ${BARE:-0} ;;
    *cpu_count*) echo 3 ;;
    "-m venv --clear "*)
        rm -rf "$4"
        mkdir -p "$4/bin"
        for name in python pipeline ruff mypy lint-imports; do cp "$0" "$4/bin/$name"; done ;;
    "-m pip "*"-r ${CUT:-none}") kill -9 $PPID ;;
esac
"""
"""Script in place of Python, pip and the program: it logs its calls and installs nothing."""


class Clone:
    """A fresh clone whose Python is the stub."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        for name in ("Makefile", "pyproject.toml", *LOCKS):
            shutil.copy2(ROOT / name, folder)
        stub = folder / "a-python"
        stub.write_text(STUB, "utf-8")
        stub.chmod(0o755)

    def make(self, target: str, **settings: str) -> tuple[int, str, str]:
        """Run `make`; return its exit code, its output and the logged calls."""
        self.log.write_text("", "utf-8")
        result = subprocess.run(
            ["make", "--no-print-directory", target, f"PYTHON={self.folder / 'a-python'}"],
            cwd=self.folder,
            env={
                "PATH": os.environ["PATH"],
                "LOG": str(self.log),
                **settings,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return result.returncode, result.stdout, self.log.read_text("utf-8")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def test_the_javascript_lock_file_holds_versions_and_hashes_and_no_address() -> None:
    _, *packages = json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"].values()
    assert packages
    for package in packages:
        assert package["version"]
        assert package["integrity"].startswith("sha512-")
        assert "resolved" not in package


@pytest.mark.parametrize("target", ["precompute", "report", "test"])
def test_an_interrupted_install_starts_again(clone: Clone, target: str) -> None:
    assert clone.make("precompute")[0] == 0
    for stamp in (clone.folder / ".venv").glob(".*"):
        os.utime(stamp, (0, 0))
    lock = dict(zip(("precompute", "report", "test"), LOCKS, strict=True))[target]
    code, _, called = clone.make(target, CUT=lock)
    assert code != 0
    assert called.endswith(f"-r {lock}\n")
    code, _, called = clone.make(target)
    assert code == 0
    assert called.index("-m venv --clear") < called.index(f"-r {lock}")
    assert "-m pip" not in clone.make(target)[2]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"OLD": "1"},
            "is not Python 3.11 or newer. Name another, for example: make PYTHON=python3.13",
        ),
        (
            {"BARE": "1"},
            "has no module venv. On Debian and Ubuntu: apt-get install python3-venv",
        ),
    ],
)
def test_an_unsuitable_python_is_refused_with_the_reason(
    clone: Clone, settings: dict[str, str], sentence: str
) -> None:
    code, text, called = clone.make("precompute", **settings)
    assert code == 2
    assert text.splitlines()[0] == f"{clone.folder / 'a-python'} {sentence}"
    assert "-m pip" not in called


def test_only_what_the_program_has_written_is_removed(copy: Path) -> None:
    write_explorer(Folder(copy), str(copy / "explorer.html"))
    (copy / ".eight.parquet.unpublished").write_text("half")
    others = {"notes.txt", "other.parquet", "README.md"}
    for name in others:
        (copy / name).write_text("precious")
    remove_outputs(Folder(copy))
    assert {path.name for path in copy.iterdir()} == others
