"""Progress of long work: a bar on a terminal, plain lines otherwise, nothing when quiet."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from rich import progress as bars
from rich.console import Console
from rich.table import Column
from rich.text import Text

from puzzle_tablebase.output import STANDARD
from puzzle_tablebase.process import CleanupOnSignal
from puzzle_tablebase.stores import MANIFEST

if TYPE_CHECKING:
    from puzzle_tablebase.formats.manifest import Entry
    from puzzle_tablebase.pipeline.proofs import TableResult, Verified
    from puzzle_tablebase.schema import Table


UP_TO_DATE = "up to date"
"""In place of the reason why a table is built: it is not."""
FEW_BOARDS = 6
"""Maximum number of boards that a line names; for more it has their number."""
UNBROKEN = Column(no_wrap=True)
"""A bar's column of numbers: a narrow terminal cuts the text and the bar instead."""
CURSOR_UP, CLEAR_BELOW = b"\x1b[1A", b"\r\x1b[J\x1b[?25h"
"""Control sequences that restore a terminal: move up to the first bar, clear the bars, and show the
cursor."""

LINE_INTERVAL = 5.0
"""Seconds between two lines about the same table where there is no terminal."""


class _ActivityColumn(bars.ProgressColumn):
    """Column with what is done, cut where the terminal is too narrow for the line."""

    def render(self, task: bars.Task) -> Text:
        return Text(f"  {task.description}", no_wrap=True, overflow="ellipsis")


class ProgressBar:
    """A progress bar on standard error while the block lasts, if that is a terminal."""

    def __init__(self, *columns: bars.ProgressColumn, shown: bool = True) -> None:
        self.console = Console(
            stderr=True, quiet=not shown, highlight=False, emoji=False, soft_wrap=True
        )
        self._progress = bars.Progress(
            _ActivityColumn(),
            bars.BarColumn(bar_width=24),
            *(columns or (bars.MofNCompleteColumn(table_column=UNBROKEN),)),
            bars.TimeElapsedColumn(UNBROKEN),
            console=self.console,
            transient=True,
            # output printed meanwhile appears above the bar, but only if both share a terminal
            redirect_stdout=sys.stdout.isatty(),
            disable=not (shown and self.console.is_terminal),
        )
        self._rows: dict[str, bars.TaskID] = {}
        self._cleanup = CleanupOnSignal(self._clear)

    def __enter__(self) -> Self:
        self._cleanup.__enter__()
        self._progress.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._progress.stop()
        self._cleanup.__exit__(kind, error, trace)

    def _clear(self) -> None:
        if not self._progress.disable:
            os.write(sys.stderr.fileno(), CURSOR_UP * (len(self._rows) - 1) + CLEAR_BELOW)

    def show(self, doing: str, done: int, total: int | None, row: str = "") -> None:
        """Show the progress of one activity, with a bar of its own for each `row`."""
        if row not in self._rows:
            self._rows[row] = self._progress.add_task(doing, total=None)
        self._progress.update(self._rows[row], description=doing, completed=done, total=total)

    def hide(self, row: str) -> None:
        """Remove an activity's bar, if it has one."""
        if row in self._rows:
            self._progress.remove_task(self._rows.pop(row))


class ProofProgress(ProgressBar):
    """Progress of a proof: a line for each table or each claim, and a bar for the current claim."""

    def __init__(
        self, say: Callable[[str], None] | None, *, every_claim: bool = False, quick: bool = False
    ) -> None:
        super().__init__()
        self._say = say or (lambda line: None)
        self._every_claim = every_claim
        self._quick = quick
        self._start_time = time.monotonic()

    def on_progress(self, text: str, done: int, total: int) -> None:
        """Show how much of the current claim is compared."""
        self.show(text[:40], done, total)

    def on_claim(self, claim: Mapping[str, Any]) -> None:
        """Print a claim that holds, if every one is wanted."""
        if self._every_claim:
            amount = _format_amount(claim)
            self._say(f"{claim['file']:<24}  {claim['claim']}  {amount}")

    def on_result(self, result: TableResult) -> None:
        """Print a table's line, and what is to be said of its verdicts."""
        from puzzle_tablebase.pipeline.proofs.verdicts import Verdict, group_boards

        if not self._every_claim:
            self._say(_format_result(result))
        for verdict, how, boards in group_boards(result.verdicts):
            names = ", ".join(boards) if len(boards) <= FEW_BOARDS else f"{len(boards):,} boards"
            text = ": ".join(filter(None, (str(verdict), names, how)))
            if self._every_claim:
                self._say(f"{result.table}: {text}")
            elif not self._quick and (boards or verdict is not Verdict.PROVED):
                self._say(f"  {text}")
        if result.trouble:
            self._say(f"  no verdict: {result.trouble}")

    def finish(self, verified: Verified) -> dict[str, object]:
        """Print the totals, and return the results as plain values."""
        from puzzle_tablebase.pipeline.proofs.verdicts import count_tables

        counts = count_tables(verified.verdicts)
        claims = verified.claims
        seconds = time.monotonic() - self._start_time
        words = [f"{count} {verdict}" for verdict, count in counts.items()]
        if verified.troubles:
            words.append(f"{len(verified.troubles)} without a verdict")
        tables = sum(counts.values()) + len(verified.troubles)
        line_totals = f"{_count(tables, 'table')}: {', '.join(words)}"
        end = "; only the files were compared with the manifest" if self._quick else ""
        time_text = _format_seconds(seconds)
        self._say(f"{line_totals}; {_count(len(claims), 'claim')}, {time_text}{end}")
        if verified.unpublished:
            names = ", ".join(verified.unpublished)
            self.console.print(f"note: not published, so not verified: {names}", markup=False)
        answer: dict[str, object] = {
            "tables": [
                {**asdict(verdict), "seconds": round(result.seconds, 3)}
                for result in verified.results
                for verdict in result.verdicts
            ],
            "totals": {
                "claims": len(claims),
                "tables": sum(counts.values()),
                "seconds": round(seconds, 3),
                "verdicts": counts,
            },
            "unpublished": verified.unpublished,
            "claims": claims,
        }
        unread = {each.table: str(each.trouble) for each in verified.results if each.trouble}
        return {**answer, "unverified": unread} if unread else answer


