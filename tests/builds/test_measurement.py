"""Tests of plans: the estimated rows, bytes, time and memory of a table."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pipeline import measurement
from pipeline.build_context import BuildContext
from pipeline.builders.registry import checkpoints, estimate, parts
from pipeline.commands.app import run_app
from pipeline.measurement import measure_cost
from pipeline.shards import Listing
from pipeline.tasks import CostSample, SingleRunCost, TaskRunner, make_no_records
from tablebase.puzzles.knight.board import parse_board
from tablebase.puzzles.knight.definition import PUZZLE as KNIGHT
from tablebase.puzzles.knight.tables import make_tour_table
from tablebase.puzzles.sliding import definition as sliding
from tablebase.schema import Table
from tablebase.tables.checkpoints import ShardSpec
from tablebase.tables.store import Folder
from tests import long_run, wide
from tests.support.build_recorder import build_tables
from tests.support.shell import SCRIPT, Cli, environment
from tests.support.sliding_tables import make_indexes_alone

SLIDING = sliding.PUZZLE
NEXT_BOARD = {"3x4": "3x5", "2x6": "2x7"}
ROWS = {"2x7": 43_589_145_600 // 360, "3x5": 653_837_184_000 // 360}
START = 1.0
"""Seconds that a process takes when it has nothing to do."""


def make_sliding_listing(board: str) -> Listing:
    return Listing(SLIDING, SLIDING.catalogue.request_tables({"board": [board]})[0])


def make_listing(board: str) -> Listing:
    return Listing(KNIGHT, make_tour_table(parse_board(board)))


# ---- plans made from a cost sample --------------------------------------------------------------

SAMPLE = CostSample(20, [90.0, 110.0], [3.0, 1.0], 2.5, make_no_records())
"""A sample of two estimates: 100 rows on average, 0.02 seconds each."""


@pytest.fixture
def estimate_calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Record the arguments of each estimate.

    Each estimate returns SAMPLE, and writing a row takes 10 bytes and half a second.
    """
    calls: list[Any] = []

    def return_estimate(table: Table, work: BuildContext, items: Any) -> CostSample:
        calls.append((work.tasks.jobs, items))
        return SAMPLE

    monkeypatch.setattr(measurement, "estimate", return_estimate)
    monkeypatch.setattr(measurement, "_measure_write_cost", lambda *_: (10.0, 0.5))
    return calls


def test_an_uncounted_table_is_planned_from_a_sample(
    estimate_calls: list[Any], tmp_path: Path
) -> None:
    """Expect a file per task, the mean of the estimated rows, and the error of that mean."""
    plan = measure_cost(Folder(tmp_path), make_listing("13x3"), None, 3)
    assert plan == pytest.approx((20, 100, 0.1, 1000, 250, 0, 52, 0, 52))
    assert estimate_calls == [(3, None)]
    measure_cost(Folder(tmp_path), make_listing("13x3"), ShardSpec(3, 8))
    table = make_listing("13x3").table
    assert estimate_calls[1:] == [(1, parts(table).items[2::8])]


def test_a_counted_table_has_exact_rows(estimate_calls: list[Any], outputs: Path) -> None:
    """Expect one file, written by one core, and the error of the seconds per row."""
    plan = measure_cost(Folder(outputs), make_listing("5x5"), None)
    rows, error = 1728, (3 / 90 - 1 / 110) / (3 / 90 + 1 / 110)
    search_seconds = 0.02 * rows
    expected = (
        20,
        rows,
        error,
        10 * rows,
        2.5 * rows,
        0,
        search_seconds,
        0.5 * rows,
        search_seconds,
    )
    assert plan == pytest.approx(expected)
    assert measure_cost(Folder(outputs), make_listing("5x5"), ShardSpec(1, 2)).rows == 100


@pytest.mark.parametrize(("free", "local_seconds"), [(None, 7), (1000, 7), (999, 0.02 * 20_160)])
def test_a_table_that_fits_in_free_space_is_planned_as_a_single_run(
    estimate_calls: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    free: int | None,
    local_seconds: float,
) -> None:
    single_run = SingleRunCost(seconds=7, memory=1000)
    monkeypatch.setattr(measurement, "estimate", lambda *_: SAMPLE._replace(single_run=single_run))
    monkeypatch.setattr(measurement, "get_free_memory", lambda: free)
    plan = measure_cost(Folder(tmp_path), make_sliding_listing("2x4"), None)
    assert (plan.rows, plan.memory, plan.local_seconds) == pytest.approx(
        (20_160, 1000, local_seconds)
    )
    assert plan.bytes == 10 * 20_160 + 4096 * 6  # a byte a state, 4,088 in a block, and a header


