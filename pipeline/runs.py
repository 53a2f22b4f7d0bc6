"""The writer of run records: what a build did, written while it goes on."""

from __future__ import annotations

import os
import platform
import secrets
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from threading import RLock
from typing import Self

from msgspec.structs import replace

from puzzle_tablebase import __version__
from puzzle_tablebase.errors import StoreError, TablebaseError
from puzzle_tablebase.resources import count_cores
from puzzle_tablebase.tables.run_records import (
    COMPLETED,
    FAILED,
    MARK_SUFFIX,
    MAX_RECORDS,
    MAX_TEXT,
    OWN_HIDDEN,
    RECORD_VERSION,
    RUNNING,
    RUNS,
    SUFFIX,
    RunRecord,
    TableRun,
    encode,
    list_run_names,
)
from puzzle_tablebase.tables.store import Store

LIBRARIES = ("numba", "numpy", "polars", "pyarrow")
"""The libraries whose versions a record has."""


class RunRecorder:
    """A writer of the record of a run, which gets each of its tables when that begins and ends.

    No record is written for a run that builds nothing, since the store may be read-only. A record
    that cannot be written does not end the build.
    """

    def __init__(self, store: Store, command: Sequence[str]) -> None:
        self._store = store
        self._folder = store.open_subfolder(RUNS)
        self._started_at = time.monotonic()
        self._lock = RLock()
        self.problem = ""
        """Why the record could not be written."""
        started = datetime.now(UTC)
        moment = f"{started:%Y%m%dT%H%M%S}{started.microsecond // 1000:03}Z"
        name = f"{moment}-{secrets.token_hex(2)}"
        self._stack = ExitStack()
        self._tables = dict[str, TableRun]()
        self._is_begun = self._is_usable = False
        self._record = RunRecord(
            name=name,
            record_version=RECORD_VERSION,
            command=[_make_text(word) for word in command],
            versions=_list_versions(),
            machine=_describe_machine(),
            started=_format_time(started),
            seconds=0.0,
            outcome=RUNNING,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        if error is None:
            self._finish(COMPLETED, "", 0)
        elif isinstance(error, Exception):
            code = error.exit_code if isinstance(error, TablebaseError) else 3
            self._finish(FAILED, str(error), code)
        self._stack.close()

    def record(self, table_run: TableRun) -> None:
        """Change a table's part of the record and write it; the first time, begin the record."""
        with self._lock:
            self._tables[table_run.table] = table_run
            if not self._is_begun:
                self._is_begun = True
                self._begin()
            self._write()

    def _begin(self) -> None:
        """Make the records' folder, mark this run as running, and remove the oldest records."""
        try:
            self._folder.make_ready()
            self._stack.enter_context(self._folder.hold_mark(f".{self._record.name}{MARK_SUFFIX}"))
            self._is_usable = True
            with suppress(StoreError):  # a record that stays is no problem of this one
                for name in list_run_names(self._store)[MAX_RECORDS - 1 :]:
                    self._folder.remove(f"{name}{SUFFIX}")
                for name in self._folder.list_names("."):
                    if OWN_HIDDEN.fullmatch(name) and not self._folder.is_being_written(name):
                        self._folder.remove(name)
        except (OSError, TablebaseError) as error:
            self.problem = str(error)

    def _write(self) -> None:
        if not self._is_usable:
            return
        seconds = round(time.monotonic() - self._started_at, 3)
        self._record = replace(self._record, seconds=seconds, tables=[*self._tables.values()])
        name = f"{self._record.name}{SUFFIX}"
        try:
            with self._folder.write_atomically(name, durable=False) as (file,):
                file.write(encode(self._record))
        except (OSError, StoreError) as error:
            self.problem = str(error)

    def _finish(self, outcome: str, problem: str, exit_code: int) -> None:
        """Record how the run ended; tables that are not finished ended with it."""
        if not self._is_usable:
            return
        with self._lock:
            for name, table_run in self._tables.items():
                if table_run.outcome == RUNNING:
                    self._tables[name] = replace(table_run, outcome=outcome)
            self._record = replace(
                self._record,
                ended=_format_time(datetime.now(UTC)),
                outcome=outcome,
                problem=_make_text(problem),
                exit_code=exit_code,
            )
            self._write()


def _make_text(text: str) -> str:
    """Return a text as a record holds it: bytes of an argument that are not UTF-8 are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()[:MAX_TEXT]


def _format_time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _list_versions() -> dict[str, str]:
    versions = {"puzzle-tablebase": __version__, "python": platform.python_version()}
    for library in LIBRARIES:
        with suppress(PackageNotFoundError):
            versions[library] = version(library)
    return versions


def _describe_machine() -> dict[str, str | int]:
    """Describe the machine, without its name."""
    machine: dict[str, str | int] = {
        "system": sys.platform,
        "processor": platform.machine(),
        "cores": count_cores(),
    }
    with suppress(AttributeError, OSError, ValueError):
        machine["memory_bytes"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return machine
