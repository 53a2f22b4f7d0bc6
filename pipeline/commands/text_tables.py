"""Tables as text: the results of a build, dry runs, and the status of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from puzzle_tablebase.pipeline.terminal import escape_control
from puzzle_tablebase.tables.run_records import COMPLETED, RUNNING, RunRecord, TableRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import JustifyMethod

    from puzzle_tablebase.cost import Cost
    from puzzle_tablebase.pipeline.cleaning import Leftover
    from puzzle_tablebase.pipeline.comparison import Comparison
    from puzzle_tablebase.pipeline.plan import PlannedTable, SavedWork


NUMBERS = {
    "bytes", "CPU s", "CPU time", "files", "memory", "per second", "rows", "rows A", "rows B",
    "seconds", "size", "tables", "tasks",
}  # fmt: skip
"""Columns whose cells end at the right."""
MAX_WIDTH = 80
"""Characters of a line of a list of runs."""
MAX_CELL = 40
"""Most characters of a cell whose text is a file's own."""
GAP = 2
"""Spaces between two columns."""
MIN_COMMAND = 20
"""Characters that a command in a list of runs has at least, before it is cut."""
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


def format_build(built: Mapping[str, TableRun]) -> str:
    """Format the tables that were built: reasons, sizes, and times."""
    rows = []
    for name, run in sorted(built.items()):
        cells = _format_amount(run.list_amounts()), f"{run.bytes:,}", f"{run.seconds:.2f}"
        rows.append((name, run.reason, *cells, _format_rate(run)))
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


def _format_rate(run: TableRun) -> str:
    """Format how many of a table's rows, or of what it has in their place, were made a second."""
    counts = [*run.list_amounts().values()]
    return f"{counts[-1] / run.seconds:,.0f}" if counts and run.seconds else ""


def format_dry_run(tables: Sequence[PlannedTable]) -> str:
    """Format the tables that a build would write: reasons, saved work, and cost."""
    rows = []
    for planned in tables:
        saved, table = _format_saved(planned.saved) if planned.saved else "", planned.table
        estimate, unit = planned.cost, planned.puzzle.find_unit(table)
        if estimate and unit == "states":
            estimate = estimate._replace(rows=table.states)
        cost = _format_cost(estimate, unit)
        rows.append((planned.table.name, planned.reason, saved, *cost, planned.source))
    names = "table", "reason", "resumes", "rows", "CPU time", "size", "memory", "from"
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


def format_runs(runs: Sequence[RunRecord]) -> str:
    """Format run records: when, what, how long, and how it ended."""
    rows = []
    for run in runs:
        finished = sum(table.outcome == COMPLETED for table in run.tables)
        cells = (
            run.name,
            " ".join(["pipeline", *run.command]),
            f"{finished} of {len(run.tables)}",
            f"{run.seconds:,.1f}",
            _cut(run.outcome, MAX_CELL),
        )
        rows.append(cells)
    names = "run", "command", "tables", "seconds", "outcome"
    others = (0, 2, 3, 4)
    width = sum(max(len(row[at]) for row in [names, *rows]) + GAP for at in others)
    room = max(MIN_COMMAND, MAX_WIDTH - width)
    return _format_table(names, [(row[0], _cut(row[1], room), *row[2:]) for row in rows])


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def format_run(tables: Sequence[TableRun], outcome: str) -> str:
    """Format the tables of a run with this outcome, and theirs unless all are complete."""
    is_complete = all(table.outcome == COMPLETED for table in tables)
    rows = [
        (
            _cut(table.table, MAX_CELL),
            _cut(table.reason, MAX_CELL),
            ""
            if is_complete
            else _cut(outcome if table.outcome == RUNNING else table.outcome, MAX_CELL),
            _format_amount(table.list_amounts()),
            _format_seconds(table.seconds),
            _format_seconds(table.processor_seconds),
            _format_rate(table),
            "" if table.bytes is None else _format_size(table.bytes),
            _format_tasks(table),
            "" if table.process_peak_memory is None else _format_size(table.process_peak_memory),
        )
        for table in tables
    ]
    names = "table", "reason", "outcome", "rows", "seconds", "CPU s", "per second", "size", "tasks"
    return _format_table((*names, "memory"), rows)


def _format_tasks(table: TableRun) -> str:
    """Format how many tasks were done, with those resumed and failed if there are any."""
    counts = {"resumed": table.tasks_resumed, "failed": table.tasks_failed}
    parts = [f"{count:,} {name}" for name, count in counts.items() if count]
    if not table.tasks_done and not parts:
        return ""
    return ", ".join([f"{table.tasks_done:,}", *parts])


def _format_seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:,.2f}"


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
    """Format the status of tables and pages, for people."""
    cells = []
    for row in rows:
        amount = _format_amount({unit: row.get(unit) for unit in ("rows", "records", "states")})
        size = f"{row['bytes']:,}" if "bytes" in row else ""
        state = row["state"]
        if row.get("command") and row["state"] != "published":
            state += f": {row['command']}"
        cells.append((row["table"], amount, size, row.get("made_by", ""), state))
    return _format_table(("table", "rows", "bytes", "made by", "state"), cells)


def format_diff(comparisons: list[Comparison]) -> str:
    """Format the differences of two stores."""
    rows = []
    for comparison in comparisons:
        numbers = map(_format_amount, comparison.amounts)
        counts = comparison.counts._asdict() if comparison.counts else {}
        counted = [f"{count:,} {name}" for name, count in counts.items() if count]
        details = "; ".join([*counted, *comparison.details])
        rows.append((comparison.table, *numbers, comparison.difference, details))
    return _format_table(("table", "rows A", "rows B", "difference", "details"), rows)


def format_leftovers(leftovers: list[Leftover]) -> str:
    """Format the files that unfinished builds left."""
    rows = [
        (each.kind, each.table, f"{len(each.files):,}", f"{each.bytes:,}", each.note)
        for each in leftovers
    ]
    return _format_table(("kind", "table", "files", "bytes", "note"), rows)
