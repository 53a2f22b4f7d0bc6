"""Tests of `pipeline precompute`: what it plans, prints, logs and leaves."""

import calendar
import json
import os
import re
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from puzzle_tablebase.errors import MemoryShort
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.build import build
from puzzle_tablebase.pipeline.kinds import checkpoints, estimate_cost
from puzzle_tablebase.pipeline.log import COMPLETED, RUNS
from puzzle_tablebase.pipeline.recipes.board_shards import SHARDS
from puzzle_tablebase.pipeline.recipes.costs import Cost
from puzzle_tablebase.pipeline.reporter import Reporter
from puzzle_tablebase.pipeline.select import find_request
from puzzle_tablebase.pipeline.stale import list_jobs
from puzzle_tablebase.pipeline.workers import Workers, open_workers
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.puzzles.knight.tables import PUZZLE
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.puzzles.sliding import parse_board as parse_sliding
from puzzle_tablebase.resources import PROCESS_BYTES
from puzzle_tablebase.stores import Folder
from tests import first
from tests.support.build_recorder import COUNTS, contents, read_log
from tests.support.default_tables import COUNT
from tests.support.shell import SCRIPT, Cli, run, with_a_disk

UP_TO_DATE = "up to date: eight, eight_edge\n"
AMOUNTS: dict[str, dict[str, int | None]] = {
    "fifteen_123": {"rows": None, "records": 3_360, "states": None},
    "sliding_2x3_5": {"rows": 360, "records": None, "states": None},
    "sliding_3x4_12": {"rows": None, "records": 665_280, "states": 239_500_800},
}
"""What each table has: only a table with a Parquet file has rows."""


def test_a_build_that_needs_more_memory_is_refused(tmp_path: Path, cli: Cli) -> None:
    name = "knight_closed_ranks_8x8"
    text = cli("precompute", name, "--memory", "1", "--outputs", str(tmp_path))
    assert (text.code, text.out) == (3, "")
    needed = estimate_cost(PUZZLE.find_tables(name)[0]).memory
    assert f"{name} needs {needed / 1e9:.2f} GB of memory; available: 1.00 GB" in text.err


@pytest.mark.parametrize("name", first(2, AMOUNTS))
def test_every_command_counts_what_a_table_has(name: str, tmp_path: Path, cli: Cli) -> None:
    words, folder = ("precompute", name, "--force", "--json"), ("--outputs", str(tmp_path))
    (planned,) = json.loads(cli(*words, "--dry-run", *folder).out)["tables"]
    (built,) = json.loads(cli(*words, *folder).out)["tables"]
    status = json.loads(cli("status", "--json", *folder).out)
    for row in (planned, built, *(row for row in status if row["table"] == name)):
        assert AMOUNTS[name].items() <= row.items()
    # a proof counts the rows of a table with some, else its records
    count = next(filter(None, AMOUNTS[name].values()))
    claims = json.loads(cli("verify", "--quick", "--json", *folder).out)["claims"]
    assert count in [claim.get("rows", claim.get("records")) for claim in claims]


FOLLOWED = [
    *("sliding_2x3_5", "eight_edge", "fifteen_5-5-5", "knight_counts", "knight_counts_13x3"),
    *("knight_tours_5x5", "knight_tours_3x4", "knight_ranks_4x5", "knight_closed_ranks_5x6"),
    "knight_closed_counts_14x3",
]


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_follows_a_build_is_a_query_of_it(name: str, tmp_path: Path, cli: Cli) -> None:
    text = cli("precompute", name, "--outputs", str(tmp_path))
    assert text.code == 0
    following = text.out.partition("Next: pipeline ")[2]
    assert following.startswith("query ")
    assert cli(*following.split()).code == 0, following
    assert cli("precompute", name, "--quiet", "--outputs", str(tmp_path)) == (0, "", "")


READ_ONLY = """
mount --bind {folder} {folder} && mount -o remount,ro,bind {folder} || exit 9
touch {folder}/probe 2>/dev/null && exit 9
{build}
"""


def test_only_tables_that_are_up_to_date_need_no_writable_disk(copy: Path) -> None:
    command = f"{SCRIPT} precompute --outputs {copy}"
    build = f"{command} && {command} --dry-run && {command} --force"
    result = with_a_disk(READ_ONLY.format(folder=copy, build=build))
    assert (result.code, "read-only file system" in result.err) == (3, True)
    first, second = result.out.splitlines()
    assert first == second
    assert first.count(",") == COUNT - 1