@pytest.mark.parametrize("rows", [[], [0.0, 0.0], [100.0]])
def test_few_estimates_give_no_error(
    estimate_calls: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[float]
) -> None:
    result = SAMPLE._replace(rows=rows or [0.0], seconds=[1.0] * len(rows or [0.0]))
    monkeypatch.setattr(measurement, "estimate", lambda *_: result)
    plan = measure_cost(Folder(tmp_path), make_listing("13x3"), None)
    assert (plan.rows, plan.error) == (sum(rows), 0)
    assert plan.seconds == pytest.approx(51 if sum(rows) else 0)


@pytest.mark.parametrize(("columns", "rows"), [(True, 16), (False, 360)])
def test_bytes_and_seconds_per_row_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: bool, rows: int
) -> None:
    """Measure the second write of some rows; an index alone has no bytes of Parquet."""
    table = make_listing("4x3").table if columns else make_indexes_alone("2x3")[0]
    with ThreadPoolExecutor(1) as threads:
        work = TaskRunner(threads, 1, checkpoints=checkpoints(Folder(tmp_path), table))
        result = estimate(table, BuildContext(work, Folder(tmp_path)), None)
    clock = iter([10.0, 10.5, 20.0, 24.0])
    monkeypatch.setattr("pipeline.measurement.time.thread_time", lambda: next(clock))
    size, seconds = measurement._measure_write_cost(Folder(tmp_path), table, result)
    assert (seconds, bool(size)) == (4 / rows, columns)
    if columns:
        build_tables(tmp_path, KNIGHT, table)
        assert size == pytest.approx((tmp_path / table.file).stat().st_size / rows, rel=0.01)


# ---- plans of tables ---------------------------------------------------------------------------


@wide
def test_planned_rows_are_the_counted_ones(outputs: Path) -> None:
    six = measure_cost(Folder(outputs), make_listing("6x6"), ShardSpec(1, 1))
    counted = measure_cost(Folder(outputs), make_listing("6x6"), None)
    assert (counted.tasks, counted.rows, counted.error) == (36, 6_637_920, 0)
    assert six.rows == 6_637_920
    size = (outputs / "knight_tours_6x6.parquet").stat().st_size
    assert 0.8 < counted.bytes / size < 1.2


def test_shards_add_up_to_the_table(tmp_path: Path) -> None:
    store = Folder(tmp_path)
    plans = [
        measure_cost(store, make_listing("5x5"), ShardSpec(number, 4)) for number in (1, 2, 3, 4)
    ]
    assert [plan.tasks for plan in plans] == [7, 6, 6, 6]
    assert sum(plan.rows for plan in plans) == 1728
    assert measure_cost(store, make_listing("5x5"), ShardSpec(26, 30)) == (0,) * 9


def test_large_tables_are_estimated(tmp_path: Path) -> None:
    plan = measure_cost(Folder(tmp_path), make_listing("13x3"), None)
    assert plan.tasks == 20
    assert abs(plan.rows / 257_728 - 1) < 0.2
    assert 0.7 < plan.bytes / 1_630_752 < 1.3
    assert plan.seconds > 0


@long_run
def test_the_plan_of_7x7(tmp_path: Path) -> None:
    plan = measure_cost(Folder(tmp_path), make_listing("7x7"), None)
    assert plan.tasks == 10_864
    assert abs(plan.rows / 165_575_218_320 - 1) < 3 * plan.error
    assert 0 < plan.error < 0.15
    shard = measure_cost(Folder(tmp_path), make_listing("7x7"), ShardSpec(5, 2500))
    assert abs(shard.rows / 86_022_593 - 1) < 0.2


