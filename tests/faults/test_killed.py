"""Tests of builds that are killed, stopped or short of space: old or new tables stay intact."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.formats.manifest import read_manifest, read_versions
from puzzle_tablebase.pipeline.log import FAILED, RUNS
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.queries.scans import scan_table
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.stores import BACKUP, MANIFEST, Folder
from tests import first, usual_or_nightly
from tests.support.build_recorder import build_tables, contents, read_log
from tests.support.shell import (
    SCRIPT,
    Cli,
    await_checkpoints,
    environment,
    run,
    start_build,
    with_a_disk,
)
from tests.support.tampered import sha256

QUERIES = {
    ("eight", "378546201", "--json"): '"distance": 27',
    ("eight", "378546201", "--goal", "012345678", "--json"): '"distance":',
    ("senet", "ABAAABBB.B...A.", "--json"): '"dice": "53"',
    ("knight", "b1", "--json"): '"path": "b1',
    ("knight", "a1", "--board", "6x6", "--number", "12345", "--json"): '"number": 12345',
    ("knight", "c3", "--board", "5x5", "--count", "--json"): '"tours": 64',
}

BOARD = parse_board("2x4")
BOARD_QUERIES = {
    "sliding_2x4_8": (("sliding", "10356472", "--board", "2x4", "--json"), '"distance": 27'),
    "sliding_2x4_7": (
        ("sliding", "10356472", "--board", "2x4", "--goal", "12345607", "--json"),
        '"distance": 26',
    ),
}
"""A lookup in the index of each table of the board, in the order in which they are built."""

STEPS = 6
"""The renames that publish a table: of the manifest's copy and the manifest, which list the new
version; of its two files; of both manifests without the old version."""


def answer_or_refuse(cli: Cli, folder: Path, query: tuple[str, ...], expected: str) -> int:
    """Return the exit code of a query: the right answer, or an error with the command to run."""
    completed = cli("query", *query, "--outputs", str(folder))
    if completed.code == 3:
        assert completed.out == "", query
        assert ". Run: pipeline precompute " in completed.err, query
    else:
        assert (completed.code, completed.err) == (0, ""), query
        assert expected in completed.out, query
    return completed.code


def assert_all_answered(cli: Cli, folder: Path, old: Path) -> None:
    """Read from a folder a record and all rows of each table, which are those of `old`."""
    for table in BOARD.tables:
        assert answer_or_refuse(cli, folder, *BOARD_QUERIES[table.name]) == 0, folder
        rows = scan_table(Folder(folder), table).collect()
        assert rows.equals(pl.read_parquet(old / table.file)), (folder, table.name)


def is_table(path: Path) -> bool:
    return path.suffix in (".parquet", ".idx", ".json")


def assert_same_tables(folder: Path, outputs: Path) -> None:
    names = {path.name for path in folder.iterdir()} - {".lock", BACKUP, RUNS, ".work"}
    assert names == {path.name for path in outputs.iterdir() if is_table(path)}
    assert read_manifest(Folder(folder)) == read_manifest(Folder(outputs))
    for name in names - {MANIFEST}:
        assert (folder / name).read_bytes() == (outputs / name).read_bytes(), name


def kill_after(build: subprocess.Popen[str], folder: Path, changes: int, seconds: float) -> None:
    """Kill a build once the names in its folder have changed so often, and a moment has passed."""
    names = os.listdir(folder)
    while changes and build.poll() is None:
        before, names = names, os.listdir(folder)
        changes -= names != before
        time.sleep(0.001)
    time.sleep(seconds)
    build.kill()
    build.communicate()


@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_killed_at_random_moments(seed: int, cli: Cli, outputs: Path, tmp_path: Path) -> None:
    """Kill 25 builds; all seeds together kill 100, and run beside each other.

    One seed builds every table and loses the manifest too, the others build what is soon built.
    """
    soon_built = ("eight", "knight_tours_5x5", "knight_tours_8x8", "knight_counts")
    draw, names = random.Random(seed), soon_built if seed else ()
    for path in outputs.iterdir():
        if is_table(path):
            shutil.copy(path, tmp_path)
    for _ in range(25):
        forced = draw.random() < 0.5
        if not forced:
            for path in sorted(tmp_path.iterdir()):
                is_built = path.is_file() and path.name.startswith(names or "")
                if is_built and draw.random() < 0.5:
                    path.unlink()
        build = start_build(tmp_path, *names, *(["--force"] if forced else []))
        # a build of all tables changes the names about 120 times
        kill_after(build, tmp_path, draw.randrange(120), draw.uniform(0, 0.2))
        codes = {answer_or_refuse(cli, tmp_path, *each) for each in QUERIES.items()}
        # the forced build makes the same bytes, so that any mixture of the two is right
        assert codes <= ({0} if forced else {0, 3})
        assert cli("precompute", "--outputs", str(tmp_path)).code == 0
        assert_same_tables(tmp_path, outputs)


BUILDS = """
import os, shutil, signal, sys, threading
import numba, polars, numpy, pyarrow.parquet, puzzle_tablebase.pipeline.build
from puzzle_tablebase.pipeline.commands import app
from puzzle_tablebase.formats import index_writer
from puzzle_tablebase.formats.parquet import ContentHash

