"""Tables as text: they fit 80 columns, without columns that say nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from puzzle_tablebase.cost import Cost
from puzzle_tablebase.pipeline.commands.text_tables import (
    MAX_WIDTH,
    format_dry_run,
    format_run,
    format_runs,
    format_status,
)
from puzzle_tablebase.tables.run_records import COMPLETED, RUNNING, TableRun

NAMES = ["eight", "knight_tours_6x6", "sliding_3x4_12", "knight_ranks_7x7"]
REASONS = ["missing", "parameters changed", "description changed", "eight.idx cannot be read"]


def require_narrow(text: str, *columns: str) -> list[str]:
    """Require lines of at most 80 characters, and these columns; return the lines."""
    lines = text.splitlines()
    assert max(map(len, lines)) <= MAX_WIDTH, text
    for column in columns:
        assert column in lines[0], text
    return lines


def make_plan(reason: str, rows: int, saved: Any = None) -> Any:
    puzzle = SimpleNamespace(find_unit=lambda table: "records")
    cost = Cost(rows, rows * 1e-3, rows * 7, rows * 3) if rows else None
    told = {"cost": cost, "saved": saved, "reason": reason, "source": "recipe"}
    return [
        SimpleNamespace(puzzle=puzzle, table=SimpleNamespace(name=name), **told) for name in NAMES
    ]


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("rows", [0, 1_000, 166_348_454_590])
@pytest.mark.parametrize("files", [0, 3])
def test_dry_runs_fit(reason: str, rows: int, files: int) -> None:
    saved = files and SimpleNamespace(files=files, bytes=12_345_678)
    text = format_dry_run(make_plan(reason, rows, saved))
    require_narrow(text, "table", "reason", *["resumes"] * bool(saved))
    assert reason in text
    assert ("resumes" in text) == bool(saved)
    assert ("CPU time" in text) == bool(rows)


def make_run(outcome: str = COMPLETED, **changes: Any) -> TableRun:
    values: dict[str, Any] = {
        **dict.fromkeys(TableRun.__struct_fields__, None),
        "table": "knight_ranks_7x7",
        "reason": "missing",
        "outcome": outcome,
        "rows": 166_348_454_590,
        "seconds": 12_345.67,
        "processor_seconds": 23_456.78,
        "rows_per_second": 1_308_760.0,
        "bytes": 1_249_165_776_708,
        "parameters": {},
        "tasks_done": 10_864,
        "tasks_resumed": 0,
        "tasks_failed": 0,
        "process_peak_memory": 1_000_000_000,
    }
    return TableRun(**(values | changes))


def test_runs_fit() -> None:
    lines = require_narrow(format_run([make_run()], COMPLETED), "size", "tasks")
    assert "outcome" not in lines[0], "all tables are complete"
    failed = [make_run(), make_run(RUNNING, tasks_resumed=12, tasks_failed=3)]
    text = format_run(failed, "interrupted")
    lines = require_narrow(text, "outcome", "tasks")
    assert "completed" in lines[1]
    assert "interrupted" in lines[2]
    assert "10,864, 12 resumed, 3 failed" in lines[2]
    run = {"name": "20260102T030405006Z-a1b2", "tables": [], "seconds": 1e5}
    command = ["precompute", *NAMES]
    runs: Any = [SimpleNamespace(**run, command=command, outcome="interrupted")]
    lines = require_narrow(format_runs(runs), "run", "command", "outcome")
    assert "pipeline precompute" in lines[1]
    assert "…" in lines[1]


def test_a_long_name_of_the_maker_leaves_room_for_the_state() -> None:
    row = {"table": "knight_tours_6x6", "rows": 6_637_920, "bytes": 39_966_738}
    row |= {"made_by": "\x1b[31m" * 100, "state": "published"}
    (line,) = require_narrow(format_status([row]), "table", "state")[1:]
    assert line.endswith("…  published")
    assert "\x1b" not in line


@pytest.mark.parametrize("folder", ["", f" --outputs {'folder/' * 40}"])
def test_columns_without_a_value_are_left_out_and_no_command_is_cut(folder: str) -> None:
    command = f"pipeline precompute eight{folder}"
    missing = [{"table": "eight", "state": "missing", "command": command}]
    assert format_status(missing) == f"table  state\neight  missing: {command}\n"
    assert format_status([]).split() == ["table", "rows", "bytes", "made", "by", "state"]
