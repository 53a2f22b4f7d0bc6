"""Tables as text: every cell whole, foreign text as it is, and no columns that say nothing."""

from __future__ import annotations

import pytest

from puzzle_tablebase.pipeline.commands.text_tables import format_status


def test_cells_are_whole() -> None:
    row = {"table": "t" * 500, "rows": 6_637_920, "bytes": 1, "state": "published"}
    names, cells = format_status([row, {**row, "table": "eight"}]).splitlines()[:2]
    assert cells.split() == ["t" * 500, "6,637,920", "1", "published"]
    assert names.split() == ["table", "rows", "bytes", "state"]


def test_foreign_text_is_neither_markup_nor_control() -> None:
    row = {"table": "eight", "made_by": "[red]\x1b[31m日本[/] :smile:", "state": "published"}
    _, cells = format_status([row]).splitlines()
    assert cells == "eight  [red]\\x1b[31m日本[/] :smile:  published"


def test_numbers_end_at_the_right() -> None:
    rows = [{"table": "a", "bytes": 5, "state": "s"}, {"table": "bc", "bytes": 5_000, "state": "s"}]
    assert format_status(rows) == "table  bytes  state\na          5  s\nbc     5,000  s\n"


@pytest.mark.parametrize("folder", ["", f" --outputs {'folder/' * 40}"])
def test_columns_without_a_value_are_left_out_and_no_command_is_cut(folder: str) -> None:
    command = f"pipeline precompute eight{folder}"
    missing = [{"table": "eight", "state": "missing", "command": command}]
    assert format_status(missing) == f"table  state\neight  missing: {command}\n"
    assert format_status([]).split() == ["table", "rows", "bytes", "made", "by", "state"]
