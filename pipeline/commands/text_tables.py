"""Tables as text: the results of a build, dry runs, and the status of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from pipeline.terminal import escape_control
from tablebase.tables.run_records import COMPLETED, RUNNING, Run, TableRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.build_progress import BuiltTable
    from pipeline.cleaning import Leftover
    from pipeline.comparison import Comparison
    from pipeline.dry_run import PlannedTable, SavedWork
    from pipeline.measurement import MeasuredCost


TEXT_COLUMNS = {
    "table", "made by", "state", "reason", "resumes", "from", "run", "started", "command",
    "outcome", "difference", "details", "kind", "note",
}  # fmt: skip
"""Columns whose cells begin at the left."""
MAX_COMMAND = 60
"""Most characters of a command in a list of runs."""


def format_table(grid: Grid) -> str:
    """Render a grid as text, as wide as its content needs."""
    console = Console(highlight=False, width=200)
    with console.capture() as captured:
        console.print(grid)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _make_table(*names: str) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        is_text = name in TEXT_COLUMNS
        grid.add_column(name, justify="left" if is_text else "right", no_wrap=True)
    return grid


def make_build_table(built: Mapping[str, BuiltTable]) -> Grid:
    """Make the grid of the tables that were built: reasons, sizes, and times."""
    grid = _make_table("table", "reason", "rows", "bytes", "seconds", "rows a second")
    for name, (reason, entry, statistics) in sorted(built.items()):
        seconds = statistics.seconds
        grid.add_row(
            name,
            reason,
            f"{entry.rows:,}",
            f"{sum(file.bytes for file in entry.all_files):,}",
            f"{seconds:.2f}",
            f"{entry.rows / seconds:,.0f}" if seconds else "",
        )
    return grid


def make_dry_run_table(tables: Sequence[PlannedTable]) -> Grid:
    """Make the grid of the tables that a build would write: reasons, saved work, and cost."""
    grid = _make_table(
        "table", "reason", "resumes", "rows", "processor time", "bytes", "memory", "from"
    )
    for planned in tables:
        cost = planned.cost
        sizes = ("unknown", "", "", "")
        if cost:
            sizes = (
                f"{cost.rows:,}",
                _format_duration(cost.seconds),
                f"{cost.bytes:,}",
                _format_size(cost.memory),
            )
        saved = _format_saved(planned.saved) if planned.saved else ""
        grid.add_row(planned.table.name, planned.reason, saved, *sizes, planned.source)
    return grid


def _format_saved(saved: SavedWork) -> str:
    """Format what an unfinished build left."""
    if saved.tasks:
        done, total = saved.tasks
        return f"{done:,} of {total:,} tasks"
    return f"{saved.files:,} checkpoint{'s' * (saved.files != 1)}, {_format_size(saved.bytes)}"


def _format_size(count: float) -> str:
    """Format a number of bytes with its unit.

    >>> _format_size(999), _format_size(12_345_678), _format_size(2_070_000_000)
    ('999 B', '12 MB', '2.1 GB')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.{int(unit == 'GB')}f} {unit}"
    return f"{count:,.0f} B"


def make_measured_table(tables: Mapping[str, MeasuredCost], cores: int) -> Grid:
    """Make the grid of measured costs: sizes, and times here and on 10, 100 and 1,000 workers.

    A worker is assumed to be as fast as one core of this machine.
    """
    workers = (10, 100, 1000)
    others = [f"on {count:,} workers" for count in workers]
    has_temporary = any(cost.temporary_bytes for cost in tables.values())
    sizes = ["temporary bytes"] * has_temporary
    grid = _make_table("table", "tasks", "error", *sizes, "this machine", *others)
    for name, cost in tables.items():
        max_workers = max(1, cost.tasks)  # a task runs on one worker
        error = f"{cost.error:.0%}" if cost.error else "exact"
        spent = [
            cost.local_seconds / min(cores, max_workers),
            *(cost.seconds / min(count, max_workers) for count in workers),
        ]
        grid.add_row(
            name,
            f"{cost.tasks:,}",
            error,
            *[f"{cost.temporary_bytes:,.0f}"] * has_temporary,
            *(_format_duration(cost.writing_seconds + time) for time in spent),
        )
    return grid


