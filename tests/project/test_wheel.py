"""Test the release as `make release-check` makes it: its packages, built, installed and used.

These tests install packages from the index that pip is set up for.
"""

import re
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.support.environments import make_environment, run_apart
from tests.support.hosts import serve
from tests.support.shell import ROOT, run
from tools import release
from tools.try_wheel import try_wheel

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
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of a release, whose packages were built twice and checked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release, "DIST", tmp_path_factory.mktemp("dist"))
        return release.write_packages()


@pytest.mark.nightly
def test_the_packages_hold_the_program_and_two_builds_are_the_same_bytes(wheel: Path) -> None:
    (_,) = wheel.parent.glob("*.tar.gz")  # `build` made the wheel from it
    (archive,) = (wheel.parents[1] / "npm").iterdir()
    with tarfile.open(archive) as opened:
        assert {"package/index.js", "package/types/index.d.ts"} < {*opened.getnames()}
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
def test_an_empty_environment_answers_from_a_host_and_builds(wheel: Path, tmp_path: Path) -> None:
    programs = make_environment(tmp_path / "env", str(wheel))
    folder = tmp_path / "folder"
    folder.mkdir()
    with serve(ROOT / "outputs") as host:
        file, distance = run_apart(programs / "python", "-c", ANSWER, host.url, cwd=folder).split()
    assert Path(file).is_relative_to(tmp_path / "env")
    assert distance == "27"
    assert "eight_edge" in run_apart(programs / "pipeline", "precompute", "eight", cwd=folder)
    assert "27 moves" in run_apart(programs / "pipeline", "query", "eight", "378546201", cwd=folder)
    assert {path.name for path in folder.iterdir()} == {"outputs"}, "in the current folder"


@pytest.mark.nightly
def test_a_wheel_is_tried_as_the_release_does(wheel: Path, tmp_path: Path, outputs: Path) -> None:
    try_wheel(wheel, tmp_path / "tables")
    built = {path.name: path.read_bytes() for path in (tmp_path / "tables").glob("*.parquet")}
    assert built == {name: (outputs / name).read_bytes() for name in built}


@pytest.mark.nightly
def test_a_reward_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """Type what the page about training begins with, in an empty environment."""
    programs = make_environment(tmp_path / "env", "pip")
    shutil.copy(wheel, tmp_path)
    page = (ROOT / "docs" / "train.md").read_text("utf-8")
    blocks = re.findall(r"^```(sh|pycon)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (first, commands), (second, session), *_ = blocks
    assert (first, second) == ("sh", "pycon")
    path = f"PATH={programs}:$PATH; set -e\n"
    run_apart("sh", "-c", f"{path}{commands}", cwd=tmp_path)
    (tmp_path / "session.txt").write_text(session)
    tested = run_apart(programs / "python", "-m", "doctest", "-v", "session.txt", cwd=tmp_path)
    assert "8 passed" in tested
