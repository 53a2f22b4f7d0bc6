"""The log of builds: a JSON line for each table, when its build ends.

The manifest does not list it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from msgspec import Struct, json

from puzzle_tablebase.process import explain_os_error
from puzzle_tablebase.resources import measure_peak_memory
from puzzle_tablebase.stores import Folder

RUNS = ".runs.jsonl"
COMPLETED, FAILED = "completed", "failed"


class Run(Struct, frozen=True):
    """A line of the log: one build of one table.

    `when`: its end, in UTC; `peak_memory`: the most bytes that the process had in memory by then,
    other tables included, if the system says.
    """

    when: str
    table: str
    reason: str
    seconds: float
    peak_memory: int | None
    outcome: str


def log_run(
    store: Folder,
    table: str,
    reason: str,
    seconds: float,
    outcome: str,
    say: Callable[[str], None],
) -> Run:
    """Append a table's build to the log; if that fails, only note it."""
    when = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    run = Run(when, table, reason, round(seconds, 3), measure_peak_memory(), outcome)
    try:
        store.append(RUNS, json.encode(run) + b"\n")
    except OSError as error:
        say(f"note: {store.locate(RUNS)} was not written: {explain_os_error(error)}")
    return run
