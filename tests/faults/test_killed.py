"""A build that is killed, stopped, short of space or raced leaves old tables or new ones, whole."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.definition import PUZZLE as KNIGHT
from tablebase.puzzles.knight.definition import make_tour_table
from tablebase.tables import MANIFEST
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests import LONG, often, wide
from tests.support.build_recorder import build_tables
from tests.support.shell import ROOT, SCRIPT, Cli, environment, program, with_a_disk
from tests.support.tampered import sha256

QUESTIONS = {
    ("eight", "378546201", "--json"): '"distance": 27',
    ("eight", "378546201", "--goal", "012345678", "--json"): '"distance":',
    ("senet", "ABAAABBB.B...A.", "--json"): '"dice": "53"',
    ("knight", "b1", "--json"): '"path": "b1',
    ("knight", "a1", "--board", "6x6", "--number", "12345", "--json"): '"number": 12345',
    ("knight", "c3", "--board", "5x5", "--count", "--json"): '"tours": 64',
}

EIGHT = ("eight.parquet", "eight_edge.parquet")


def start_build(folder: Path, *words: str) -> subprocess.Popen[str]:
    """A build in a process of its own."""
    return subprocess.Popen(
        [SCRIPT, "precompute", *words, "--outputs", str(folder)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def get_modified_time(path: Path) -> int | None:
    """When a file was written; None once it is gone."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def assert_answers_or_refuses(cli: Cli, folder: Path, puzzle: str = "") -> None:
    for question, wanted in QUESTIONS.items():
        if puzzle not in ("", question[0]):
            continue
        code, text, complaint = cli("query", *question, "--outputs", str(folder))
        assert (code == 0 and wanted in text) or (code == 3 and not text), (question, complaint)
        assert "Traceback" not in complaint


def assert_same_tables(folder: Path, outputs: Path) -> None:
    names = sorted(path.name for path in folder.iterdir() if path.name != ".lock")
    assert names == sorted(path.name for path in outputs.iterdir() if is_table(path))
    assert read_manifest(Folder(folder)) == read_manifest(Folder(outputs))
    for name in names:
        if name != MANIFEST:
            assert (folder / name).read_bytes() == (outputs / name).read_bytes(), name


def is_table(path: Path) -> bool:
    return path.suffix in (".parquet", ".idx", ".json")


def copied_outputs(outputs: Path, folder: Path) -> Path:
    """What is published, again: a build in it begins where another has ended."""
    folder.mkdir(exist_ok=True)
    for path in outputs.iterdir():
        if is_table(path):
            shutil.copy(path, folder)
    return folder


CHANGES = 120
"""About as often does a build of everything change the names in its folder."""


def kill_after(build: subprocess.Popen[str], folder: Path, changes: int, more: float) -> None:
    """Kill a build once the names in its folder have changed so often, and a moment has passed."""
    names = os.listdir(folder)
    while changes and build.poll() is None:
        before, names = names, os.listdir(folder)
        changes -= names != before
        time.sleep(0.001)
    time.sleep(more)
    build.kill()
    build.communicate()


@wide
@pytest.mark.long
def test_killed_at_random_moments(cli: Cli, outputs: Path, tmp_path: Path) -> None:
    draw = random.Random(2026)
    copied_outputs(outputs, tmp_path)
    for _ in range(often(1, 200)):
        forced = draw.random() < 0.5
        if not forced:
            for path in tmp_path.iterdir():
                if draw.random() < 0.5:
                    path.unlink()
        build = start_build(tmp_path, *(["--force"] if forced else []))
        kill_after(build, tmp_path, draw.randrange(CHANGES), draw.uniform(0, 0.2))
        assert_answers_or_refuses(cli, tmp_path)
        code, _, complaint = cli("precompute", "--outputs", str(tmp_path))
        assert code == 0, complaint
        assert_same_tables(tmp_path, outputs)


