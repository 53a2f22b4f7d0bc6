"""Which tables are out of date, and their way from maker to store to manifest."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Protocol

from pipeline.builders.registry import checkpoints, made
from pipeline.part_files import describe, entry_of, mendable, mended, rows_before
from pipeline.recovery import recover
from pipeline.tasks import Work
from tablebase.errors import SearchError, TableDamaged, TableVersionError
from tablebase.puzzle import Puzzle, Table
from tablebase.tables import MANIFEST
from tablebase.tables.checkpoints import kept_parts
from tablebase.tables.index_format import write_index
from tablebase.tables.manifest import (
    Entry,
    File,
    Index,
    amend,
    facts,
    facts_of_rows,
    holds_rows,
    parameters_of,
    read_manifest,
    replace_manifest,
    unlike,
)
from tablebase.tables.parquet import TableWriter, description
from tablebase.tables.repair import ABSENT, listed_names, unopened
from tablebase.tables.store import Store


class Report(Protocol):
    """Who is told how a build goes; several tables may be under way at once."""

    def table(self, table: Table, reason: str) -> None:
        """A table is looked at: why it is built, or that it is up to date."""

    def step(self, table: str, doing: str, done: int, total: int | None) -> None:
        """Work on a table has come so far; `total` where it is known."""

    def built(self, table: Table, entry: Entry, seconds: float) -> None:
        """A table is published."""

    def recovered(self, problem: str, tables: list[str], left_out: dict[str, str]) -> None:
        """Report what is wrong with the manifest, which tables were taken back, and why others
        were not."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to build, where and how."""

    store: Store
    tables: Sequence[tuple[Puzzle, tuple[Table, ...]]]
    force: bool = False
    jobs: int = 1
    without: frozenset[str] = frozenset()
    """Names of tables that are to be published no longer."""
    memory: int | None = None
    """Bytes that a search may use, if not all that is free."""


UP_TO_DATE = "up to date"
FORCED = "forced"


def build(request: Request, report: Report, executor: Executor | None = None) -> dict[str, Entry]:
    """Make what is missing or out of date; returns what is published afterwards.

    Where there is nothing to do, nothing is written: the store may be read-only. Parts of tables
    are made by the executor, if one is given; the tables by threads of this process.
    """
    if (idle := _nothing_to_do(request)) is not None:
        for _, tables in request.tables:
            for table in tables:
                report.table(table, UP_TO_DATE)
        return idle
    with request.store.lock():
        for left in _list_unfinished(request.store):
            request.store.remove(left)
        published = _read_or_recover(request, report)
        gone = [name for name in request.without if published.pop(name, None)]
        lines = _to_make(request, published, report)
        with ExitStack() as stack:
            for_parts, for_tables = (ThreadPoolExecutor(request.jobs) for _ in range(2))
            for pool in (for_parts, for_tables):
                stack.callback(pool.shutdown, cancel_futures=True)
            work = Work(
                executor or for_parts,
                request.jobs,
                elsewhere=executor is not None,
                memory=request.memory,
            )
            site = request.store, Lock(), report
            queues = [(line, work, *site) for line in lines]
            here = replace(work, executor=for_tables, elsewhere=False)
            for entries in here.each(_make_line, queues):
                published |= entries
        if gone:
            amend(request.store, without=gone)
        for name in request.without:
            _clear(request.store, name, None)
    return published


def _list_unfinished(store: Store) -> list[str]:
    """List what is left of files whose writer was killed; TableUnreadable where none can be."""
    try:
        return store.unfinished()
    except OSError as error:
        raise unopened(str(store), error, "") from error


def _read_or_recover(request: Request, report: Report) -> dict[str, Entry]:
    """Read what is published; where the manifest is damaged or lost, take back what is whole.

    A manifest of a newer version is replaced only by force: a newer program reads it.
    """
    store = request.store
    try:
        published = read_manifest(store)
        if published or MANIFEST in listed_names(store, MANIFEST):
            return published
        problem = f"{store.full(MANIFEST)} is missing."
    except TableDamaged as error:
        problem = f"{error.file} is damaged: {error.problem}."
    except TableVersionError as error:
        if error.found > error.wanted and not request.force:
            raise
        problem = f"{error.file} has format version {error.found}, not {error.wanted}."
    recovery = recover(store)
    if recovery.tables or recovery.left_out:
        report.recovered(problem, sorted(recovery.tables), recovery.left_out)
    if recovery.tables or MANIFEST in listed_names(store, MANIFEST):
        replace_manifest(store, recovery.tables, recovery.pages)
    return dict(recovery.tables)


Line = list[tuple[Puzzle, Table, str, Entry | None]]
"""Tables of one search of one puzzle, which share what is made for it: they queue."""


