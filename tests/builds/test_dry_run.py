"""Tests of dry runs: what they print, the same command does; they write nothing."""

import json
from pathlib import Path

import numpy as np
import pytest

from puzzle_tablebase.pipeline.jobs import find_request, list_jobs
from puzzle_tablebase.pipeline.runs import read_last_runs
from puzzle_tablebase.pipeline.searches import checkpoints, estimate_cost
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles import get_puzzle, list_puzzles
from puzzle_tablebase.puzzles.knight.board import parse_board
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.puzzles.sliding import parse_board as parse_sliding
from puzzle_tablebase.stores.folder import Folder
from tests.support.build_recorder import contents
from tests.support.shell import Cli

SMALL = ("knight_tours_5x5", "eight")
ON_REQUEST = (
    "fifteen", "fifteen_7-8", "knight_tours_5x8", "knight_tours_13x3", "knight_counts_6x7",
    "knight_closed_counts_8x8", "knight_closed_ranks_6x6", "knight_ranks_5x5", "knight_ranks_7x8",
    "sliding_3x4_all", "sliding_2x4",
)  # fmt: skip


def test_the_command_builds_what_its_dry_run_printed(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    words = ("precompute", *SMALL, "--outputs", str(folder))
    planned = cli(*words, "--dry-run", "--json")
    assert (planned.code, planned.err) == (0, "")
    assert not folder.exists()
    tables = json.loads(planned.out)["tables"]
    names = [row["table"] for row in tables]
    assert names == ["eight", "eight_edge", "knight_tours_5x5"]

    assert cli(*words).code == 0
    assert {(run.table, run.reason) for run in read_last_runs(Folder(folder))} == {
        (row["table"], row["reason"]) for row in tables
    }
    again = json.loads(cli(*words, "--dry-run", "--json").out)
    assert (again["tables"], sorted(again["up_to_date"])) == ([], names)
    assert cli(*words, "--dry-run").out == f"up to date: {', '.join(names)}\n"

    before = contents(folder)
    forced = json.loads(cli(*words, "--dry-run", "--json", "--force").out)
    assert contents(folder) == before
    assert forced["tables"] == [{**row, "reason": "forced"} for row in tables]


def test_a_dry_run_says_what_a_build_resumes_from(cli: Cli, tmp_path: Path) -> None:
    table = make_tour_table(parse_board("5x5"))
    saved = checkpoints(Folder(tmp_path), table)
    saved.save("a task", [np.arange(9)])
    words = ("precompute", "knight_tours_5x5", "--outputs", str(tmp_path), "--dry-run")
    (row,) = json.loads(cli(*words, "--json").out)["tables"]
    assert row["checkpoints"] == 1
    assert json.loads(cli(*words, "--json", "--jobs", "3").out)["tables"] == [row]
    (forced,) = json.loads(cli(*words, "--json", "--force").out)["tables"]
    assert forced["checkpoints"] is None
    line = cli(*words).out.splitlines()[1]
    assert line.split()[2] == "1", line


def test_shards_are_resumed_on_an_equal_cluster_alone(tmp_path: Path) -> None:
    """Cut the search of a board as another cluster does, or search it in this process."""
    store, pairs = Folder(tmp_path), [(SLIDING, table) for table in parse_sliding("2x5").tables]

    def list_saved(tasks: Tasks) -> list[int]:
        return [len(job.saved) for job in list_jobs(store, pairs, tasks, print)]

    cluster = Tasks(None, 4, is_remote=True)
    for job in list_jobs(store, pairs, cluster, print):
        job.checkpoints.save("a shard", [np.arange(9)])
    assert list_saved(cluster) == [1] * len(pairs)
    for other in (Tasks(None, 4), Tasks(None, 3, is_remote=True)):
        assert list_saved(other) == [0] * len(pairs)
    assert list_saved(Tasks(None, 4, is_remote=True, memory=1 << 30)) == [0] * len(pairs)


MEASURED = {
    "knight_tours_6x6": 6,
    "knight_counts_7x7": 52,
    "knight_closed_counts_8x8": 109,
    "knight_counts_8x8": 7_020,
    "sliding_2x7": 340,
}
"""Processor seconds of builds."""


@pytest.mark.parametrize("name", MEASURED)
def test_an_estimate_is_near_what_was_measured(name: str) -> None:
    puzzle = get_puzzle(name.partition("_")[0])
    seconds = sum(estimate_cost(table).seconds for table in puzzle.find_tables(name))
    assert 1 / 6 < seconds / MEASURED[name] < 6


def test_every_table_has_an_estimate(tmp_path: Path) -> None:
    defaults = [(stage, stage.tables) for stage in list_puzzles() if stage.tables]
    requests = [*defaults, *map(find_request, ON_REQUEST)]
    tables = [(puzzle, table) for puzzle, of_puzzle in requests for table in of_puzzle]
    for job in list_jobs(Folder(tmp_path), tables, Tasks(None, 1), print):
        cost = estimate_cost(job.table)
        assert min(cost) > 0, job.table.name
        assert cost.memory > 1 << 27


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", [table.name for puzzle in list_puzzles() for table in puzzle.tables]
)
def test_the_memory_of_a_default_table_is_as_estimated(cli: Cli, tmp_path: Path, name: str) -> None:
    """Build a table alone, in a process that compiles all that it needs."""
    words = ("precompute", name, "--outputs", str(tmp_path / "tables"))
    (row,) = json.loads(cli(*words, "--dry-run", "--json").out)["tables"][:1]
    assert cli(*words, env={"NUMBA_CACHE_DIR": str(tmp_path / "cache")}).code == 0
    peak = max(run.peak_memory or 0 for run in read_last_runs(Folder(tmp_path / "tables")))
    assert peak <= row["memory"] < 1.4 * peak
