"""Progress of long work: a bar on a terminal, plain lines otherwise, nothing when quiet."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rich import progress as bars
from rich.console import Console
from rich.table import Column
from rich.text import Text

from pipeline.terminal import clear_line, shown
from tablebase.output import STANDARD
from tablebase.signals import CleanupOnSignal
from tablebase.stdio import expand_path

if TYPE_CHECKING:
    from pipeline.verify import Claim, Verdict, Verified

FEW_BOARDS = 6
"""Maximum number of boards that a line names; for more it has their number."""
UNBROKEN = Column(no_wrap=True)
"""A bar's column of numbers: a narrow terminal cuts the text and the bar instead."""
CURSOR_UP, CLEAR_BELOW = b"\x1b[1A", b"\r\x1b[J\x1b[?25h"
"""Control sequences that restore a terminal: move up to the first bar, clear the bars, and show the
cursor."""


class _ActivityColumn(bars.ProgressColumn):
    """Column with what is done, cut where the terminal is too narrow for the line."""

    def render(self, task: bars.Task) -> Text:
        return Text(f"  {task.description}", no_wrap=True, overflow="ellipsis")


class ProgressBar:
    """A progress bar on standard error while the block lasts, if that is a terminal."""

    def __init__(self, *columns: bars.ProgressColumn, shown: bool = True) -> None:
        self.console = Console(stderr=True, quiet=not shown, highlight=False, soft_wrap=True)
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
        clear_line()
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
        shown.add("progress")
        if row not in self._rows:
            self._rows[row] = self._progress.add_task(doing, total=None)
        self._progress.update(self._rows[row], description=doing, completed=done, total=total)

    def hide(self, row: str) -> None:
        """Remove an activity's bar, if it has one."""
        if row in self._rows:
            self._progress.remove_task(self._rows.pop(row))


@dataclass(slots=True)
class ProvedTable:
    """The proved claims about a table, or about a page or the manifest, for its line."""

    files: list[str] = field(default_factory=list)
    rows: int = 0
    claims: int = 0
    seconds: float = 0.0
    is_printed: bool = False
    verdicts: Sequence[Verdict] = ()
    """The verdicts on a table or its boards; pages and the manifest have none."""

    def format_line(self) -> str:
        """Return the line with files, rows, claims, seconds and the weakest verdict."""
        from pipeline.verify.claims import find_weakest

        name = ", ".join([self.files[0], *(Path(file).suffix for file in self.files[1:])])
        rows = f"{self.rows:,} rows" if self.verdicts else ""
        verdict = "".join(f"  {grade}" for grade in find_weakest(self.verdicts).values())
        times = f"{_count(self.claims, 'claim'):>9}  {_format_seconds(self.seconds):>6}"
        return f"{name:<30}  {rows:>14}  {times}{verdict}"

    def details(self) -> Iterator[tuple[bool, str]]:
        """Iterate over the verdicts with their boards and method, each after whether it must be
        printed."""
        from pipeline.verify.claims import Grade, group_boards

        for grade, how, boards in group_boards(self.verdicts):
            names = ", ".join(boards) if len(boards) <= FEW_BOARDS else f"{len(boards):,} boards"
            text = ": ".join(filter(None, (str(grade), names, how)))
            yield bool(boards) or grade is not Grade.PROVED, text


class ProofProgress(ProgressBar):
    """Progress of a proof: a line for each table or each claim, and a bar for the current claim."""

    def __init__(
        self, say: Callable[[str], None] | None, *, every_claim: bool = False, quick: bool = False
    ) -> None:
        super().__init__()
        self._say = say or (lambda line: None)
        self._every_claim = every_claim
        self._quick = quick
        self._start_time = self._last_claim = time.monotonic()
        self._proved: dict[str, ProvedTable] = {}

    def __call__(self, claim: Claim, done: int) -> None:
        self.show(f"{claim.file}: {claim.claim}"[:40], done, claim.rows)
        proved = self._proved.setdefault(claim.table, ProvedTable())
        now = time.monotonic()
        proved.seconds += now - self._last_claim
        self._last_claim = now
        if not claim.passed:
            return
        if claim.file not in proved.files:
            proved.files.append(claim.file)
        proved.rows = proved.rows or claim.rows
        proved.claims += 1
        if self._every_claim:
            self._say(f"{claim.file:<24}  {claim.claim}  {claim.rows:,} rows")

    def on_verdicts(self, verdicts: Sequence[Verdict]) -> None:
        """Print a table's line, and those of all tables and pages before it."""
        table = verdicts[0].table
        self._proved[table].verdicts = verdicts
        for name, proved_table in self._proved.items():
            self._print_line(name, proved_table)
            if name == table:
                return

    def _print_line(self, name: str, proved_table: ProvedTable) -> None:
        if proved_table.is_printed:
            return
        proved_table.is_printed = True
        if not self._every_claim:
            self._say(proved_table.format_line())
        for needed, text in proved_table.details():
            if self._every_claim:
                self._say(f"{name}: {text}")
            elif needed and not self._quick:
                self._say(f"  {text}")

    def finish(self, verified: Verified) -> dict[str, object]:
        """Print the remaining lines and the totals, and return the results as plain values."""
        from pipeline.verify.claims import count_tables

        for name, proved_table in self._proved.items():
            self._print_line(name, proved_table)
        counts = count_tables(verified.verdicts)
        tables, claims = sum(counts.values()), len(verified.claims)
        seconds = time.monotonic() - self._start_time
        by_verdict = ", ".join(f"{count} {grade}" for grade, count in counts.items())
        line_totals = f"{_count(tables, 'table')}: {by_verdict}; {_count(claims, 'claim')}"
        end = "; only the files were compared with the manifest" if self._quick else ""
        self._say(f"{line_totals}, {_format_seconds(seconds)}{end}")
        if verified.unpublished:
            names = ", ".join(verified.unpublished)
            self.console.print(f"note: not published, so not verified: {names}", markup=False)
        totals = {"claims": claims, "tables": tables, "seconds": round(seconds, 3)}
        return {
            "tables": [asdict(verdict) for verdict in verified.verdicts],
            "totals": {**totals, "verdicts": counts},
            "unpublished": verified.unpublished,
            "claims": [asdict(claim) for claim in verified.claims],
        }


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _format_seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def _is_device(output: str) -> bool:
    """Return whether an output is a device, which may be the terminal that shows the bar."""
    try:
        return Path(expand_path(output)).is_char_device()
    except (OSError, ValueError):  # opening it for writing fails too, and reports the error
        return False


class BatchProgress(ProgressBar):
    """Progress of a batch. If its answers go to the same terminal, the bar is cleared meanwhile."""

    def __init__(self, *, output: str | None) -> None:
        super().__init__()
        self._shared = (
            sys.stdout.isatty() if output in (None, STANDARD) else _is_device(str(output))
        )

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