real, compute, make_seed = os.replace, ContentHash.hexdigest, index_writer.make_seed

def run_build(folder, *words, is_old=False, last=None, stop=None):
    "Return the exit code of a build, which calls `stop` before its rename of number `last`."
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    steps = iter(range(100))

    def replace(source, target):
        if next(steps) == last:
            stop()
        real(source, target)

    os.replace = replace
    if is_old:  # another content hash, and another checksum of every block of an index
        ContentHash.hexdigest = lambda self: compute(self)[::-1]
        index_writer.make_seed = lambda table: make_seed(table)[::-1]
    try:
        app(["precompute", "sliding_2x4", "--jobs", "1", *words, "--outputs", folder])
    except SystemExit as error:
        os._exit(error.code or 0)
    except BaseException:
        os._exit(99)

try:  # load what a build needs, for all forks
    app(["precompute", "sliding_2x4", "--dry-run", "--outputs", sys.argv[2]])
except SystemExit:
    assert threading.active_count() == 1
stops = {"kill": lambda: os.kill(os.getpid(), signal.SIGKILL), "error": lambda: 1 / 0}

if sys.argv[1] == "stop":
    old, stopped, steps, *ways = sys.argv[2:]
    assert run_build(old, is_old=True) == 0
    for way in ways:
        for last in range(int(steps)):
            folder = os.path.join(stopped, f"{way}-{last}")
            shutil.copytree(old, folder)
            code = run_build(folder, "--force", last=last, stop=stops[way])
            assert code == (-signal.SIGKILL if way == "kill" else 99), code
elif sys.argv[1] == "loop":
    for number in range(int(sys.argv[3])):
        assert run_build(sys.argv[2], "--force", "--quiet", is_old=number % 2 == 0) == 0
else:
    assert all(run_build(folder) == 0 for folder in sys.argv[2:])