def _format_result(result: TableResult) -> str:
    """Return a table's line: its files, amount, claims, seconds and weakest verdict."""
    from puzzle_tablebase.pipeline.proofs.verdicts import find_weakest

    files = [*dict.fromkeys(claim["file"] for claim in result.claims)] or [result.table]
    own = [file for file in files if file != MANIFEST] or files
    name = ", ".join([own[0], *(Path(file).suffix for file in own[1:])])
    amount = _format_amount(result.claims[0]) if result.claims and result.verdicts else ""
    verdict = "".join(f"  {verdict}" for verdict in find_weakest(result.verdicts).values())
    times = f"{_count(len(result.claims), 'claim'):>9}  {_format_seconds(result.seconds):>6}"
    return f"{name:<30}  {amount:>18}  {times}{verdict}"


def _format_amount(claim: Mapping[str, Any]) -> str:
    """Return what a claim is about: so many rows, records or tables."""
    unit = next(unit for unit in ("rows", "records", "tables") if unit in claim)
    return f"{claim[unit]:,} {unit}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _format_seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


class BatchProgress(ProgressBar):
    """Progress of a batch. If its answers go to the same terminal, the bar is cleared meanwhile."""

    def __init__(self, *, output: str | None) -> None:
        super().__init__()
        self._shared = output in (None, STANDARD, "/dev/stdout") and sys.stdout.isatty()

    def on_rows(self, done: int) -> None:
        """Show how many rows are done."""
        self.show("rows", done, None)

    @contextmanager
    def printing(self) -> Iterator[None]:
        """Clear the bar while answers are printed, if they share its terminal."""
        if self._shared:
            self._progress.stop()
        yield
        if self._shared:
            self._progress.start()


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


class BuiltTable(NamedTuple):
    """A table that was built, why, and in how many seconds."""

    table: str
    reason: str
    seconds: float
    entry: Entry


class BuildProgress(ProgressBar):
    """Observer of a build that prints its lines and shows its bars, of several tables at a time.

    `line_interval`: see `LINE_INTERVAL`.
    """

    def __init__(self, *, quiet: bool, line_interval: float = LINE_INTERVAL) -> None:
        count = bars.MofNCompleteColumn(table_column=UNBROKEN)
        left = bars.TimeRemainingColumn(compact=True, table_column=UNBROKEN)
        super().__init__(count, left, shown=not quiet)
        self._line_interval = line_interval
        self._steps: dict[str, _Step] = {}
        self._notes = set[str]()
        self.planned: list[str] = []
        """The names of the tables that the build makes."""
        self._lock = RLock()
        self.built: dict[str, BuiltTable] = {}
        """The tables that were built, in the order in which they were finished."""
        self.up_to_date: list[str] = []

    def on_plan(self, tables: Sequence[Table]) -> None:
        """Begin the bar for all tables."""
        self.planned = [table.name for table in tables]
        if len(self.planned) > 1:
            self._show_whole()

    def on_table(self, table: Table, reason: str) -> None:
        """Print why a table is built, or that it is up to date."""
        if reason == UP_TO_DATE:
            self.up_to_date.append(table.name)
            return
        with self._lock:
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

    def on_end(self, built: BuiltTable) -> None:
        """Print how much a finished table has, and its seconds."""
        with self._lock:
            self._forget(built.table)
            self.built[built.table] = built
            *_, (unit, count) = built.entry.list_amounts().items()
            self._print(f"{built.table}: {count:,} {unit} in {built.seconds:.1f} s")
            if len(self.planned) > 1:
                self._show_whole()

    def on_failure(self, table: Table) -> None:
        """Hide the bar of a table whose build failed."""
        with self._lock:
            self._forget(table.name)

    def on_note(self, note: str) -> None:
        """Print a note, unless several tables have the same one."""
        with self._lock:
            if note not in self._notes:
                self._notes.add(note)
                self._print(f"note: {note}")

    def _forget(self, table: str) -> None:
        self.hide(table)
        self._steps.pop(table, None)

    def _show_whole(self) -> None:
        self.show("tables", len(self.built), len(self.planned))

    def _print_step(self, table: str, step: _Step) -> None:
        step.printed_at = time.monotonic()
        step.printed_doing = step.doing
        if not self.console.is_terminal:
            self._print(step.format_line(table))

    def _print(self, line: str) -> None:
        self.console.print(line, markup=False)


def _format_rate(rate: float) -> str:
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