def make_runs_table(runs: Sequence[Run]) -> Grid:
    """Make the grid of run records: when, what, how long, and how it ended."""
    grid = _make_table("run", "started", "command", "tables", "seconds", "outcome")
    for run in runs:
        record = run.record
        command = " ".join(["pipeline", *record.command])
        finished = sum(table.outcome == COMPLETED for table in record.tables)
        cells = (
            record.name,
            record.started,
            command if len(command) <= MAX_COMMAND else f"{command[: MAX_COMMAND - 1]}…",
            f"{finished} of {len(record.tables)}",
            f"{record.seconds:,.1f}",
            run.outcome,
        )
        grid.add_row(*(Text(escape_control(cell)) for cell in cells))
    return grid


def make_run_table(tables: Sequence[TableRun], outcome: str) -> Grid:
    """Make the grid of one run's tables; `outcome`: that of the run."""
    names = "table", "reason", "outcome", "rows", "seconds", "processor time", "rows a second"
    grid = _make_table(*names, "bytes", "tasks", "resumed", "failed", "peak memory of the process")
    for table in tables:
        grid.add_row(
            Text(escape_control(table.table)),
            Text(escape_control(table.reason)),
            outcome if table.outcome == RUNNING else table.outcome,
            _format_count(table.rows),
            _format_count(table.seconds, 2),
            _format_count(table.processor_seconds, 2),
            _format_count(table.rows_per_second),
            _format_count(table.bytes),
            *(f"{count:,}" for count in (table.tasks_done, table.tasks_resumed)),
            f"{table.tasks_failed:,}",
            "" if table.process_peak_memory is None else _format_size(table.process_peak_memory),
        )
    return grid


def _format_count(number: float | None, digits: int = 0) -> str:
    return "" if number is None else f"{number:,.{digits}f}"


def _format_duration(seconds: float) -> str:
    """Format a time with its unit.

    >>> _format_duration(1.23), _format_duration(300), _format_duration(36000)
    ('1.2 s', '5.0 min', '10.0 h')
    """
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} s"


def make_status_table(rows: list[dict[str, Any]]) -> Grid:
    """Make the grid of the status of tables and pages, for people."""
    grid = _make_table("table", "rows", "bytes", "made by", "state")
    for row in rows:
        numbers = [f"{row[name]:,}" if name in row else "" for name in ("rows", "bytes")]
        state = row.get("shards", row["state"])
        if row.get("command") and row["state"] != "published":
            state += f": {row['command']}"
        words = (row["table"], *numbers, row.get("made_by", ""), state)
        grid.add_row(*(Text(escape_control(word)) for word in words))
    return grid


def make_diff_table(comparisons: list[Comparison]) -> Grid:
    """Make the grid of the differences of two stores."""
    grid = _make_table("table", "rows A", "rows B", "difference", "details")
    for comparison in comparisons:
        numbers = ["" if rows is None else f"{rows:,}" for rows in comparison.rows]
        counts = comparison.counts._asdict() if comparison.counts else {}
        counted = [f"{count:,} {name}" for name, count in counts.items() if count]
        details = "; ".join([*counted, *comparison.details])
        words = (comparison.table, *numbers, comparison.difference, details)
        grid.add_row(*(Text(escape_control(word)) for word in words))
    return grid


def make_leftovers_table(leftovers: list[Leftover]) -> Grid:
    """Make the grid of the files that unfinished builds left."""
    grid = _make_table("kind", "table", "files", "bytes", "note")
    for leftover in leftovers:
        numbers = [f"{len(leftover.files):,}", f"{leftover.bytes:,}"]
        words = (leftover.kind, leftover.table, *numbers, leftover.note)
        grid.add_row(*(Text(escape_control(word)) for word in words))
    return grid
