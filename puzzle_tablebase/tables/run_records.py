"""Run records: what each build did, in a JSON file of its own in `.runs` beside the tables.

They are outside the manifest, and differ from run to run. A record is written when a build begins
its first table, after each table, and at the end. A process that was killed leaves its record as it
was last written, and no lock on the file that shows that it runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any

import msgspec

from puzzle_tablebase.errors import BadRequest, quote
from puzzle_tablebase.tables.access import list_files
from puzzle_tablebase.tables.store import TEMPORARY_END, Store

RUNS = ".runs"
"""The folder of the records, beside the tables."""
SUFFIX = ".json"
MARK_SUFFIX = ".running"
"""Suffix of the file that a running process locks."""
NAME = r"[0-9]{8}T[0-9]{9}Z-[0-9a-f]{4}"
"""The pattern of a record's name."""
OWN_HIDDEN = re.compile(rf"\.{NAME}({re.escape(MARK_SUFFIX)}|{re.escape(SUFFIX)}{TEMPORARY_END})")
"""The names of the other files that runs make: those that they lock, and temporary ones."""
MAX_RECORDS = 50
RECORD_VERSION = 1
MAX_RECORD_BYTES = 1 << 20
MAX_TEXT = 2_000
"""Most characters of each text of a record."""
MAX_TABLES = 1_000
"""Most tables of a record: one with more was not written by this program."""

RUNNING, COMPLETED, FAILED = "running", "completed", "failed"
WHOLE_BUILDS = {"missing", "forced"}
"""The reasons of builds that use no rows of an older table."""
KILLED = "killed"
"""The outcome of a run whose process is gone and did not say how it ended."""
UNKNOWN = "running or killed"
"""That of a run that did not say how it ended, where no lock shows whether its process is gone."""

Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=1e12)]


class TableRun(msgspec.Struct, frozen=True, kw_only=True):
    """One table of a run; None where a figure is not known.

    `records` and `states`: those of an index alone, which has no rows.
    `processor_seconds`: of the thread that built the table, and of the threads and workers that ran
    its tasks. `process_peak_memory`: the most bytes that the process had in memory by the time when
    the table was finished, other tables included. `tasks_resumed`: of the finished tasks, those
    whose results came from checkpoints.
    """

    table: Text
    reason: Text
    outcome: Text
    parameters: dict[str, Any]
    seconds: Amount | None = None
    processor_seconds: Amount | None = None
    rows: Count | None = None
    records: Count | None = None
    states: Count | None = None
    rows_per_second: Amount | None = None
    bytes: Count | None = None
    process_peak_memory: Count | None = None
    tasks_done: Count = 0
    tasks_resumed: Count = 0
    tasks_failed: Count = 0

    def list_amounts(self) -> dict[str, int]:
        """List how much the table has, as `Entry.list_amounts` does, as far as it is known."""
        amounts = {"rows": self.rows, "records": self.records, "states": self.states}
        return {unit: count for unit, count in amounts.items() if count is not None}


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the program: its command, versions, machine, tables, and how it ended.

    `outcome`: of a record that was read, as it is now.
    """

    name: Text
    record_version: int
    command: list[Text]
    versions: dict[Text, Text]
    machine: dict[Text, Text | Count]
    started: Text
    ended: Text | None = None
    seconds: Amount
    outcome: Text
    problem: Text = ""
    exit_code: int | None = None
    tables: Annotated[list[TableRun], msgspec.Meta(max_length=MAX_TABLES)] = []

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


def list_run_names(store: Store) -> list[str]:
    """List the names of the records, the newest first; raise TableUnreadable if that fails."""
    pattern = re.compile(f"({NAME}){re.escape(SUFFIX)}")
    matches = map(pattern.fullmatch, list_files(store.open_subfolder(RUNS)))
    return sorted((match[1] for match in matches if match), reverse=True)


def list_runs(store: Store) -> Iterator[RunRecord]:
    """Yield the runs, the newest first, without records that cannot be read."""
    for name in list_run_names(store):
        with suppress(OSError, ValueError, RecursionError):
            yield _read(store, name)


def read_run(store: Store, name: str) -> RunRecord:
    """Return a run by its name, or by the beginning of it; `last`: the newest one.

    Raise BadRequest if there is none.
    """
    if name == "last":
        run = next(list_runs(store), None)
        if run is None:
            raise BadRequest(f"{store} has no run record", "pipeline precompute writes one")
        return run
    matches = [known for known in list_run_names(store) if known.startswith(name) and name]
    if len(matches) != 1:
        problem = f"{len(matches) or 'No'} run records have names that begin with {quote(name)}"
        raise BadRequest(problem, "List the names with: pipeline runs")
    try:
        return _read(store, matches[0])
    except (OSError, ValueError, RecursionError) as error:
        problem = f"The run record {matches[0]} cannot be read"
        raise BadRequest(problem, "List the others with: pipeline runs") from error


def find_table_run(store: Store, table: str, parameters: Mapping[str, Any]) -> TableRun | None:
    """Find the newest run that built a whole table with these parameters, without checkpoints."""
    for run in list_runs(store):
        for table_run in run.tables:
            if (
                table_run.table == table
                and table_run.outcome == COMPLETED
                and table_run.parameters == parameters
                and table_run.reason in WHOLE_BUILDS
                and not table_run.tasks_resumed
            ):
                return table_run
    return None


def encode(record: RunRecord) -> bytes:
    """Encode a record as indented JSON."""
    return f"{json.dumps(record.to_dict(), indent=1)}\n".encode()


def _read(store: Store, name: str) -> RunRecord:
    """Read a record; raise ValueError if it is damaged or of another version."""
    folder = store.open_subfolder(RUNS)
    if folder.get_size(f"{name}{SUFFIX}") > MAX_RECORD_BYTES:
        raise ValueError(name)
    record = msgspec.json.decode(folder.read(f"{name}{SUFFIX}"), type=RunRecord)
    if record.record_version != RECORD_VERSION or record.name != name:
        raise ValueError(name)
    outcome = record.outcome
    if outcome == RUNNING and not folder.has_locks:
        outcome = UNKNOWN
    elif outcome == RUNNING:
        mark = f".{name}{MARK_SUFFIX}"
        is_running = mark in folder.list_names(mark) and folder.is_being_written(mark)
        outcome = RUNNING if is_running else KILLED
    return msgspec.structs.replace(record, outcome=outcome)
