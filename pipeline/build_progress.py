"""Progress of a build: bars on a terminal, plain lines otherwise, nothing when quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from threading import Event, RLock, Thread
from typing import NamedTuple, Self

from rich import progress as bars
from rich.text import Text

from pipeline.build import BuildObserver, TableStatistics
from pipeline.build_request import UP_TO_DATE
from pipeline.progress import UNBROKEN, ProgressBar
from pipeline.terminal import find_width, wrap_message
from tablebase.schema import Table
from tablebase.tables.manifest import Entry

LINE_INTERVAL = 5.0
"""Seconds between two lines about the same table where there is no terminal."""
SILENT_SECONDS = 9.0
"""Seconds without any line after which each table in progress gets one."""
TICK_SECONDS = 0.5
"""Seconds between two looks at the clock."""
WHOLE = ""
"""The name of the bar for all tables together."""
MIN_SHARE = 0.05
"""Share of the work from which on the remaining time is estimated."""
MAX_UNFINISHED = 0.95
"""The largest share of its work that a table counts for before it is finished."""


class BuiltTable(NamedTuple):
    """A table that was built: the reason, its entry, and what it took."""

    reason: str
    entry: Entry
    statistics: TableStatistics


class _Step:
    """The activity of a table that is being built."""

    def __init__(self) -> None:
        self.table_started = self.started = self.printed_at = time.monotonic()
        self.doing, self.done = "starting", 0
        self.total: int | None = None
        self.first_done = 0
        self.printed_doing = ""

    def update(self, doing: str, done: int, total: int | None) -> None:
        """Set the activity; the rate is that since the activity began, or was resumed."""
        if doing != self.doing:
            self.started, self.first_done = time.monotonic(), done
            self.doing = doing
        self.done, self.total = done, total

    def format_line(self, table: str) -> str:
        """Return a line with the count, the percentage and the rate."""
        seconds = time.monotonic() - self.started
        parts = [f"  {table}: {self.doing} {self.done:,}"]
        if self.total:
            parts.append(f" of {self.total:,} ({self.done / self.total:.0%})")
        if seconds >= 1 and self.done > self.first_done:
            parts.append(f", {_format_rate((self.done - self.first_done) / seconds)}")
        return "".join([*parts, f", {time.monotonic() - self.table_started:.0f} s"])


class BuildProgress(ProgressBar, BuildObserver):
    """Observer of a build that prints its lines and shows its bars.

    `expected_seconds`: what each table is expected to take, for the time left. `line_interval` and
    `silent_seconds`: see `LINE_INTERVAL` and `SILENT_SECONDS`.
    """

    def __init__(
        self,
        *,
        quiet: bool,
        expected_seconds: Mapping[str, float] | None = None,
        line_interval: float = LINE_INTERVAL,
        silent_seconds: float = SILENT_SECONDS,
    ) -> None:
        super().__init__(_CountColumn(UNBROKEN), _RateColumn(UNBROKEN), shown=not quiet)
        self._expected = dict(expected_seconds or {})
        self._line_interval, self._silent_seconds = line_interval, silent_seconds
        self._steps: dict[str, _Step] = {}
        self._reasons: dict[str, str] = {}
        self._planned: list[str] = []
        self._started = self._printed_at = time.monotonic()
        self._lock = RLock()
        self._is_over = Event()
        self._ticker = Thread(target=self._tick, daemon=True)
        self.built: dict[str, BuiltTable] = {}
        """The tables that were built, in the order in which they were finished."""
        self.up_to_date: list[str] = []

    def __enter__(self) -> Self:
        super().__enter__()
        self._ticker.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._is_over.set()
        self._ticker.join()
        super().__exit__(kind, error, trace)

    def on_plan(self, tables: Sequence[Table]) -> None:
        """Begin the bar for all tables."""
        self._planned = [table.name for table in tables]
        if len(self._planned) > 1:
            self._show_whole()

    def on_table(self, table: Table, reason: str) -> None:
        """Print why a table is built, or that it is up to date."""
        if reason == UP_TO_DATE:
            self.up_to_date.append(table.name)
            return
        with self._lock:
            self._reasons[table.name] = reason
            self._steps[table.name] = _Step()
            self._print(f"building {table.name} ({reason})")
            self.show(table.name, 0, None, table.name)

    def on_step(self, table: str, doing: str, done: int, total: int | None) -> None:
        """Show a table's progress; without a terminal, print a line now and then."""
        with self._lock:
            step = self._steps[table]
            step.update(doing, done, total)
            self.show(f"{table}: {doing}", done, total, table)
            # an activity that was printed once is also printed when it is complete
            is_due = time.monotonic() - step.printed_at > self._line_interval or (
                step.printed_doing == doing and done == total
            )
            if is_due:
                self._print_step(table, step)

    def on_built(self, table: Table, entry: Entry, statistics: TableStatistics) -> None:
        """Print a finished table's rows and seconds."""
        with self._lock:
            self.hide(table.name)
            del self._steps[table.name]
            self.built[table.name] = BuiltTable(self._reasons[table.name], entry, statistics)
            made = f"{entry.rows:,} rows" if entry.states is None else f"{entry.states:,} states"
            self._print(f"{table.name}: {made} in {statistics.seconds:.1f} s")
            if len(self._planned) > 1:
                self._show_whole()

    def on_failure(self, table: Table, statistics: TableStatistics) -> None:
        """Remove the bar of a table that was not built."""
        with self._lock:
            self.hide(table.name)
            self._steps.pop(table.name, None)

    def on_recovery(self, problem: str, tables: list[str], left_out: dict[str, str]) -> None:
        """Print the manifest's problem, the recovered tables, and why others were left out."""
        self._print(problem)
        if tables:
            self._print(f"recovered: {', '.join(tables)}")
        for name, reason in left_out.items():
            self._print(f"not recovered: {name} ({reason})")

    def estimate_seconds_left(self) -> float | None:
        """Estimate the seconds until all tables are built; None where too little is known."""
        expected = {name: self._expected.get(name) for name in self._planned}
        whole = sum(filter(None, expected.values()))
        if None in expected.values() or not whole:
            return None
        now, done = time.monotonic(), 0.0
        for name, seconds in expected.items():
            if name in self.built:
                done += seconds or 0
            elif name in self._steps:
                spent = now - self._steps[name].table_started
                done += min(spent, MAX_UNFINISHED * (seconds or 0))
        share = done / whole
        return (now - self._started) * (1 - share) / share if share >= MIN_SHARE else None

    def _show_whole(self) -> None:
        left = self.estimate_seconds_left()
        text = f"tables{f', about {_format_seconds(left)} left' if left is not None else ''}"
        self.show(text, len(self.built), len(self._planned), WHOLE)

    def _tick(self) -> None:
        """Update the time left; without a terminal, break a long silence."""
        while not self._is_over.wait(TICK_SECONDS):
            with self._lock:
                if self.console.is_terminal:
                    if len(self._planned) > 1:
                        self._show_whole()
                elif time.monotonic() - self._printed_at >= self._silent_seconds:
                    for name, step in self._steps.items():
                        self._print_step(name, step)

    def _print_step(self, table: str, step: _Step) -> None:
        step.printed_at = time.monotonic()
        step.printed_doing = step.doing
        if not self.console.is_terminal:
            self._print(step.format_line(table))

    def _print(self, line: str) -> None:
        self._printed_at = time.monotonic()
        width = find_width(sys.stderr)
        self.console.print(wrap_message(line, width) if width else line, markup=False)


class _CountColumn(bars.ProgressColumn):
    """Column with the count, the total and the percentage."""

    def render(self, task: bars.Task) -> Text:
        count = f"{task.completed:,.0f}"
        if task.total:
            count += f"/{task.total:,.0f} {task.completed / task.total:.0%}"
        return Text(count)


class _RateColumn(bars.ProgressColumn):
    """Column with the count for each second."""

    def render(self, task: bars.Task) -> Text:
        is_whole = task.description.startswith("tables")
        return Text("" if is_whole or not task.speed else _format_rate(task.speed))


def _format_rate(rate: float) -> str:
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"


def _format_seconds(seconds: float) -> str:
    """Format a time left.

    >>> _format_seconds(7.4), _format_seconds(200), _format_seconds(9000)
    ('7 s', '3 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
