"""Progress of long work: bars on a terminal or in a notebook, otherwise plain lines."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import RLock
from typing import Self

from rich import progress as bars
from rich.console import Console
from rich.table import Column
from rich.text import Text

from puzzle_tablebase.errors import make_printable
from puzzle_tablebase.process import CleanupOnSignal

LINE_INTERVAL = 5.0
"""Seconds between two lines about the same activity where there is no terminal."""
UNBROKEN = Column(no_wrap=True)
"""A bar's column of numbers: a narrow terminal truncates the text and the bar instead."""
CURSOR_UP, CLEAR_BELOW = b"\x1b[1A", b"\r\x1b[J\x1b[?25h"
"""Control sequences that restore a terminal: move up to the first bar, clear the bars, and show the
cursor."""


class _ActivityColumn(bars.ProgressColumn):
    """Column with what is done, truncated where the terminal is too narrow for the line."""

    def render(self, task: bars.Task) -> Text:
        return Text(f"  {task.description}", no_wrap=True, overflow="ellipsis")


class Reporter:
    """The lines and bars of a command on standard error: `say` a line, `update` a bar.

    An activity with a name has a bar of its own; without a terminal, a line now and then.
    """

    def __init__(self, *, quiet: bool = False, in_bytes: bool = False) -> None:
        """`in_bytes`: what is counted are bytes, shown with their rate."""
        self._console = Console(
            stderr=True, quiet=quiet, highlight=False, emoji=False, soft_wrap=True
        )
        # a notebook draws bars with a package of its own
        self._has_bars = not quiet and (
            self._console.is_terminal
            or (self._console.is_jupyter and find_spec("ipywidgets") is not None)
        )
        self._bars = bars.Progress(
            _ActivityColumn(),
            bars.BarColumn(bar_width=24),
            *(
                (bars.DownloadColumn(table_column=UNBROKEN), bars.TransferSpeedColumn(UNBROKEN))
                if in_bytes
                else (bars.MofNCompleteColumn(table_column=UNBROKEN),)
            ),
            bars.TimeElapsedColumn(UNBROKEN),
            bars.TimeRemainingColumn(compact=True, table_column=UNBROKEN),
            console=self._console,
            transient=True,
            # output printed meanwhile appears above the bar, but only if both share a terminal
            redirect_stdout=sys.stdout.isatty(),
            disable=not self._has_bars,
        )
        self._tasks: dict[str, bars.TaskID] = {}
        self._times: dict[str, tuple[float, float]] = {}
        """When each activity began, and when its last line was printed."""
        self._lock = RLock()
        self._cleanup = CleanupOnSignal(self._clear)

    def __enter__(self) -> Self:
        self._cleanup.__enter__()
        self._bars.start()
        return self

    def __exit__(self, error_type: object, error: object, trace: object) -> None:
        self._bars.stop()
        self._cleanup.__exit__(error_type, error, trace)

    def say(self, line: str) -> None:
        """Print a line, above the bars."""
        with self._lock:  # a bar that another thread adds meanwhile would stay on the screen
            self._console.print(make_printable(line), markup=False)

    def update(self, doing: str, done: int = 0, total: int | None = None, *, of: str = "") -> None:
        """Show how much of an activity is done; `of`: its name."""
        text = f"{of}: {doing}" if of else doing
        with self._lock:
            if of not in self._tasks:
                self._tasks[of] = self._bars.add_task(text, total=None)
                self._times[of] = (time.monotonic(), time.monotonic())
            self._bars.update(self._tasks[of], description=text, completed=done, total=total)
            began, printed = self._times[of]
            now = time.monotonic()
            if of and not self._has_bars and now - printed > LINE_INTERVAL:
                self._times[of] = began, now
                share = f" of {total:,} ({done / total:.0%})" if total else ""
                self.say(f"  {text} {done:,}{share}, {now - began:.0f} s")

    def remove(self, of: str) -> None:
        """Remove an activity's bar, if it has one."""
        with self._lock:
            if of in self._tasks:
                self._bars.remove_task(self._tasks.pop(of))

    @contextmanager
    def printing(self) -> Iterator[None]:
        """Clear the bars while answers are printed to the same terminal."""
        if sys.stdout.isatty():
            self._bars.stop()
        yield
        if sys.stdout.isatty():
            self._bars.start()

    def _clear(self) -> None:
        if self._has_bars:
            os.write(sys.stderr.fileno(), CURSOR_UP * (len(self._tasks) - 1) + CLEAR_BELOW)
