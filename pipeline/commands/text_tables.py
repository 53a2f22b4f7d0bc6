"""Tables as text: the results of a build, plans, and the status of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from pipeline.terminal import escape_control

if TYPE_CHECKING:
    from pipeline.cleaning import Leftover
    from pipeline.comparison import Comparison
    from pipeline.plan import Plan
    from tablebase.tables.manifest import Entry

TEXT_COLUMNS = {"table", "made by", "state", "difference", "details", "kind", "note"}


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


def make_build_table(entries: dict[str, Entry], seconds: dict[str, float]) -> Grid:
    """Make the grid of published tables with rows, bytes, and the seconds that building took."""
    grid = _make_table("table", "rows", "bytes", "index bytes", "seconds")
    for name, entry in sorted(entries.items()):
        grid.add_row(
            name,
            f"{entry.rows:,}",
            f"{entry.bytes:,}" if entry.files else "",
            f"{entry.index.bytes:,}" if entry.index else "",
            f"{seconds[name]:.2f}" if name in seconds else "up to date",
        )
    return grid


def make_plan_table(plans: dict[str, Plan], cores: int) -> Grid:
    """Make the grid of plans: sizes, the time on this machine, and on 10, 100 and 1,000 workers.

    A worker is assumed to be as fast as one core of this machine.
    """
    workers = (10, 100, 1000)
    others = [f"on {count:,} workers" for count in workers]
    further = ("meanwhile", "memory")
    sizes = ["bytes", *(size for size in further if any(getattr(p, size) for p in plans.values()))]
    grid = _make_table("table", "parts", "rows", "error", *sizes, "here", *others)
    for name, plan in plans.items():
        max_workers = max(1, plan.tasks)  # a task runs on one worker
        error = f"{plan.error:.0%}" if plan.error else "exact"
        spent = [
            plan.local_seconds / min(cores, max_workers),
            *(plan.seconds / min(count, max_workers) for count in workers),
        ]
        counts = [f"{count:,.0f}" for count in (plan.tasks, plan.rows)]
        bytes_each = [f"{getattr(plan, size):,.0f}" for size in sizes]
        grid.add_row(
            name,
            *counts,
            error,
            *bytes_each,
            *(_format_duration(plan.writing_seconds + time) for time in spent),
        )
    return grid


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
