"""How long work is told: a bar on a terminal, plain lines otherwise, nothing when quiet."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rich import progress as bars
from rich.console import Console

from tablebase.interrupts import Undone
from tablebase.output import STANDARD
from tablebase.puzzle import Table
from tablebase.tables.manifest import Entry

if TYPE_CHECKING:
    from pipeline.verify import Claim

PLAIN_EVERY = 5.0
"""Seconds between two lines about the same table where there is no terminal."""
UP, CLEARED = b"\x1b[1A", b"\r\x1b[J\x1b[?25h"
"""What leaves a terminal as it was: up to the first row of bars, no bars, and a cursor."""


class Bar:
    """A bar on standard error while the block lasts, if that is a terminal."""

    def __init__(self, *, shown: bool = True) -> None:
        self.console = Console(stderr=True, quiet=not shown, highlight=False, soft_wrap=True)
        self._progress = bars.Progress(
            bars.TextColumn("  {task.description}", markup=False),
            bars.BarColumn(bar_width=24),
            bars.MofNCompleteColumn(),
            bars.TimeElapsedColumn(),
            console=self.console,
            transient=True,
            # what is printed meanwhile goes above the bar, but only where both share a terminal
            redirect_stdout=sys.stdout.isatty(),
            disable=not (shown and self.console.is_terminal),
        )
        self._rows: dict[str, bars.TaskID] = {}
        self._undone = Undone(self._cleared)

    def __enter__(self) -> Self:
        self._undone.__enter__()
        self._progress.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._progress.stop()
        self._undone.__exit__(kind, error, trace)

    def _cleared(self) -> None:
        if not self._progress.disable:
            os.write(sys.stderr.fileno(), UP * (len(self._rows) - 1) + CLEARED)

    def show(self, doing: str, done: int, total: int | None, row: str = "") -> None:
        """What is under way, in a row of its own for each thing that is."""
        if row not in self._rows:
            self._rows[row] = self._progress.add_task(doing, total=None)
        self._progress.update(self._rows[row], description=doing, completed=done, total=total)

    def hide(self, row: str) -> None:
        if row in self._rows:
            self._progress.remove_task(self._rows.pop(row))


class BuildTold(Bar):
    """A build's report."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(shown=not quiet)
        self._told: dict[str, float] = {}
        """When a line was told last of each table under way."""
        self._counting: set[str] = set()
        self.seconds: dict[str, float] = {}

    def table(self, table: Table, reason: str) -> None:
        from pipeline.build import UP_TO_DATE  # no batch and no proof is to load all that

        if reason == UP_TO_DATE:
            self.console.print(f"{table.name}: {reason}", markup=False)
            return
        self.console.print(f"building {table.name} ({reason})", markup=False)
        self._told[table.name] = time.monotonic()

    def step(self, table: str, doing: str, done: int, total: int | None) -> None:
        said = f"{table}: {doing}" if len(self._told) > 1 else doing
        self.show(said, done, total, table)
        now = time.monotonic()
        # a count that was told is told to its end
        due = now - self._told[table] > PLAIN_EVERY or (table in self._counting and done == total)
        if not self.console.is_terminal and due:
            self._told[table] = now
            self._counting.add(table)
            of = f" of {total:,}" if total else ""
            self.console.print(f"  {said} {done:,}{of}", markup=False)

    def built(self, table: Table, entry: Entry, seconds: float) -> None:
        self.hide(table.name)
        del self._told[table.name]
        self.seconds[table.name] = seconds
        told = f"{table.name}: {entry.rows:,} rows in {seconds:.1f} s"
        self.console.print(told, markup=False)


@dataclass(slots=True)
class Proved:
    """What was claimed of a table, or of a page or the manifest, and held."""

    files: list[str] = field(default_factory=list)
    rows: int = 0
    claims: int = 0
    seconds: float = 0.0
    told: bool = False
    whole: bool = False
    """Whether its rows are proved from the rules."""

    @property
    def is_table(self) -> bool:
        return self.files[0].endswith(".parquet")

    def line(self) -> str:
        name = ", ".join([self.files[0], *(Path(file).suffix for file in self.files[1:])])
        rows = f"{self.rows:,} rows" if self.is_table else ""
        claims = f"{self.claims} claim{'s' * (self.claims != 1)}"
        return f"{name:<30}  {rows:>14}  {claims:>9}  {_seconds(self.seconds):>6}\n"


class ProofTold(Bar):
    """A proof's report: a line a table, or a claim; a bar for the claim under proof."""

    def __init__(self, say: Callable[[str], None] | None, *, every_claim: bool = False) -> None:
        super().__init__()
        self._say = say or (lambda line: None)
        self._every_claim = every_claim
        self._begun = self._told = time.monotonic()
        self._proved: dict[str, Proved] = {}

    def __call__(self, claim: Claim, done: int) -> None:
        self.show(f"{claim.file}: {claim.claim}"[:40], done, claim.rows)
        of = self._proved.setdefault(claim.table, Proved())
        now = time.monotonic()
        of.seconds += now - self._told
        self._told = now
        if not claim.passed:
            return
        if claim.file not in of.files:
            of.files.append(claim.file)
        of.rows = of.rows or claim.rows
        of.claims += 1
        if self._every_claim:
            self._say(f"{claim.file:<24}  {claim.claim}  {claim.rows:,} rows\n")

    def proved(self, table: str) -> None:
        """A table's rows are proved, and so is all that was listed before it."""
        self._proved[table].whole = True
        for name, of in self._proved.items():
            self._tell(of)
            if name == table:
                return

    def _tell(self, of: Proved) -> None:
        if not (of.told or self._every_claim):
            self._say(of.line())
        of.told = True

    def end(self, *, quick: bool, pieces: Mapping[str, str]) -> dict[str, object]:
        """Tell what is left, and the verdict; returns it as plain values. Of tables that are not
        published there may be some pieces."""
        for of in self._proved.values():
            self._tell(of)
        tables = [of for of in self._proved.values() if of.is_table]
        unproved = [of.files[0] for of in tables if not of.whole]
        claims = sum(of.claims for of in self._proved.values())
        seconds = time.monotonic() - self._begun
        begin, end = "proved", ""
        if quick:
            begin = "the files match the manifest"
            end = "; nothing was proved from the rules"
        elif unproved:
            end = f"; not proved: the rows of {', '.join(unproved)}: no rules for them here"
        partial = {name: some for name, some in pieces.items() if name not in self._proved}
        for name, some in partial.items():
            end += f"; {name} is not whole, and not proved: {some} are there"
        said = f"{claims} claims, {len(tables)} tables, {_seconds(seconds)}"
        self._say(f"{begin}: {said}{end}\n")
        return {
            "proved": not unproved,
            "as_listed": True,
            "unproved": unproved,
            "partial": partial,
            "totals": {"claims": claims, "tables": len(tables), "seconds": round(seconds, 3)},
        }


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


class BatchTold(Bar):
    """A batch's report. Where its answers go to the same terminal, there is no bar between them."""

    def __init__(self, *, output: str | None) -> None:
        super().__init__()
        standard = output in (None, STANDARD)
        self._shared = sys.stdout.isatty() if standard else Path(str(output)).is_char_device()

    def rows(self, done: int) -> None:
        self.show("rows", done, None)

    @contextmanager
    def printing(self) -> Iterator[None]:
        """Clear the bar while answers are printed, if they share its terminal."""
        if self._shared:
            self._progress.stop()
        yield
        if self._shared:
            self._progress.start()
