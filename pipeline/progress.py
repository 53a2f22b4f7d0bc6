"""How long work is told: a bar on a terminal, plain lines otherwise, nothing when quiet."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

from pipeline.interrupts import Undone
from pipeline.puzzle import Table
from pipeline.tables.manifest import Entry

if TYPE_CHECKING:
    from pipeline.verify import Claim

PLAIN_EVERY = 5.0
"""Seconds between two lines about the same table where there is no terminal."""
CLEARED = b"\r\x1b[2K\x1b[?25h"
"""What leaves a terminal as it was: no bar, and a cursor."""


class Bar:
    """A bar on standard error while the block lasts, if that is a terminal."""

    def __init__(self, *, shown: bool = True) -> None:
        self.console = Console(stderr=True, quiet=not shown, highlight=False, soft_wrap=True)
        self._progress = Progress(
            TextColumn("  {task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self.console,
            transient=True,
            # what is printed meanwhile goes above the bar, but only where both share a terminal
            redirect_stdout=sys.stdout.isatty(),
            disable=not (shown and self.console.is_terminal),
        )
        self._task = self._progress.add_task("", visible=False, total=None)
        self._undone = Undone(self._cleared)

    def __enter__(self) -> Self:
        self._undone.__enter__()
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()
        self._undone.__exit__(kind, error, trace)

    def _cleared(self) -> None:
        if not self._progress.disable:
            os.write(sys.stderr.fileno(), CLEARED)

    def show(self, doing: str, done: int, total: int | None) -> None:
        self._progress.update(
            self._task, description=doing, completed=done, total=total, visible=True
        )

    def hide(self) -> None:
        self._progress.update(self._task, visible=False)


class BuildTold(Bar):
    """A build's report."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(shown=not quiet)
        self._told = time.monotonic()
        self.seconds: dict[str, float] = {}

    def table(self, table: Table, reason: str) -> None:
        self.console.print(f"{table.name}: {reason}", markup=False)
        self._told = time.monotonic()

    def step(self, doing: str, done: int, total: int | None) -> None:
        self.show(doing, done, total)
        now = time.monotonic()
        if not self.console.is_terminal and now - self._told > PLAIN_EVERY:
            self._told = now
            of = f" of {total:,}" if total else ""
            self.console.print(f"  {doing} {done:,}{of}", markup=False)

    def built(self, table: Table, entry: Entry, seconds: float) -> None:
        self.hide()
        self.seconds[table.name] = seconds


class ProofTold(Bar):
    """A proof's report: a line a proved claim, and a bar for the one under proof."""

    def __init__(self, say: Callable[[str], None] | None) -> None:
        super().__init__()
        self._say = say

    def __call__(self, claim: Claim, done: int) -> None:
        self.show(f"{claim.file}: {claim.claim}"[:40], done, claim.rows)
        if claim.passed and self._say:
            self._say(f"{claim.file:<24}  {claim.claim}  {claim.rows:,} rows\n")


class BatchTold(Bar):
    """A batch's report. Answers that go to the terminal themselves need no bar."""

    def __init__(self, *, output: str | None) -> None:
        super().__init__(shown=output is not None or not sys.stdout.isatty())

    def rows(self, done: int) -> None:
        self.show("rows", done, None)


def table_of_tables(entries: dict[str, Entry], seconds: dict[str, float]) -> Grid:
    """Published tables with rows, bytes and the seconds that building took."""
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("table")
    for name in ("rows", "bytes", "index bytes", "seconds"):
        grid.add_column(name, justify="right")
    for name, entry in sorted(entries.items()):
        index = entry["index"]
        grid.add_row(
            name,
            f"{entry['rows']:,}",
            f"{entry['bytes']:,}",
            f"{index['bytes']:,}" if index else "",
            f"{seconds[name]:.2f}" if name in seconds else "up to date",
        )
    return grid