def test_the_plan_option(cli: Cli, tmp_path: Path) -> None:
    words = ["precompute", "knight_tours_4x3", "--outputs", str(tmp_path / "new")]
    words += ["--dry-run", "--measure"]
    text = cli(*words)
    assert (text.code, text.err) == (0, "")
    head, row, _, measured_head, measured_row = text.out.splitlines()
    assert head.split() == ["table", "reason", "rows", "CPU", "time", "size", "memory", "from"]
    assert row.split()[:3] == ["knight_tours_4x3", "missing", "16"]
    assert row.split()[-1] == "measured"
    assert measured_head.split()[:3] == ["table", "tasks", "error"]
    assert measured_row.split()[:3] == ["knight_tours_4x3", "12", "exact"]
    shard = cli(*words, "--shard", "2/12").out.splitlines()
    assert shard[1].split()[:8] == [
        "knight_tours_4x3",
        "shard",
        "2/12",
        "0",
        "of",
        "1",
        "tasks",
        "0",
    ]
    assert shard[-1].split()[1] == "1"
    assert not (tmp_path / "new").exists()


def test_the_plan_of_a_sliding_board(tmp_path: Path) -> None:
    plan = measure_cost(Folder(tmp_path / "new"), make_sliding_listing("2x5"), None)
    assert (plan.tasks, plan.rows) == (9 * 8, 1_814_400)
    assert 1_814_400 < plan.memory < 1.3 * 1_814_400
    assert plan.error > 0
    assert 0 < plan.local_seconds < plan.seconds
    assert plan.writing_seconds > 0
    assert not (tmp_path / "new").exists()
    build_tables(tmp_path / "made", SLIDING, make_sliding_listing("2x5").table)
    size = sum(path.stat().st_size for path in (tmp_path / "made").glob("sliding_2x5_10.*"))
    assert 0.95 < plan.bytes / size < 1.05


def test_a_table_that_does_not_fit_is_planned_in_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurement, "get_free_memory", lambda: 20_000)
    assert (
        plan := measure_cost(Folder(tmp_path), make_sliding_listing("2x4"), None)
    ).memory > 20_000
    assert plan.local_seconds == plan.seconds
    assert 20_160 < plan.temporary_bytes < 60_000


def test_a_large_board_is_measured_by_a_smaller_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Measure boards of up to 8 cells, so that a board of 10 is planned from one of 8."""
    monkeypatch.setattr(sliding, "MAX_MEASURED_CELLS", 8)
    words = ["precompute", "sliding", "--board", "2x5", "--outputs", str(tmp_path)]
    assert run_app([*words, "--dry-run", "--measure"]) == 0
    _, row, *_, measured_head, _, _, last = capfd.readouterr().out.splitlines()
    assert row.split()[:3] == ["sliding_2x5_10", "missing", "1,814,400"]
    assert measured_head.split()[:4] == ["table", "tasks", "error", "temporary"]
    assert last.split()[:2] == ["sliding_2x5_8", "72"]


def test_invalid_plans_are_refused(cli: Cli) -> None:
    text = cli("precompute", "sliding", "--board", "3x6", "--dry-run", "--measure")
    assert (text.code, text.err.count("boards have at most 16 cells")) == (2, 1)
    text = cli("precompute", "sliding", "--board", "2x3", "--shard", "1/2", "--dry-run")
    assert text.code == 2
    assert "--shard does not apply to sliding_2x3_6: it is no list" in text.err
    assert "--measure needs --dry-run" in cli("precompute", "eight", "--measure").err


@long_run
@pytest.mark.parametrize("board", ["3x4", "2x6"])
def test_the_plan_of_a_large_sliding_board(tmp_path: Path, board: str) -> None:
    plan = measure_cost(Folder(tmp_path), make_sliding_listing(board), None, 2)
    words = ["precompute", "sliding", "--board", board, "--quiet", "--outputs", str(tmp_path)]
    build = subprocess.Popen([SCRIPT, *words], env=environment())
    _, build.returncode, usage = os.wait4(build.pid, 0)
    assert build.returncode == 0
    assert plan.bytes == (tmp_path / f"sliding_{board}_12.idx").stat().st_size
    assert (
        0.65
        < (plan.local_seconds + plan.writing_seconds) / (usage.ru_utime + usage.ru_stime - START)
        < 1.35
    )
    larger_plan = measure_cost(Folder(tmp_path), make_sliding_listing(NEXT_BOARD[board]), None, 2)
    assert larger_plan.rows == ROWS[NEXT_BOARD[board]]
    assert 0.65 < larger_plan.seconds / larger_plan.rows / (plan.seconds / plan.rows) < 1.35
