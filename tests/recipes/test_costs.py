"""What builds take: estimates beside what was measured, and shards that fit the memory."""

import json
import os
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from puzzle_tablebase.errors import MemoryShort
from puzzle_tablebase.pipeline import kinds
from puzzle_tablebase.pipeline.build import build, estimate_space
from puzzle_tablebase.pipeline.costs import IN_MEMORY, Cost
from puzzle_tablebase.pipeline.kinds import checkpoints, estimate_cost
from puzzle_tablebase.pipeline.recipes import boards
from puzzle_tablebase.pipeline.recipes.board_shards import SHARDS, search_shards
from puzzle_tablebase.pipeline.reporter import Reporter
from puzzle_tablebase.pipeline.select import find_request
from puzzle_tablebase.pipeline.stale import list_jobs
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.puzzles.knight.tables import PUZZLE
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.puzzles.sliding import SlidingBoard
from puzzle_tablebase.puzzles.sliding import parse_board as parse_sliding
from puzzle_tablebase.registry import list_puzzles
from puzzle_tablebase.resources import PROCESS_BYTES
from puzzle_tablebase.stores import Folder
from puzzle_tablebase.stores.checkpoints import Checkpoints
from tests.support.build_recorder import COUNTS, build_tables, contents, read_log
from tests.support.shell import SCRIPT, Cli, run
from tests.support.sliding_tables import treat_as_large


def test_a_build_that_needs_more_memory_is_refused(tmp_path: Path, cli: Cli) -> None:
    name = "knight_closed_ranks_8x8"
    text = cli("precompute", name, "--memory", "1", "--outputs", str(tmp_path))
    assert (text.code, text.out) == (3, "")
    needed = estimate_cost(PUZZLE.find_tables(name)[0]).memory
    assert f"{name} needs {needed / 1e9:.2f} GB of memory; available: 1.00 GB" in text.err


ON_REQUEST = (
    "fifteen", "fifteen_7-8", "knight_tours_5x8", "knight_tours_13x3", "knight_counts_6x7",
    "knight_closed_counts_8x8", "knight_closed_ranks_6x6", "knight_ranks_5x5", "knight_ranks_7x8",
    "sliding_3x4_all", "sliding_2x4",
)  # fmt: skip


def plan(folder: Path, board: str, workers: Workers, *, force: bool = False) -> Cost:
    pairs = [(SLIDING, table) for table in parse_sliding(board).tables[:1]]
    (job,) = list_jobs(Folder(folder), pairs, workers, print, force=force)
    return job.cost


def test_a_board_is_searched_in_memory_or_in_shards_that_fit_it(tmp_path: Path) -> None:
    whole = plan(tmp_path, "2x7", Workers(None, 2, memory=13 * 10**9))
    assert whole.shards == IN_MEMORY
    for gigabytes, shards in ((3, 4), (1, 16)):
        cost = plan(tmp_path, "2x7", Workers(None, 2, memory=gigabytes * 10**9))
        assert cost.shards[:2] == (shards, 2)
        # that of all threads together, and of the program
        assert 0.7 < cost.memory / 1e9 / gigabytes <= 1
        assert cost.shards.disk == 0.4 * parse_sliding("2x7").size
    cluster = plan(tmp_path, "2x7", Workers(None, 4, is_remote=True, memory=10**9))
    assert (cluster.shards.total, cluster.memory) == (8, 0)
    # rows are made in memory, and so is the search for them
    assert plan(tmp_path, "2x5", Workers(None, 4, is_remote=True)).shards == IN_MEMORY


def test_a_search_keeps_the_shards_with_which_it_began(tmp_path: Path) -> None:
    table = parse_sliding("2x7").tables[0]
    checkpoints(Folder(tmp_path), table).save(SHARDS, [np.array([6])])
    for jobs, gigabytes, at_a_time in ((2, 3, 2), (4, 3, 3), (8, 1.5, 1), (2, 64, 2)):
        tasks = Workers(None, jobs, memory=int(gigabytes * 1e9))
        assert plan(tmp_path, "2x7", tasks).shards[:2] == (6, at_a_time)
    for jobs in (1, 5):
        assert plan(tmp_path, "2x7", Workers(None, jobs, is_remote=True)).shards[:2] == (6, jobs)
    with pytest.raises(
        MemoryShort, match=r"sliding_2x7_14 needs 1\.\d\d GB .* remove --checkpoints"
    ):
        plan(tmp_path, "2x7", Workers(None, 2, memory=10**9))
    assert plan(tmp_path, "2x7", Workers(None, 2, memory=10**9), force=True).shards.total == 16


def test_the_free_memory_is_the_limit_if_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for free, shards in ((4 * 10**9, 4), (64 * 10**9, 0), (None, 0)):
        monkeypatch.setattr(kinds, "get_free_memory", lambda free=free: free)
        cost = plan(tmp_path, "2x7", Workers(None, 2))
        assert cost.shards.total == shards
        assert free is None or cost.memory < 0.9 * free


