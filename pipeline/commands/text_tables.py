"""Tables as text: the results of a build, dry runs, and the status of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from puzzle_tablebase.pipeline.terminal import escape_control

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import JustifyMethod

    from puzzle_tablebase.pipeline.costs import Cost
    from puzzle_tablebase.pipeline.plan import PlannedTable, SavedWork
    from puzzle_tablebase.pipeline.progress import BuiltTable
    from puzzle_tablebase.pipeline.runs import Run


NUMBERS = {"bytes", "CPU time", "memory", "per second", "rows", "seconds", "size"}
"""Columns whose cells end at the right."""
GAP = 2
"""Spaces between two columns."""
UNLIMITED = 1 << 20
"""Characters of a line, so that no name or number is ever broken."""


def _format_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format the columns that have a value in some row."""
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="")
    shown = [at for at in range(len(names)) if not rows or any(row[at] for row in rows)]
    for at in shown:
        justify: JustifyMethod = "right" if names[at] in NUMBERS else "left"
        table.add_column(names[at], justify=justify)
    for row in rows:
        table.add_row(*(Text(escape_control(row[at])) for at in shown))
    console = Console(width=UNLIMITED, color_system=None)
    with console.capture() as captured:
        console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def format_build(built: Mapping[str, BuiltTable]) -> str:
    """Format the tables that were built: reasons, sizes, and times."""
    rows = []
    for name, table in sorted(built.items()):
        amounts, seconds = table.entry.list_amounts(), table.seconds
        *_, count = amounts.values()
        rate = f"{count / seconds:,.0f}" if seconds else ""
        cells = _format_amount(amounts), f"{table.entry.total_bytes:,}", f"{seconds:.2f}", rate
        rows.append((name, table.reason, *cells))
    names = "table", "reason", "rows", "bytes", "seconds", "per second"
    return _format_table(names, rows)


def format_costs(costs: Mapping[str, tuple[Cost | None, str]]) -> str:
    """Format names that can be built, each with an estimate of its cost and its unit."""
    rows = [(name, *_format_cost(cost, unit)) for name, (cost, unit) in costs.items()]
    return _format_table(("name", "rows", "CPU time", "size", "memory"), rows)


def _format_cost(cost: Cost | None, unit: str) -> tuple[str, str, str, str]:
    """Format the rows, or what else is counted, the time, bytes and memory of an estimate."""
    if cost is None:
        return "unknown", "", "", ""
    return (
        _format_amount({unit: cost.rows}),
        _format_duration(cost.seconds),
        _format_size(cost.bytes),
        _format_size(cost.memory),
    )


def _format_amount(amounts: Mapping[str, int | None]) -> str:
    """Format the last known amount of a table, with its unit unless that is rows."""
    known = [(unit, count) for unit, count in amounts.items() if count is not None]
    if not known:
        return ""
    unit, count = known[-1]
    return f"{count:,}" if unit == "rows" else f"{count:,} {unit}"


def format_dry_run(tables: Sequence[PlannedTable]) -> str:
    """Format the tables that a build would write: reasons, saved work, and cost."""
    rows = []
    for planned in tables:
        saved, table = _format_saved(planned.saved) if planned.saved else "", planned.table
        estimate, unit = planned.cost, planned.puzzle.find_unit(table)
        if estimate and unit == "states":
            estimate = estimate._replace(rows=table.states)
        cost = _format_cost(estimate, unit)
        rows.append((planned.table.name, planned.reason, saved, *cost))
    names = "table", "reason", "resumes", "rows", "CPU time", "size", "memory"
    return _format_table(names, rows)


def _format_saved(saved: SavedWork) -> str:
    """Format what an unfinished build left."""
    return f"{saved.files:,} checkpoint{'s' * (saved.files != 1)}, {_format_size(saved.bytes)}"


def _format_size(count: float) -> str:
    """Format a number of bytes with its unit.

    >>> _format_size(999), _format_size(12_345_678), _format_size(2_070_000_000)
    ('999 B', '12 MB', '2.1 GB')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.{int(size > 1e6)}f} {unit}"
    return f"{count:,.0f} B"


def format_runs(runs: Sequence[Run]) -> str:
    """Format the log of builds."""
    rows = [
        (
            run.when,
            run.table,
            run.reason,
            f"{run.seconds:,.2f}",
            "" if run.peak_memory is None else _format_size(run.peak_memory),
            run.outcome,
        )
        for run in runs
    ]
    names = "when", "table", "reason", "seconds", "memory", "outcome"
    return _format_table(names, rows)


def _format_duration(seconds: float) -> str:
    """Format a time with its unit.

    >>> _format_duration(1.23), _format_duration(300), _format_duration(36000)
    ('1.2 s', '5.0 min', '10.0 h')
    """
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} s"


def format_status(rows: list[dict[str, Any]]) -> str:
    """Format the status of tables, for people."""
    cells = []
    for row in rows:
        amount = _format_amount({unit: row.get(unit) for unit in ("rows", "records", "states")})
        size = f"{row['bytes']:,}" if "bytes" in row else ""
        state = row["state"]
        if row.get("command") and row["state"] != "published":
            state += f": {row['command']}"
        cells.append((row["table"], amount, size, row.get("made_by", ""), state))
    return _format_table(("table", "rows", "bytes", "made by", "state"), cells)


def format_diff(differences: Sequence[tuple[str, str]]) -> str:
    """Format the tables that differ between two stores, each with its difference."""
    return _format_table(("table", "difference"), differences)