def _to_make(request: Request, published: dict[str, Entry], report: Report) -> Iterable[Line]:
    """The tables that are out of date: each with its puzzle, the reason, and what is published."""
    lines: dict[tuple[str, str], Line] = {}
    for puzzle, table, reason in _looked_at(request, published):
        if reason == FORCED:
            for part in kept_parts(request.store, table.name):
                request.store.remove(part)
        elif reason != UP_TO_DATE:
            checkpoints(request.store, table).clear_others()
        if reason == UP_TO_DATE:
            report.table(table, reason)
            _clear(request.store, table.name, published[table.name])
        else:
            queue = lines.setdefault((puzzle.name, table.recipe.search), [])
            queue.append((puzzle, table, reason, published.get(table.name)))
    return lines.values()


def _make_line(
    line: Line, work: Work, store: Store, listing: Lock, report: Report
) -> dict[str, Entry]:
    """Make and publish these tables."""
    entries, work = {}, replace(work, shared={})
    for puzzle, table, reason, published in line:
        work.require_going()
        report.table(table, reason)
        started = time.perf_counter()
        own = replace(work, tell=partial(report.step, table.name), kept=checkpoints(store, table))
        if reason != FORCED:
            own = replace(own, before=partial(rows_before, store, table, published))
        if reason != FORCED and published and mendable(table, published):
            entry = mended(store, table, published, own)
        else:
            entry = _written(store, puzzle, table, own)
        entries[table.name] = entry
        with listing:
            amend(store, {table.name: entry})
        _clear(store, table.name, entry)
        report.built(table, entry, time.perf_counter() - started)
    return entries


def unlisted(store: Store, name: str, entry: Entry | None) -> list[str]:
    """A table's files that the manifest does not list, and what is kept of an unfinished build."""
    listed = [file.file for file in entry.every_file] if entry else []
    own = (f for f in listed_names(store, f"{name}.") if holds_rows(f, name) or f == f"{name}.idx")
    return [*(file for file in own if file not in listed), *kept_parts(store, name)]


def _clear(store: Store, name: str, entry: Entry | None) -> None:
    for file in unlisted(store, name, entry):
        store.remove(file)


def _nothing_to_do(request: Request) -> dict[str, Entry] | None:
    """What is published, if that is all that is asked for and no killed build left anything."""
    if request.force or request.without or _list_unfinished(request.store):
        return None
    try:
        published = read_manifest(request.store)
    except (TableDamaged, TableVersionError):
        return None
    for _, table, reason in _looked_at(request, published):
        if reason != UP_TO_DATE or unlisted(request.store, table.name, published[table.name]):
            return None
    return published


def _looked_at(
    request: Request, published: dict[str, Entry]
) -> Iterator[tuple[Puzzle, Table, str]]:
    beside = parameters_of(published)
    for puzzle, tables in request.tables:
        for asked in tables:
            table = puzzle.grown(asked, beside)
            beside.setdefault(table.name, {})
            yield puzzle, table, why(request.store, published.get(table.name), table, request.force)


def why(store: Store, entry: Entry | None, table: Table, force: bool) -> str:
    """Why a table is built, or `UP_TO_DATE`."""
    if force:
        return FORCED
    if entry is None:
        return "missing"
    if entry.parameters != table.recipe.parameters():
        return "parameters changed"
    if entry.description != description(table):
        return "description changed"
    for file in entry.every_file:
        try:
            if unlike(store, file):
                return f"{file.file} damaged"
        except ABSENT:
            return f"{file.file} missing"
        except OSError:
            return f"{file.file} cannot be read"
    return UP_TO_DATE


def _written(store: Store, puzzle: Puzzle, table: Table, work: Work) -> Entry:
    """Write a table and its index; returns what the manifest says of them."""
    if table.recipe.in_files:
        return entry_of(store, table, work)
    rows, records, count = made(puzzle, table, work)
    listed = [table.file] if table.columns else []
    indexed = [table.index_file] if table.index else []
    with (
        store.appearing(*listed, *indexed) as files,
        closing(rows),
        closing(records),
    ):
        with TableWriter(files[0] if listed else None, table) as writer:
            for columns in rows:
                writer.write(columns)
        if table.rows not in (None, writer.rows):
            raise SearchError(f"{table.name} has {writer.rows:,} rows, expected {table.rows:,}.")
        work.require_going()
        for index in files[len(listed) :]:
            write_index(index, table, count, records, writer.content)
    whole = [File(file, writer.rows, 0, **facts_of_rows(store, file)) for file in listed]
    found = Index(table.index_file, count, **facts(store, table.index_file)) if indexed else None
    return describe(table, whole, writer.rows, writer.content, found)
