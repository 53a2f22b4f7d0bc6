"""Tests of dry runs: what they print, the same command does; they write nothing."""

import json
from pathlib import Path

import numpy as np
import pytest

from puzzle_tablebase.pipeline.jobs import find_request, list_jobs, read_last_runs
from puzzle_tablebase.pipeline.searches import checkpoints, estimate_cost
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.puzzles.sliding import parse_board as parse_sliding
from puzzle_tablebase.stores.folder import Folder
from tests.support.build_recorder import contents
from tests.support.shell import SCRIPT, Cli, run

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
    assert [(row["table"], row["reason"]) for row in tables] == [
        (name, "missing") for name in NAMES
    ]
    assert cli(*words).code == 0
    before = contents(folder)
    assert {(run.table, run.reason) for run in read_last_runs(Folder(folder))} == {
        (row["table"], row["reason"]) for row in tables
    }
    assert json.loads(cli(*words, "--dry-run", "--json").out) == {
        "tables": [],
        "up_to_date": [*NAMES],
    }
    forced = json.loads(cli(*words, "--dry-run", "--json", "--force").out)
    assert forced["tables"] == [{**row, "reason": "forced"} for row in tables]
    assert contents(folder) == before


def test_a_dry_run_says_what_a_build_resumes_from(cli: Cli, tmp_path: Path) -> None:
    _, (table,) = find_request("knight_tours_5x5")
    checkpoints(Folder(tmp_path), table).save("a task", [np.arange(9)])
    words = ("precompute", table.name, "--outputs", str(tmp_path), "--dry-run", "--json")
    for more, saved in (((), 1), (("--jobs", "3"), 1), (("--force",), None)):
        (row,) = json.loads(cli(*words, *more).out)["tables"]
        assert row["checkpoints"] == saved


def test_shards_are_resumed_on_an_equal_cluster_alone(tmp_path: Path) -> None:
    """Cut the search of a board as another cluster does, or search it in this process."""
    store, pairs = Folder(tmp_path), [(SLIDING, table) for table in parse_sliding("2x5").tables]
    cluster = Tasks(None, 4, is_remote=True)
    for job in list_jobs(store, pairs, cluster, print):
        job.checkpoints.save("a shard", [np.arange(9)])
    smaller = Tasks(None, 3, is_remote=True), Tasks(None, 4, is_remote=True, memory=1 << 30)
    for tasks in (cluster, Tasks(None, 4), *smaller):
        for job in list_jobs(store, pairs, tasks, print):
            assert len(job.saved) == (tasks is cluster)


MEASURED = {
    "knight_tours_6x6": 6,
    "knight_counts_7x7": 52,
    "knight_closed_counts_8x8": 109,
    "knight_counts_8x8": 7_020,
    "sliding_2x7": 340,
}
"""Processor seconds of builds."""


def test_every_table_has_an_estimate_near_what_was_measured() -> None:
    requests = {puzzle.name: puzzle.tables for puzzle in list_puzzles()}
    requests |= {name: find_request(name)[1] for name in (*ON_REQUEST, *MEASURED)}
    for name, tables in requests.items():
        costs = [estimate_cost(table) for table in tables]
        assert all(min(cost) > 0 and cost.memory > 1 << 27 for cost in costs), name
        if name in MEASURED:
            assert 1 / 6 < sum(cost.seconds for cost in costs) / MEASURED[name] < 6, name


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", [table.name for puzzle in list_puzzles() for table in puzzle.tables]
)
def test_the_memory_of_a_default_table_is_as_estimated(cli: Cli, tmp_path: Path, name: str) -> None:
    """Build a table alone, in a process that compiles all that it needs."""
    words = ("precompute", name, "--outputs", str(tmp_path / "tables"))
    (row,) = json.loads(cli(*words, "--dry-run", "--json").out)["tables"][:1]
    env = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run([SCRIPT, *words], env=env).code == 0
    peak = max(last.peak_memory or 0 for last in read_last_runs(Folder(tmp_path / "tables")))
    assert peak <= row["memory"] < 1.6 * peak