BUILDS = """
import os, shutil, signal, sys
import numba, numpy, pyarrow.parquet, pipeline.build
from pipeline.commands.app import app
from tablebase.tables import parquet

real = os.replace

def built(folder, *words, level=3, renames=-1):
    "How a build of the 8-puzzle ended that was to be killed before a rename; -1: before none."
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def replace(part, path):
        nonlocal renames
        if renames == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        renames -= 1
        real(part, path)

    os.replace = replace
    parquet.COMPRESSION_LEVEL = level
    try:
        app(["precompute", "eight", *words, "--outputs", folder])
    except SystemExit as ended:
        os._exit(ended.code or 0)

if sys.argv[1] == "kill":
    old, new, tried = sys.argv[2:]
    assert built(old, level=1) == built(new) == 0
    renames, ended = 0, -signal.SIGKILL
    while ended == -signal.SIGKILL:
        folder = os.path.join(tried, str(renames))
        shutil.copytree(old, folder)
        ended = built(folder, "--force", renames=renames)
        renames += 1
    assert ended == 0
else:
    assert all(built(folder) == 0 for folder in sys.argv[2:])
"""
"""Each build in a fork of one process, because importing all that builds takes longer than it."""


def expect_success(*words: object) -> None:
    command = [program("python"), "-c", BUILDS, *map(str, words)]
    ended = subprocess.run(
        command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.long
def test_killed_before_every_rename(cli: Cli, tmp_path: Path) -> None:
    """Nothing but a rename changes what is published, so these are all the states there can be."""
    old, new, tried = (tmp_path / name for name in ("old", "new", "tried"))
    expect_success("kill", old, new, tried)
    files = {path.name for path in new.iterdir() if is_table(path)}
    whole = {name: {(where / name).read_bytes() for where in (old, new)} for name in files}
    assert {name for name in files if len(whole[name]) == 2} == {*EIGHT, MANIFEST}
    folders = sorted(tried.iterdir())
    steps = "an index, a table, the manifest and its copy, twice; and the build that lived"
    assert len(folders) == 9, steps
    for folder in folders:
        for name in {*files} - {MANIFEST}:
            assert (folder / name).read_bytes() in whole[name], (folder, name)
        assert_answers_or_refuses(cli, folder, "eight")
    expect_success("mend", *folders)
    for folder in folders:
        for entry in read_manifest(Folder(folder)).values():
            for file in entry.all_files:
                assert sha256(folder / file.file) == file.sha256
        assert not list(folder.glob(".*.unpublished"))


def test_a_killed_listing_goes_on_where_it_was(outputs: Path, tmp_path: Path) -> None:
    table = make_tour_table(KnightBoard(5, 7))
    build_tables(tmp_path / "whole", KNIGHT, table)
    folder = copied_outputs(outputs, tmp_path / "folder")
    build = start_build(folder, "knight", "--board", "5x7", "--jobs", "1")
    while len(list(folder.glob(".knight_tours_5x7.*.kept"))) < 5:
        assert build.poll() is None
        time.sleep(0.01)
    build.kill()
    build.communicate()
    kept = {path: path.stat().st_mtime_ns for path in folder.glob(".knight_tours_5x7.*.kept")}
    first = max(kept, key=lambda path: path.stat().st_size)  # it takes long enough to be kept again
    when = kept[first]
    first.write_bytes(first.read_bytes()[:-1])
    os.utime(first, ns=(when, when))
    resumed = start_build(folder, "knight", "--board", "5x7")
    again = set()
    while resumed.poll() is None:
        again |= {
            path for path, when in kept.items() if get_modified_time(path) not in (when, None)
        }
        time.sleep(0.01)
    _, complaint = resumed.communicate()
    assert resumed.returncode == 0, complaint
    assert again == {first}, "only what was damaged is searched again"
    assert (folder / table.file).read_bytes() == (tmp_path / "whole" / table.file).read_bytes()
    assert not list(folder.glob("*.kept")), "what was kept is cleared"


@pytest.mark.parametrize("after", [0.5, 2.0])
def test_interrupted(tmp_path: Path, after: float) -> None:
    build = start_build(tmp_path)
    time.sleep(after)
    build.send_signal(signal.SIGINT)
    _, complaint = build.communicate(timeout=60)
    assert build.returncode in (130, -signal.SIGINT), complaint
    assert "Traceback" not in complaint
    assert not list(tmp_path.glob("*.unpublished")), "no litter"
    assert not list(tmp_path.glob(".*.unpublished")), "no litter"


@pytest.mark.parametrize(
    "limit", [pytest.param(1_000, marks=wide), 500_000, pytest.param(2_000_000, marks=wide)]
)
def test_no_space_for_a_file(tmp_path: Path, limit: int) -> None:
    import resource

    ended = subprocess.run(
        [SCRIPT, "precompute", "eight", "--outputs", str(tmp_path)],
        # what measures coverage could not save it either, nor Python a compiled module whole
        env=environment({"COVERAGE_PROCESS_CONFIG": "", "PYTHONDONTWRITEBYTECODE": "1"}),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    if limit < 1_500_000:
        assert ended.returncode == 3, ended.stderr
        assert "Free some space" in ended.stderr
    else:
        assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert not list(tmp_path.glob(".*.unpublished"))


FULL = """
mount -t tmpfs -o size={size}m none {folder} || exit 9
{build}
echo $?
ls -A {folder}
mount -o remount,size=200m {folder}
{build}
echo $?
cp {folder}/*.* {kept}
"""


@pytest.mark.parametrize("size", [pytest.param(1, marks=wide), 3])
def test_a_full_disk(tmp_path: Path, outputs: Path, size: int) -> None:
    assert_completes_when_there_is_room("eight", size, tmp_path, outputs)


@pytest.mark.skipif(not LONG, reason="a part of the long run")
@pytest.mark.parametrize("size", [10, 25, 30, 35, 50, 80])
def test_a_disk_too_full_for_all(tmp_path: Path, outputs: Path, size: int) -> None:
    assert_completes_when_there_is_room("", size, tmp_path, outputs)


def assert_completes_when_there_is_room(
    stage: str, size: int, tmp_path: Path, outputs: Path
) -> None:
    """On a disk in memory that is too small at first."""
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    kept.mkdir()
    build = f"{SCRIPT} precompute {stage} --outputs {disk}"
    script = FULL.format(size=size, folder=disk, build=build, kept=kept)
    ended = with_a_disk(script)
    first, *text = ended.stdout.split()
    assert first == "3"
    assert f"Cannot build in {disk}: no space left on device. Free some space" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not [name for name in text if name.endswith(".unpublished")]
    assert text[-1] == "0", ended.stderr
    for path in kept.iterdir():
        if path.name != MANIFEST:
            assert path.read_bytes() == (outputs / path.name).read_bytes(), path.name
    assert len(read_manifest(Folder(kept))) == (2 if stage else 7)


def test_the_second_of_two_builds_names_the_first(cli: Cli, tmp_path: Path) -> None:
    with Folder(tmp_path).lock():
        code, _, complaint = cli("precompute", "eight", "--outputs", str(tmp_path))
    assert code == 3
    assert f"it is locked by another build (process {os.getpid()})" in complaint
    assert cli("precompute", "eight", "--outputs", str(tmp_path)).code == 0


def test_a_reader_keeps_the_tables_it_opened(cli: Cli, outputs: Path, tmp_path: Path) -> None:
    from queries import open_tables

    copied_outputs(outputs, tmp_path)
    eight = open_tables(str(tmp_path)).eight
    assert eight.distance("378546201") == 27
    assert cli("precompute", "eight", "--force", "--outputs", str(tmp_path)).code == 0
    (tmp_path / "eight.idx").unlink()
    assert eight.distance("378546201") == 27


@pytest.mark.parametrize("folder", ["/dev/null", "/dev/null/under", "/proc/none"])
def test_a_folder_that_cannot_be_built_in(cli: Cli, folder: str) -> None:
    code, _, complaint = cli("precompute", "eight", "--outputs", folder)
    assert code == 3
    assert complaint.startswith(f"pipeline: Cannot build in {folder}: ")
    assert "--outputs" in complaint