def test_up_to_date_tables_take_no_lock_unless_a_kill_left_something(copy: Path, cli: Cli) -> None:
    words = ("precompute", "eight", "--outputs", str(copy))
    assert cli(*words) == (0, UP_TO_DATE, "")
    assert not (copy / ".lock").exists()
    work = copy / ".work"
    for name in ("eight.0123.a1.kept", ".0123.unpublished"):
        work.mkdir()
        (work / name).write_bytes(b"")
        with Folder(copy).lock() if name.startswith("eight") else nullcontext():
            assert cli(*words).code == 0  # beside another build, too
        assert cli(*words) == (0, UP_TO_DATE, "")
        assert not work.exists()


def test_checkpoints_are_removed_on_request(copy: Path, cli: Cli) -> None:
    names = ("knight_tours_5x7", "knight_tours_3x8")
    saved = [copy / ".work" / f"{name}.0123.a1.kept" for name in names]
    for words, left in (
        ("--checkpoints knight_tours_5x7", [False, True]),
        ("knight_tours_3x8", [True, False]),
        ("--checkpoints", [False, False]),
    ):
        saved[0].parent.mkdir(exist_ok=True)
        for path in saved:
            path.write_bytes(b"")
        assert cli("remove", *words.split(), "--outputs", str(copy)).code == 0
        assert [path.exists() for path in saved] == left
    assert cli("remove", "--outputs", str(copy)).code == 2


