"""Tables as text: they fit 80 columns, without columns that say nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from puzzle_tablebase.cost import Cost
from puzzle_tablebase.pipeline.commands.text_tables import (
    MAX_WIDTH,
    format_dry_run,
    format_runs,
    format_status,
)
from puzzle_tablebase.pipeline.runs import Run

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
    told = {"cost": cost, "saved": saved, "reason": reason}
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


@pytest.mark.parametrize("memory", [None, 1_000_000_000])
def test_runs_fit(memory: int | None) -> None:
    moment, reason = "2026-01-02T03:04:05Z", "knight_ranks_7x7.idx cannot be read"
    run = Run(moment, "knight_ranks_7x7", reason, 12_345.67, memory, "completed")
    (line,) = require_narrow(format_runs([run]), "when", "table", "outcome")[1:]
    assert line.endswith("completed")


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