"""
"""Script that runs each build in a fork of one process, as the imports take longer than a build."""


def expect_success(*words: object) -> None:
    result = run([sys.executable, "-c", BUILDS, *map(str, words)])
    assert result.code == 0, result.err


@pytest.mark.slow
@pytest.mark.long
def test_stopped_at_every_step(cli: Cli, tmp_path: Path) -> None:
    """Stop a rebuild with other bytes before each rename, by SIGKILL and (nightly) by an error.

    Nothing else changes what is published, so this is every state. All bytes that a question reads
    differ between the old tables and the new ones.
    """
    old, stopped = tmp_path / "old", tmp_path / "stopped"
    steps, ways = len(BOARD_QUERIES) * STEPS, usual_or_nightly(["kill"], ["kill", "error"])
    expect_success("stop", old, stopped, steps, *ways)
    folders = sorted(stopped.iterdir())
    assert len(folders) == steps * len(ways)
    for name in (f"{table}.{suffix}" for table in BOARD_QUERIES for suffix in ("parquet", "idx")):
        states = {(folder / name).read_bytes() for folder in folders}
        assert len(states) == 2, "old, or new"
    for folder in folders:
        assert_all_answered(cli, folder, old)
    expect_success("mend", *folders)  # then one version is listed, and current
    for folder in folders:
        assert_all_answered(cli, folder, old)
        for (entry,) in read_versions(Folder(folder)).values():
            for file in entry.all_files:
                assert sha256(folder / file.file) == file.sha256


@pytest.mark.slow
@pytest.mark.long
def test_lookups_beside_rebuilds_with_changing_bytes(cli: Cli, tmp_path: Path) -> None:
    old, folder = tmp_path / "old", tmp_path / "tables"
    expect_success("mend", old)
    shutil.copytree(old, folder)
    words = [sys.executable, "-c", BUILDS, "loop", str(folder), str(usual_or_nightly(4, 60))]
    queries = 0
    with subprocess.Popen(words, env=environment()) as builds:
        try:
            while builds.poll() is None:
                if queries % 50 == 0:
                    assert_all_answered(cli, folder, old)
                board = open_tables(str(folder)).sliding("2x4")
                assert board.probe("10356472").distance == 27
                assert board.probe("10356472", goal="12345607").distance == 26
                queries += 2
        finally:
            builds.kill()
    assert builds.returncode == 0
    assert queries > usual_or_nightly(100, 1_000)


@pytest.mark.slow
def test_an_interrupted_build_of_tours_resumes(copy: Path, tmp_path: Path) -> None:
    table = make_tour_table(KnightBoard(5, 7))
    build_tables(tmp_path / "whole", KNIGHT, table)
    build = start_build(copy, table.name, "--jobs", "1")
    await_checkpoints(build, copy, table.name, 5)
    build.send_signal(signal.SIGINT)
    build.communicate()
    assert build.returncode == 130
    saved = [*copy.glob(f".work/{table.name}.*.kept")]
    saved[0].write_bytes(saved[0].read_bytes()[:-1])
    resumed = start_build(copy, table.name)
    _, notes = resumed.communicate()
    assert resumed.returncode == 0, notes
    assert f"from {len(saved)} checkpoints" in notes
    assert (copy / table.file).read_bytes() == (tmp_path / "whole" / table.file).read_bytes()
    assert not list(copy.rglob("*.kept")), "what was kept is cleared"


@pytest.mark.nightly
def test_a_board_on_the_disk_is_killed_five_times(cli: Cli, tmp_path: Path) -> None:
    """Go on with other numbers of threads, and with less and more memory."""
    there, here, name = tmp_path / "there", tmp_path / "here", "sliding_2x6"
    words = ("precompute", name, "--quiet", "--outputs")
    for level, jobs, memory in (
        *((12, "2", "0.36"), (20, "1", "1"), (33, "4", "0.36")),
        *((50, "2", "0.35"), (57, "2", "0.36")),
    ):
        build = start_build(there, name, "--quiet", "--jobs", jobs, "--memory", memory)
        while not [*there.glob(f".work/{name}_12.*.{level:03}-000")]:
            assert build.poll() is None
            time.sleep(0.01)
        build.kill()
        build.communicate()
    assert cli(*words, str(there)) == (0, "", "")
    assert cli(*words, str(here)) == (0, "", "")
    assert contents(there) == contents(here)
    assert not (there / ".work").exists()


@pytest.mark.parametrize("limit", first(1, [500_000, 1_000, 2_000_000], rest=pytest.mark.nightly))
def test_no_space_for_a_file(tmp_path: Path, limit: int) -> None:
    result = run(
        [SCRIPT, "precompute", "eight", "--outputs", tmp_path],
        # neither coverage data nor a whole compiled module could be written within the limit
        env={"COVERAGE_PROCESS_CONFIG": "", "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert result.code == (3 if limit < 1_500_000 else 0), result.err
    assert not list(tmp_path.glob("**/*.unpublished"))
    if limit == 500_000:  # into which the log fits
        (run_of_eight,) = read_log(tmp_path)
        assert (run_of_eight["table"], run_of_eight["outcome"]) == ("eight", FAILED)


FULL = """
mount -t tmpfs -o size={size}k none {folder} || exit 9
cp {published} {folder}/
{build}
echo $?
ls -A {folder}
mkdir {kept}/failed && cp {folder}/*.* {kept}/failed/
mount -o remount,size=200m {folder}
{build}
echo $?
mkdir {kept}/built && cp {folder}/*.* {kept}/built/
"""
FREE = [("eight", 1_500), ("eight", 100), ("", 1_000), ("", 10_000), ("", 20_000), ("", 38_000)]
"""Free kilobytes beside the published tables: too few for all tours on 6x6, which have 40 MB."""


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "free"), first(1, FREE, rest=pytest.mark.nightly))
def test_a_full_disk(stage: str, free: int, tmp_path: Path, outputs: Path) -> None:
    """Build on a disk in memory that is too small at first, and then large enough."""
    disk, copies = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    copies.mkdir()
    published = [path for path in outputs.iterdir() if is_table(path)]
    pages = sum(-(-path.stat().st_size // 4096) for path in published)
    result = with_a_disk(
        FULL.format(
            size=4 * pages + free,
            folder=disk,
            published=" ".join(map(str, published)),
            build=f"{SCRIPT} precompute {stage} --force --outputs {disk}",
            kept=copies,
        )
    )
    code, *names, code_of_second = result.out.split()
    assert (code, code_of_second) == ("3", "0"), result.err
    assert str(disk) in result.err
    assert not [name for name in names if name.endswith(".unpublished")]
    for copy in ("failed", "built"):  # what is built is the same again, byte by byte
        assert_same_tables(copies / copy, outputs)


def test_an_index_that_does_not_fit_the_disk_is_not_begun(tmp_path: Path) -> None:
    script = f"mount -t tmpfs -o size=20m none {tmp_path} || exit 9\n"
    script += f"{SCRIPT} precompute sliding_3x4 --outputs {tmp_path}\n"
    script += f"echo $?\nls -A {tmp_path}"
    result = with_a_disk(script)
    assert result.out.split() == ["3", ".lock"]
