"""How a build is told: a bar on a terminal, plain lines otherwise, nothing when quiet."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

from pipeline.puzzle import Table
from pipeline.tables.manifest import Entry

PLAIN_EVERY = 5.0
"""Seconds between two lines about the same table where there is no terminal."""


class Told:
    """A build's report on standard error; a context manager, for the bar."""

    def __init__(self, *, quiet: bool) -> None:
        self._console = Console(stderr=True, quiet=quiet, highlight=False, soft_wrap=True)
        self._bar = Progress(
            TextColumn("  {task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=quiet or not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", visible=False)
        self._told = time.monotonic()
        self.seconds: dict[str, float] = {}

    def __enter__(self) -> Told:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def table(self, table: Table, reason: str) -> None:
        self._console.print(f"{table.name}: {reason}", markup=False)
        self._told = time.monotonic()

    def step(self, doing: str, done: int, total: int | None) -> None:
        self._bar.update(self._task, description=doing, completed=done, total=total, visible=True)
        now = time.monotonic()
        if not self._console.is_terminal and now - self._told > PLAIN_EVERY:
            self._told = now
            of = f" of {total:,}" if total else ""
            self._console.print(f"  {doing} {done:,}{of}", markup=False)

    def built(self, table: Table, entry: Entry, seconds: float) -> None:
        self._bar.update(self._task, visible=False)
        self.seconds[table.name] = seconds


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


class RowsBar:
    """How far a batch has come, on a terminal's standard error."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.completed:,} rows"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> RowsBar:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def told(self, rows: int) -> None:
        self._bar.update(self._task, completed=rows)