def test_results_of_other_code_are_removed_before_a_search_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = list[list[Path]]()
    with monkeypatch.context() as patch:
        patch.setattr("puzzle_tablebase.code_digest._digest_roots", lambda roots: "other")
        checkpoints(Folder(tmp_path), COUNTS).save("part", [np.arange(3)])
    assert [*tmp_path.rglob("*.kept")] != []

    def list_and_make(*given: Any) -> object:
        there.append([*tmp_path.rglob("*.kept")])
        return kinds.make(*given)

    monkeypatch.setattr("puzzle_tablebase.pipeline.build.make", list_and_make)
    build_tables(tmp_path, PUZZLE, COUNTS)
    assert there == [[]]


def test_a_build_by_force_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = list[list[Path]]()

    def list_and_make(*given: Any) -> object:
        there.append([*tmp_path.rglob("*.kept")])
        return kinds.make(*given)

    monkeypatch.setattr("puzzle_tablebase.pipeline.build.make", list_and_make)
    build_tables(tmp_path, PUZZLE, COUNTS)
    for force in (False, True):
        checkpoints(Folder(tmp_path), COUNTS).save("part", [np.arange(3)])
        assert [*tmp_path.rglob("*.kept")] != []
        build_tables(tmp_path, PUZZLE, COUNTS, force=force)
    assert there == [[], []]


class Cluster:
    """A cluster of two threads here, whose tasks reserve memory."""

    def __init__(self, executor: Executor) -> None:
        self.executor, self.reserved = executor, list[int]()

    def count_threads(self) -> int:
        return 2

    def reserve(self, memory: int) -> Executor:
        self.reserved.append(memory)
        return self.executor


def test_a_board_is_built_in_the_shards_and_with_the_memory_that_were_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Build a board that is treated as large."""
    treat_as_large(monkeypatch, 8)
    tables = [(SLIDING, table) for table in SLIDING.find_tables("sliding_2x4")]
    searched = list[int]()

    def record(board: SlidingBoard, root: str, shards: int, tasks: Tasks) -> object:
        searched.append(shards)
        return search_shards(board, root, shards, tasks)

    required = list[int]()
    monkeypatch.setattr(Checkpoints, "require_space", lambda _, needed: required.append(needed))
    monkeypatch.setattr(boards, "search_shards", record)
    with ThreadPoolExecutor(2) as pool, Reporter(quiet=True) as reporter:
        cluster: Any = Cluster(pool)
        workers = Workers(None, 2, is_remote=True, memory=10**9, cluster=cluster)
        (job,) = list_jobs(Folder(tmp_path), tables, workers, print)
        assert len(build(Folder(tmp_path), tables, workers, reporter)) == 1
    shards = job.cost.shards
    assert shards.total > 0 < shards.memory
    assert (searched, cluster.reserved) == ([shards.total], [shards.memory])
    assert required == [shards.disk]


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
    completed = cli("precompute", "sliding_2x7", "--memory", "3", "--outputs", str(tmp_path))
    assert (completed.code, completed.out) == (3, "")
    assert "The build needs 17.44 GB of disk; free: 16.38 GB" in completed.err
    assert not [*tmp_path.glob("**/*.kept")]


def test_a_build_needs_the_disk_of_its_largest_search_without_what_is_there(
    tmp_path: Path,
) -> None:
    table = parse_sliding("2x7").tables[0]
    small = [(SLIDING, each) for each in SLIDING.find_tables("sliding_2x3")]
    saved = checkpoints(Folder(tmp_path), table)
    for there in (0, 1):
        workers = Workers(None, 2, memory=3 * 10**9)
        jobs = [*list_jobs(Folder(tmp_path), [(SLIDING, table), *small], workers, print)]
        files = sum(path.stat().st_size for path in tmp_path.rglob("*.kept"))
        assert estimate_space(jobs) == 17_435_658_240 - files
        assert (files > 0) == there
        saved.save(SHARDS, [np.array([6])])
    assert estimate_space(jobs[1:]) == 2 * 8192
    # an old index is there until the new one has replaced it
    old: Any = SimpleNamespace(index=SimpleNamespace(bytes=8192))
    assert estimate_space([job._replace(versions=[old]) for job in jobs[1:]]) == 8192


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
    "knight_pair_counts_8x8": 2_207,
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
    "knight_ranks_7x8": 2.23,
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
    # 7x7 has the estimate of 7x8, whose layers are as large and more
    assert 0.95 < most / 1e9 / PEAKS[name] < (1.6 if name == "knight_ranks_7x7" else 1.35)


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


def test_shards_are_said_to_take_longer_than_a_search_in_memory(tmp_path: Path) -> None:
    whole = plan(tmp_path, "2x7", Workers(None, 2, memory=13 * 10**9))
    disk = plan(tmp_path, "2x7", Workers(None, 2, memory=3 * 10**9))
    assert 2 < disk.seconds / whole.seconds <= 3
