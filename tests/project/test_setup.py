"""Tests of the setup: what each lock file holds, and what `make clean` removes."""

import json
import re
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
    assert "://" not in (ROOT / name).read_text("utf-8")
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


def test_the_javascript_lock_file_holds_versions_and_hashes_and_no_address() -> None:
    text = (ROOT / "package-lock.json").read_text("utf-8")
    assert "://" not in text
    _, *packages = json.loads(text)["packages"].values()
    assert packages
    for package in packages:
        assert package["version"]
        assert package["integrity"].startswith("sha512-")
        assert "resolved" not in package


def test_only_what_the_program_has_written_is_removed(copy: Path) -> None:
    write_explorer(Folder(copy), str(copy / "explorer.html"))
    (copy / ".eight.parquet.unpublished").write_text("half")
    others = {"notes.txt", "other.parquet", "README.md"}
    for name in others:
        (copy / name).write_text("precious")
    remove_outputs(Folder(copy))
    assert {path.name for path in copy.iterdir()} == others
