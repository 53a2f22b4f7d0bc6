"""A build that is killed, stopped, starved of space or raced leaves old tables or new ones, whole.

`KILLS=200 pytest tests/test_killed.py` kills as often as that.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from pipeline.tables import MANIFEST
from pipeline.tables.manifest import read_manifest
from pipeline.tables.publish import building_in
from tests.shell import SCRIPT, Cli, environment

KILLS = int(os.environ.get("KILLS", "2"))
QUESTIONS = {
    ("eight", "378546201", "--json"): '"distance": 27',
    ("eight", "378546201", "--goal", "012345678", "--json"): '"distance":',
    ("senet", "ABAAABBB.B...A.", "--json"): '"dice": "53"',
    ("knight", "b1", "--json"): '"path": "b1',
    ("knight", "a1", "--board", "6x6", "--number", "12345", "--json"): '"number": 12345',
    ("knight", "c3", "--board", "5x5", "--count", "--json"): '"tours": 64',
}


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    """A build in a process of its own."""
    return subprocess.Popen(
        [SCRIPT, "precompute", *words, "--outputs", str(folder)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def modified(path: Path) -> int | None:
    """When a file was written; None once it is gone."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def assert_answers_or_refuses(cli: Cli, folder: Path) -> None:
    for question, wanted in QUESTIONS.items():
        code, said, complaint = cli("query", *question, "--outputs", str(folder))
        assert (code == 0 and wanted in said) or (code == 3 and not said), (question, complaint)
        assert "Traceback" not in complaint


def assert_same_tables(folder: Path, outputs: Path) -> None:
    names = sorted(path.name for path in folder.iterdir() if path.name != ".lock")
    assert names == sorted(path.name for path in outputs.iterdir() if is_table(path))
    assert read_manifest(folder) == read_manifest(outputs)
    for name in names:
        if name != MANIFEST:
            assert (folder / name).read_bytes() == (outputs / name).read_bytes(), name


def is_table(path: Path) -> bool:
    return path.suffix in (".parquet", ".idx", ".json")


@pytest.mark.long
def test_killed_at_random_moments(cli: Cli, outputs: Path, tmp_path: Path) -> None:
    draw = random.Random(2026)
    begun = time.monotonic()
    whole = started(tmp_path)
    _, complaint = whole.communicate()
    assert whole.returncode == 0, complaint
    lasts = time.monotonic() - begun
    for _ in range(KILLS):
        forced = draw.random() < 0.5
        if not forced:
            for path in tmp_path.iterdir():
                if draw.random() < 0.5:
                    path.unlink()
        build = started(tmp_path, *(["--force"] if forced else []))
        time.sleep(draw.uniform(0, lasts))
        build.send_signal(signal.SIGKILL)
        build.communicate()
        assert_answers_or_refuses(cli, tmp_path)
        code, _, complaint = cli("precompute", "--outputs", str(tmp_path))
        if code:
            assert code == 3
            code, _, complaint = cli("precompute", "--force", "--outputs", str(tmp_path))
        assert code == 0, complaint
        assert_same_tables(tmp_path, outputs)


def test_a_killed_listing_goes_on_where_it_was(cli: Cli, outputs: Path, tmp_path: Path) -> None:
    build = started(tmp_path, "knight", "--jobs", "1")
    while len(list(tmp_path.glob(".knight_tours_6x6.*.kept"))) < 5:
        assert build.poll() is None
        time.sleep(0.01)
    build.kill()
    build.communicate()
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob(".knight_tours_6x6.*.kept")}
    first = min(kept)
    when = kept[first]
    first.write_bytes(first.read_bytes()[:-1])
    os.utime(first, ns=(when, when))
    resumed = started(tmp_path, "knight")
    again = set()
    while resumed.poll() is None:
        again |= {path for path, when in kept.items() if modified(path) not in (when, None)}
        time.sleep(0.01)
    _, complaint = resumed.communicate()
    assert resumed.returncode == 0, complaint
    assert again == {first}, "only what was damaged is searched again"
    for name in ("knight_tours_6x6.parquet", "knight_counts.parquet"):
        assert (tmp_path / name).read_bytes() == (outputs / name).read_bytes()
    assert not list(tmp_path.glob("*.kept")), "what was kept is cleared"


@pytest.mark.parametrize("after", [0.5, 2.0])
def test_interrupted(tmp_path: Path, after: float) -> None:
    build = started(tmp_path)
    time.sleep(after)
    build.send_signal(signal.SIGINT)
    _, complaint = build.communicate(timeout=60)
    assert build.returncode in (130, -signal.SIGINT), complaint
    assert "Traceback" not in complaint
    assert not list(tmp_path.glob("*.part")), "no litter"
    assert not list(tmp_path.glob(".*.part")), "no litter"


@pytest.mark.parametrize("limit", [1_000, 500_000, 2_000_000])
def test_no_space(tmp_path: Path, limit: int) -> None:
    ended = subprocess.run(
        [SCRIPT, "precompute", "eight", "--outputs", str(tmp_path)],
        env=environment(),
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
    assert not list(tmp_path.glob(".*.part"))


def test_the_second_of_two_builds_names_the_first(cli: Cli, tmp_path: Path) -> None:
    with building_in(tmp_path):
        code, _, complaint = cli("precompute", "eight", "--outputs", str(tmp_path))
    assert code == 3
    assert f"another build holds it (process {os.getpid()})" in complaint
    assert cli("precompute", "eight", "--outputs", str(tmp_path)).code == 0


def test_a_reader_keeps_the_tables_it_opened(cli: Cli, outputs: Path, tmp_path: Path) -> None:
    from queries import open_tables

    assert cli("precompute", "eight", "--outputs", str(tmp_path)).code == 0
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
