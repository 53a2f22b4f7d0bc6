"""The log of builds: a JSON line for each table, appended to `.runs.jsonl` when its build ends.

The manifest does not list it, and nothing else depends on it. Object stores have no append, so they
have no log.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from msgspec import DecodeError, Struct, json

from puzzle_tablebase.process import explain_os_error
from puzzle_tablebase.resources import measure_peak_memory
from puzzle_tablebase.stores.access import make_open_error
from puzzle_tablebase.stores.folder import Store

RUNS = ".runs.jsonl"
SHOWN_RUNS = 20
"""The number of lines that `pipeline runs` shows."""
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
    store: Store,
    table: str,
    reason: str,
    seconds: float,
    outcome: str,
    say: Callable[[str], None],
) -> Run:
    """Append to the log what a table's build took; a log that cannot be written is only a note."""
    when = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    run = Run(when, table, reason, round(seconds, 3), measure_peak_memory(), outcome)
    try:
        store.append(RUNS, json.encode(run) + b"\n")
    except OSError as error:
        say(f"note: {store.locate(RUNS)} was not written: {explain_os_error(error)}")
    return run


def read_last_runs(store: Store) -> list[Run]:
    """Read the last builds, the newest last, without lines that cannot be read."""
    runs = list[Run]()
    try:
        lines = store.read(RUNS).splitlines()
    except FileNotFoundError:
        return runs
    except OSError as error:
        raise make_open_error(store.locate(RUNS), error, "") from error
    for line in lines:
        with suppress(DecodeError, UnicodeDecodeError, RecursionError):
            runs.append(json.decode(line, type=Run))
    return runs[-SHOWN_RUNS:]