def test_progress_is_printed_now_and_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Print every step, and none but the tables themselves."""
    tables = [(PUZZLE, table) for table in (PUZZLE.tables[0], COUNTS)]
    for interval in (-1, 3600):
        monkeypatch.setattr("puzzle_tablebase.pipeline.reporter.LINE_INTERVAL", interval)
        with Reporter() as reporter, open_workers(jobs=1) as tasks:
            build(Folder(tmp_path / str(interval)), tables, tasks, reporter)
        lines = capsys.readouterr().err.splitlines()
        steps = {re.sub(r", \d+ s$", "", line) for line in lines if line.startswith("  ")}
        assert not steps or interval < 0
        assert interval > 0 or steps >= {
            "  knight_tours_5x5: 1,728 tours found, prefixes 168 of 168 (100%)",
            "  knight_counts: 3x4 open, steps back 3 of 3 (100%)",
        }
        for _, table in tables:
            assert any(line.startswith(f"{table.name}: ") for line in lines)
            assert f"building {table.name} (missing)" in lines


NAMES = ("eight", "eight_edge", "knight_tours_5x5")
ON_REQUEST = (
    "fifteen", "fifteen_7-8", "knight_tours_5x8", "knight_tours_13x3", "knight_counts_6x7",
    "knight_closed_counts_8x8", "knight_closed_ranks_6x6", "knight_ranks_5x5", "knight_ranks_7x8",
    "sliding_3x4_all", "sliding_2x4",
)  # fmt: skip


def test_the_command_builds_what_its_dry_run_printed(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    words = ("precompute", "eight", NAMES[-1], "--outputs", str(folder))
    planned = cli(*words, "--dry-run", "--json")
    assert (planned.code, planned.err) == (0, "")
    assert not folder.exists()
    tables = json.loads(planned.out)["tables"]
    assert [(row["table"], row["reason"]) for row in tables] == [(n, "missing") for n in NAMES]
    began = time.time()
    assert cli(*words).code == 0
    before, runs = contents(folder), read_log(folder)
    assert {*read_manifest(Folder(folder))} == {*NAMES}
    assert sorted(each["table"] for each in runs) == sorted(NAMES), "one line a table"
    for each in runs:
        assert [*each] == ["when", "table", "reason", "seconds", "peak_memory", "outcome"]
        assert (each["reason"], each["outcome"]) == ("missing", COMPLETED)
        ended = calendar.timegm(time.strptime(each["when"], "%Y-%m-%dT%H:%M:%SZ"))
        assert began - 1 <= ended <= time.time()
        assert 0 < each["seconds"] <= time.time() - began
        assert 50 << 20 < each["peak_memory"] < 4 << 30
    up_to_date = json.loads(cli(*words, "--dry-run", "--json").out)
    assert up_to_date == {"tables": [], "up_to_date": [*NAMES]}
    assert cli(*words).code == 0
    forced = json.loads(cli(*words, "--dry-run", "--json", "--force").out)
    assert forced["tables"] == [{**row, "reason": "forced"} for row in tables]
    assert (contents(folder), read_log(folder)) == (before, runs)


def test_a_dry_run_says_what_a_build_resumes_from(cli: Cli, tmp_path: Path) -> None:
    _, (table,) = find_request("knight_tours_5x5")
    checkpoints(Folder(tmp_path), table).save("a task", [np.arange(9)])
    words = ("precompute", table.name, "--outputs", str(tmp_path), "--dry-run", "--json")
    for more, saved in (((), 1), (("--jobs", "3"), 1), (("--force",), None)):
        (row,) = json.loads(cli(*words, *more).out)["tables"]
        assert row["checkpoints"] == saved


def plan(folder: Path, board: str, workers: Workers, *, force: bool = False) -> Cost:
    pairs = [(SLIDING, table) for table in parse_sliding(board).tables[:1]]
    (job,) = list_jobs(Folder(folder), pairs, workers, print, force=force)
    return job.cost


def test_a_board_is_searched_in_memory_or_in_shards_that_fit_it(tmp_path: Path) -> None:
    whole = plan(tmp_path, "2x7", Workers(None, 2, memory=13 * 10**9))
    assert (whole.shards, whole.disk) == (0, 0)
    for gigabytes, shards in ((3, 4), (1, 16)):
        cost = plan(tmp_path, "2x7", Workers(None, 2, memory=gigabytes * 10**9))
        assert (cost.shards, cost.jobs) == (shards, 2)
        # that of all threads together, and of the program
        assert 0.7 < cost.memory / 1e9 / gigabytes <= 1
        assert cost.disk == 0.4 * parse_sliding("2x7").size
    cluster = plan(tmp_path, "2x7", Workers(None, 4, is_remote=True, memory=10**9))
    assert (cluster.shards, cluster.memory) == (8, 0)
    # rows are made in memory, and so is the search for them
    assert plan(tmp_path, "2x5", Workers(None, 4, is_remote=True)).shards == 0


def test_a_search_keeps_the_shards_with_which_it_began(tmp_path: Path) -> None:
    table = parse_sliding("2x7").tables[0]
    checkpoints(Folder(tmp_path), table).save(SHARDS, [np.array([6])])
    for jobs, gigabytes, at_a_time in ((2, 3, 2), (4, 3, 3), (8, 1.5, 1), (2, 64, 2)):
        tasks = Workers(None, jobs, memory=int(gigabytes * 1e9))
        assert plan(tmp_path, "2x7", tasks)[3:5] == (6, at_a_time)
    for jobs in (1, 5):
        assert plan(tmp_path, "2x7", Workers(None, jobs, is_remote=True))[3:5] == (6, jobs)
    with pytest.raises(
        MemoryShort, match=r"sliding_2x7_14 needs 1\.\d\d GB .* remove --checkpoints"
    ):
        plan(tmp_path, "2x7", Workers(None, 2, memory=10**9))
    assert plan(tmp_path, "2x7", Workers(None, 2, memory=10**9), force=True).shards == 16


def test_shards_are_said_to_take_longer_than_a_search_in_memory(tmp_path: Path) -> None:
    whole = plan(tmp_path, "2x7", Workers(None, 2, memory=13 * 10**9))
    disk = plan(tmp_path, "2x7", Workers(None, 2, memory=3 * 10**9))
    assert 2 < disk.seconds / whole.seconds <= 3


def test_a_dry_run_and_a_build_say_what_shards_take(cli: Cli, tmp_path: Path) -> None:
    words = (
        "precompute",
        "sliding_2x7",
        "--memory",
        "3",
        "--outputs",
        str(tmp_path),
        "--jobs",
        "2",
    )
    (row,) = json.loads(cli(*words, "--dry-run", "--json").out)["tables"]
    assert (row["shards"], row["disk"]) == (4, 17_435_658_240)
    assert "17.4 GB" in cli(*words, "--dry-run").out


def test_a_disk_that_is_too_small_is_refused(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = os.statvfs_result((4096, 4096, *[4 * 10**6] * 8))
    monkeypatch.setattr(os, "statvfs", lambda path: status)
    said = cli("precompute", "sliding_2x7", "--memory", "3", "--outputs", str(tmp_path))
    assert (said.code, said.out) == (3, "")
    assert "needs 17.44 GB of disk; free: 16.38 GB" in said.err
    assert not [*tmp_path.glob("**/*.kept")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sliding_2x6", "sliding_3x4"])
def test_a_small_memory_builds_the_same_bytes_on_the_disk(
    cli: Cli, tmp_path: Path, name: str
) -> None:
    words = ("precompute", name, "--quiet", "--outputs")
    assert cli(*words, str(tmp_path / "memory")).code == 0
    small = f"{PROCESS_BYTES / 1e9 + 0.015}"
    (row,) = json.loads(cli(*words, str(tmp_path), "--memory", small, "--dry-run", "--json").out)[
        "tables"
    ]
    assert row["shards"] >= 4
    assert cli(*words, str(tmp_path / "disk"), "--memory", small).code == 0
    assert contents(tmp_path / "disk") == contents(tmp_path / "memory")


MEASURED = {
    "knight_tours_6x6": 6,
    "knight_counts_7x7": 22,
    "knight_closed_counts_8x8": 45,
    "knight_counts_8x8": 7_020,
    "sliding_2x7": 340,
}
"""Processor seconds of builds."""
PEAKS = {
    "eight_edge": 0.39,
    "senet": 0.58,
    "sliding_2x5_10": 0.57,
    "sliding_2x7_14": 12.0,
    "fifteen_7-8": 1.2,
    "knight_tours_6x6": 0.43,
    "knight_counts_7x7": 0.99,
    "knight_counts_8x8": 14.05,
    "knight_closed_counts_8x8": 1.05,
    "knight_ranks_7x7": 1.47,
    "knight_closed_ranks_8x8": 2.07,
}
"""GB of memory of builds of a table or a group alone, as measured."""


def test_every_table_has_an_estimate_near_what_was_measured() -> None:
    requests = {puzzle.name: puzzle.tables for puzzle in list_puzzles()}
    requests |= {name: find_request(name)[1] for name in (*ON_REQUEST, *MEASURED)}
    for name, tables in requests.items():
        costs = [estimate_cost(table) for table in tables]
        assert all(min(cost[:3]) > 0 and cost.memory > 1 << 27 for cost in costs), name
        if name in MEASURED:
            assert 1 / 6 < sum(cost.seconds for cost in costs) / MEASURED[name] < 6, name


@pytest.mark.parametrize("name", PEAKS)
def test_the_memory_of_a_table_is_near_what_was_measured(name: str) -> None:
    most = max(estimate_cost(table).memory for table in find_request(name)[1])
    assert 0.95 < most / 1e9 / PEAKS[name] < 1.6


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name",
    ["sliding_2x5", *(table.name for puzzle in list_puzzles() for table in puzzle.tables)],
)
def test_the_memory_of_a_table_is_as_estimated(cli: Cli, tmp_path: Path, name: str) -> None:
    """Build a table or a board's tables alone, in a process that compiles all that it needs."""
    words = ("precompute", name, "--outputs", str(tmp_path / "tables"))
    (row,) = json.loads(cli(*words, "--dry-run", "--json").out)["tables"][:1]
    env = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run([SCRIPT, *words], env=env).code == 0
    peak = max(each["peak_memory"] for each in read_log(tmp_path / "tables"))
    assert peak <= row["memory"] < 1.6 * peak


@pytest.mark.parametrize("obstruct", [Path.mkdir, lambda path: path.symlink_to("/dev/null")])
def test_a_log_that_cannot_be_written_is_a_note(
    obstruct: Callable[[Path], None], cli: Cli, tmp_path: Path
) -> None:
    obstruct(tmp_path / RUNS)
    text = cli("precompute", "knight_tours_5x5", "--outputs", str(tmp_path))
    assert (text.code, f"note: {tmp_path / RUNS} was not written: " in text.err) == (0, True)
    assert {*read_manifest(Folder(tmp_path))} == {"knight_tours_5x5"}
