"""Test the release as CONTRIBUTING.md makes it: its packages, built, checked, installed and used.

These tests install packages from the index that pip is set up for.
"""

import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.support.environments import make_environment, run_apart
from tests.support.hosts import serve
from tests.support.shell import ROOT, run

LINKED = ("queries", "pipeline")
"""Parts of the package that stand at the top level of the repository, linked into it."""
LOCKS = [*ROOT.glob("requirements*.lock"), ROOT / "queries" / "package-lock.json"]
ANSWER = """
import sys
import puzzle_tablebase as pt
print(pt.__file__)
print(pt.open_tables(sys.argv[1]).eight.probe("378546201").distance)
"""


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_file_holds_no_address(lock: Path) -> None:
    assert "://" not in lock.read_text("utf-8")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a release, built twice and checked."""
    place = tmp_path_factory.mktemp("release")
    tools = make_environment(place / "tools", "build", "twine")
    for name, umask in (("first", 0o022), ("second", 0o077)):
        clone = place / name
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], umask=umask, check=True)
        if name == "second":
            (clone / "README.md").touch()
        build = (tools / "python", "-m", "build", "--outdir", place / f"{name}-dist")
        run_apart(*build, cwd=clone)
    folder = place / "first-dist"
    built = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert built == {path.name: path.read_bytes() for path in (place / "second-dist").iterdir()}
    run_apart(tools / "twine", "check", "--strict", *folder.iterdir(), cwd=place)
    return folder


@pytest.mark.nightly
def test_the_packages_hold_the_program_and_two_builds_are_the_same_bytes(release: Path) -> None:
    (wheel,) = release.glob("*.whl")
    (_,) = release.glob("*.tar.gz")  # `build` made the wheel from it
    with zipfile.ZipFile(wheel) as files:
        names = set(files.namelist())
    listed = run(["git", "ls-files", "puzzle_tablebase", *LINKED]).out.split()
    links = {f"puzzle_tablebase/{name}" for name in LINKED}
    expected = {
        f"puzzle_tablebase/{name}" if name.startswith(LINKED) else name
        for name in {*listed} - links
    }
    linted_by = (".npmrc", "eslint.config.js", "package-lock.json", "package.json")
    expected -= {f"puzzle_tablebase/queries/{name}" for name in linted_by}
    packed = {name for name in names if not name.startswith("puzzle_tablebase-")}
    assert packed == expected


@pytest.mark.nightly
def test_an_empty_environment_answers_from_a_host_and_builds(release: Path, tmp_path: Path) -> None:
    (wheel,) = release.glob("*.whl")
    programs = make_environment(tmp_path / "env", str(wheel))
    place = tmp_path / "place"
    place.mkdir()
    with serve(ROOT / "outputs") as host:
        file, distance = run_apart(programs / "python", "-c", ANSWER, host.url, cwd=place).split()
    assert Path(file).is_relative_to(tmp_path / "env")
    assert distance == "27"
    assert "eight_edge" in run_apart(programs / "pipeline", "precompute", "eight", cwd=place)
    assert "27 moves" in run_apart(programs / "pipeline", "query", "eight", "378546201", cwd=place)
    assert {path.name for path in place.iterdir()} == {"outputs"}, "in the current folder"
