"""A table of several files in the manifest, and what a build makes of it."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import TableDamaged
from pipeline.puzzles.knight import PUZZLE as KNIGHT
from pipeline.tables.manifest import read_manifest, write_manifest
from pipeline.verify import verify
from queries.answers import reader
from queries.overview import status
from tests.falsified import FIVE, SMALL, split
from tests.recorder import built
from tests.shell import ROOT, Cli, environment

# ---- the manifest ---------------------------------------------------------------------------

Files = list[dict[str, Any]]


@pytest.mark.parametrize(
    "edit",
    [
        lambda files: files[1].update(first=99),
        lambda files: files[1].update(first=101),
        lambda files: files[0].update(first=1),
        lambda files: files[1].update(rows=801),
        lambda files: files[2].update(rows=1),
        lambda files: (files[0].update(rows=-1), files[1].update(rows=901, first=-1)),
        lambda files: files[1].update(rows="800"),
        lambda files: files[1].pop("first"),
        lambda files: files[1].pop("sha256"),
        lambda files: files[1].update(file=files[0]["file"]),
        lambda files: files[1].update(file="eight.parquet"),
        lambda files: files[1].update(file=f"../copy/{FIVE}.2.parquet"),
        lambda files: files[1].update(file=f"{FIVE}.old.parquet"),
        lambda files: files[1].update(file=f"{FIVE}.2.parquet\n"),
        lambda files: files.reverse(),
        lambda files: files.pop(),
        lambda files: files.clear(),
        lambda files: files.append("a file"),
    ],
)
def test_a_list_of_files_that_cannot_be(
    pieces: list[Path], cli: Cli, edit: Callable[[Files], object]
) -> None:
    folder = pieces[0].parent
    entries = read_manifest(folder)
    edit(entries[FIVE]["files"])
    write_manifest(folder, entries)
    for ask in (lambda: status(str(folder)), lambda: verify(folder, quick=True)):
        with pytest.raises(TableDamaged, match="its list of tables is invalid"):
            ask()


def test_it_is_refused_at_the_shell(pieces: list[Path], cli: Cli) -> None:
    folder = pieces[0].parent
    entries = read_manifest(folder)
    entries[FIVE]["files"][1]["first"] = 101
    write_manifest(folder, entries)
    for words in ("status", "verify --quick", "query knight a1 --board 5x5"):
        said = cli(*words.split(), "--outputs", str(folder))
        assert (said.code, said.out) == (3, "")
        assert "its list of tables is invalid" in said.err


# ---- builds ---------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder with a small listing in three files."""
    folder = tmp_path / "small"
    built(folder, KNIGHT, SMALL)
    split(folder, SMALL.name, 1, 7)
    return folder


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.suffix == ".parquet"}


THREE = {f"{SMALL.name}.{number}.parquet" for number in (1, 2, 3)}


def test_a_build_takes_it_as_it_is(small: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in small.iterdir()}
    report = built(small, KNIGHT, SMALL)
    assert report.reasons == {SMALL.name: "up to date"}
    assert {path: path.stat().st_mtime_ns for path in small.iterdir()} == before
    assert names(small) == THREE


def test_a_forced_build_makes_one_file_of_it(small: Path, tmp_path: Path) -> None:
    built(tmp_path / "other", KNIGHT, SMALL)
    (small / f"{SMALL.name}.mine.parquet").write_text("mine")
    assert built(small, KNIGHT, SMALL, force=True).reasons == {SMALL.name: "forced"}
    assert names(small) == {f"{SMALL.name}.parquet", f"{SMALL.name}.mine.parquet"}
    assert read_manifest(small) == read_manifest(tmp_path / "other")


def test_what_a_killed_build_did_not_clear_goes_with_the_next(small: Path) -> None:
    stray = Path(shutil.copy(small / f"{SMALL.name}.1.parquet", small / f"{SMALL.name}.4.parquet"))
    assert built(small, KNIGHT, SMALL).reasons == {SMALL.name: "up to date"}
    assert not stray.exists()
    assert names(small) == THREE


def test_all_its_files_are_removed(small: Path, cli: Cli) -> None:
    (small / f"{SMALL.name}.mine.parquet").write_text("mine")
    said = cli("remove", SMALL.name, "--quiet", "--outputs", str(small))
    assert said == (0, "", "")
    assert names(small) == {f"{SMALL.name}.mine.parquet"}
    assert read_manifest(small) == {}


KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from pipeline.puzzles.knight import PUZZLE
from tests.falsified import SMALL
from tests.recorder import built

def killing(real, steps):
    def step(*given, **more):
        if not steps:
            os.kill(os.getpid(), signal.SIGKILL)
        steps.pop()
        return real(*given, **more)
    return step

def ended(folder, steps):
    "How a build ended that was to be killed before it renames or removes the next file."
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    left = [None] * steps
    os.replace, Path.unlink = killing(os.replace, left), killing(Path.unlink, left)
    built(folder, PUZZLE, SMALL, force=True)
    os._exit(0)

small, tried = map(Path, sys.argv[1:])
built(tried / "compiled", PUZZLE, SMALL)
steps = 0
while ended(Path(shutil.copytree(small, tried / f"{steps:03}")), steps) == -signal.SIGKILL:
    steps += 1
"""
"""Each build in a fork of one process, because importing all that builds takes longer than it."""


@pytest.mark.long
def test_killed_before_every_step(small: Path, tmp_path: Path) -> None:
    """Three files until the manifest lists one; then one, and the next build clears the others."""
    tried = tmp_path / "tried"
    command = [sys.executable, "-c", KILLED, str(small), str(tried)]
    ended = subprocess.run(
        command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    listed, left_over = [], set()
    whole = reader("knight", str(small)).facts("a1", {"board": "3x4", "number": "1"})
    for folder in sorted(tried.glob("[0-9]*")):
        listed.append(len(read_manifest(folder)[SMALL.name]["files"]))
        asked = reader("knight", str(folder))
        assert asked.facts("a1", {"board": "3x4", "number": "1"}) == whole
        wanted = THREE if listed[-1] == 3 else {f"{SMALL.name}.parquet"}
        left_over |= {(listed[-1], name) for name in names(folder) - wanted}
        assert set(built(folder, KNIGHT, SMALL).reasons.values()) == {"up to date"}
        assert names(folder) == wanted
    assert listed == sorted(listed, reverse=True)
    assert set(listed) == {3, 1}
    assert left_over == {(3, f"{SMALL.name}.parquet"), *((1, name) for name in THREE)}
    assert names(folder) == {f"{SMALL.name}.parquet"}
