"""Builds: find the tables that are missing or out of date, build them, and publish them."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cache, partial
from operator import call
from threading import Lock

from puzzle_tablebase.errors import SearchError, TableDamaged, TableVersionError
from puzzle_tablebase.pipeline.builders import build_table_data, checkpoints
from puzzle_tablebase.pipeline.plan import FORCED, Request, list_reasons, read_published
from puzzle_tablebase.pipeline.progress import UP_TO_DATE, BuildProgress, BuiltTable
from puzzle_tablebase.pipeline.recovery import make_entry
from puzzle_tablebase.pipeline.runs import COMPLETED, FAILED, RUNS, append_run
from puzzle_tablebase.pipeline.tasks import BuildContext, MemoryLimit, TaskRunner
from puzzle_tablebase.process import explain_os_error
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tables import BACKUP
from puzzle_tablebase.tables.access import list_files, list_unfinished
from puzzle_tablebase.tables.checkpoints import list_checkpoint_files
from puzzle_tablebase.tables.hash_notes import HashNotes
from puzzle_tablebase.tables.index_format import compute_index_bytes, write_index
from puzzle_tablebase.tables.manifest import (
    Entry,
    StateCounter,
    amend_manifest,
    bears_table,
    has_manifest,
    read_manifest,
    replace_manifest,
)
from puzzle_tablebase.tables.parquet import TableWriter
from puzzle_tablebase.tables.store import Store

TableQueue = list[tuple[Puzzle, Table, str, Entry | None]]
"""Tables of one puzzle and one search: they are built one after another and share results."""


def build(
    request: Request, observer: BuildProgress, executor: Executor | None = None
) -> dict[str, Entry]:
    """Build the tables that are missing or out of date; return all published entries afterwards.

    If all tables are up to date, nothing is written: the store may be read-only. Tasks run on the
    executor, if one is given; the tables themselves are written by threads of this process.
    """
    if (up_to_date := _read_if_up_to_date(request)) is not None:
        for _, tables in request.tables:
            for table in tables:
                observer.on_table(table, UP_TO_DATE)
        return up_to_date
    with request.store.lock():
        for file in list_unfinished(request.store):
            request.store.remove(file)
        published = _read_or_recover(request, observer)
        notes = HashNotes(request.store)
        reasons = [*list_reasons(request, published, notes)]
        notes.save()
        observer.on_plan([table for _, table, reason in reasons if reason != UP_TO_DATE])
        published |= _build_tables(request, reasons, published, observer, executor)
    return published


def remove_tables(store: Store, names: Collection[str], observer: BuildProgress) -> None:
    """Remove tables from the manifest, then their files and checkpoints."""
    with store.lock():
        for file in list_unfinished(store):
            store.remove(file)
        published = _read_or_recover(Request(store, []), observer)
        if published.keys() & names:
            amend_manifest(store, without=names)
        for name in names:
            _remove_unlisted(store, name, None, published.get(name))


def _build_tables(
    request: Request,
    reasons: Iterable[tuple[Puzzle, Table, str]],
    published: Mapping[str, Entry],
    observer: BuildProgress,
    executor: Executor | None,
) -> dict[str, Entry]:
    """Build the tables that are out of date, several at a time; return their entries."""
    table_queues = _find_outdated(request.store, reasons, published, observer)
    _require_space(request.store, table_queues)
    entries = dict[str, Entry]()
    with ExitStack() as stack:
        # two pools: a table that waits for its tasks must not take a thread from them
        task_pool, table_pool = (ThreadPoolExecutor(request.jobs) for _ in range(2))
        for pool in (task_pool, table_pool):
            stack.callback(pool.shutdown, cancel_futures=True)
        runner = TaskRunner(executor or task_pool, request.jobs, is_remote=executor is not None)
        shared = runner, MemoryLimit(request.memory), request.store, Lock(), observer
        arguments = [(queue, *shared) for queue in table_queues]
        table_runner = replace(runner, executor=table_pool, is_remote=False)
        for queue_entries in table_runner.run_tasks(_build_queue, arguments):
            entries |= queue_entries
    return entries


def _read_or_recover(request: Request, observer: BuildProgress) -> dict[str, Entry]:
    """Read the published entries; write a new manifest if tables had to be recovered."""
    published, recovery = read_published(request)
    if recovery is None:
        return published
    if recovery.tables or recovery.left_out:
        observer.on_recovery(recovery.problem, sorted(recovery.tables), recovery.left_out)
    store = request.store
    if recovery.tables or list_files(store, BACKUP) or has_manifest(store):
        replace_manifest(store, recovery.tables)
    return published


def _find_outdated(
    store: Store,
    reasons: Iterable[tuple[Puzzle, Table, str]],
    published: Mapping[str, Entry],
    observer: BuildProgress,
) -> list[TableQueue]:
    """Find the tables that are out of date, each with puzzle, reason and published entry.

    Checkpoints that the build must not use are removed: all of a forced table, else those of other
    versions.
    """
    queues: dict[tuple[str, str], TableQueue] = {}
    for puzzle, table, reason in reasons:
        if reason == FORCED:
            for file in list_checkpoint_files(store, table.name):
                store.remove(file)
        elif reason != UP_TO_DATE:
            checkpoints(store, table).clear_others()
        if reason == UP_TO_DATE:
            observer.on_table(table, reason)
            _remove_unlisted(store, table.name, published[table.name])
        else:
            queue = queues.setdefault((puzzle.name, table.recipe.search), [])
            queue.append((puzzle, table, reason, published.get(table.name)))
    return [*queues.values()]


def _require_space(store: Store, queues: Sequence[TableQueue]) -> None:
    """Raise DiskShort if the indexes of all tables together do not fit the store.

    Their sizes follow from the number of rows. An index that is replaced is removed only then.
    """
    kept = 0
    for _, table, *_, entry in (item for queue in queues for item in queue):
        size = compute_index_bytes(table, table.rows or 0)
        names = f"{table.name}, with the tables before it," if kept else table.name
        store.require_space(names, kept + size)
        kept += size - (entry.index.bytes if entry and entry.index else 0)


def _build_queue(
    queue: TableQueue,
    runner: TaskRunner,
    memory: MemoryLimit,
    store: Store,
    manifest_lock: Lock,
    observer: BuildProgress,
) -> dict[str, Entry]:
    """Build and publish the tables of a queue; `manifest_lock` guards the manifest."""
    entries, compute_once = {}, cache(call)
    for puzzle, table, reason, old_entry in queue:
        runner.require_no_failure()
        observer.on_table(table, reason)
        started = time.perf_counter()
        table_runner = replace(
            runner,
            on_progress=partial(observer.on_step, table.name),
            checkpoints=checkpoints(store, table),
        )
        context = BuildContext(table_runner, memory, compute_once)
        try:
            entry = _write_table(store, puzzle, table, context)
        except BaseException:
            observer.on_failure(table)
            _log_run(store, table, reason, time.perf_counter() - started, FAILED, observer)
            raise
        finally:
            memory.release(table.name)
        entries[table.name] = entry
        with manifest_lock:
            amend_manifest(store, {table.name: entry})
            notes = HashNotes(store)
            notes.add_written(entry)
            notes.save()
        _remove_unlisted(store, table.name, entry, old_entry)
        seconds = time.perf_counter() - started
        observer.on_end(BuiltTable(table.name, reason, seconds, entry))
        _log_run(store, table, reason, seconds, COMPLETED, observer)
    return entries


def _log_run(
    store: Store, table: Table, reason: str, seconds: float, outcome: str, observer: BuildProgress
) -> None:
    """Append a table's build to the log; a log that cannot be written is only a note."""
    try:
        append_run(store, table.name, reason, round(seconds, 3), outcome)
    except OSError as error:
        observer.on_note(f"{store.locate(RUNS)} was not written: {explain_os_error(error)}")


def find_unlisted_files(store: Store, name: str, entry: Entry | None) -> list[str]:
    """List a table's files that are not in its entry, and its unfinished build's checkpoints.

    Files of the same name that this program did not write are none of them.
    """
    names = {f"{name}.parquet", f"{name}.idx"}.difference(_list_names(entry))
    unlisted = names.intersection(list_files(store, f"{name}.")) if names else set[str]()
    return [
        *(file for file in sorted(unlisted) if bears_table(store, file)),
        *list_checkpoint_files(store, name),
    ]


def _list_names(entry: Entry | None) -> list[str]:
    return [file.file for file in entry.all_files] if entry else []


def _remove_unlisted(
    store: Store, name: str, entry: Entry | None, old_entry: Entry | None = None
) -> None:
    """Remove a table's files that are not in its entry, those of its old entry damaged or not."""
    files = {*find_unlisted_files(store, name, entry)}
    for file in sorted(files.union(_list_names(old_entry)).difference(_list_names(entry))):
        store.remove(file)


def _read_if_up_to_date(request: Request) -> dict[str, Entry] | None:
    """Return the published entries if the request needs no change in the store, else None.

    Files that a killed build left behind need a change.
    """
    if request.force or list_unfinished(request.store):
        return None
    try:
        published = read_manifest(request.store)
    except (TableDamaged, TableVersionError):
        return None
    notes = HashNotes(request.store)
    try:
        for _, table, reason in list_reasons(request, published, notes):
            if reason != UP_TO_DATE or find_unlisted_files(
                request.store, table.name, published[table.name]
            ):
                return None
    finally:
        notes.save()
    return published


def _write_table(store: Store, puzzle: Puzzle, table: Table, context: BuildContext) -> Entry:
    """Write a table and its index, and return the manifest's entry for them."""
    rows, records, count, depths = build_table_data(puzzle, table, context)
    counter = StateCounter(table, puzzle.depth)
    row_files = [table.file] if table.columns else []
    index_files = [table.index_file] if table.index else []
    with store.write_atomically(*row_files, *index_files) as files, closing(rows), closing(records):
        with TableWriter(files[0] if row_files else None, table) as writer:
            for columns in rows:
                counter.update(writer.write(columns))
        if table.rows not in (None, writer.rows):
            raise SearchError(f"{table.name} has {writer.rows:,} rows, expected {table.rows:,}.")
        context.tasks.require_no_failure()
        for index in files[len(row_files) :]:
            write_index(index, table, count, records, writer.content)
    all_depths = counter.list_depths() or depths
    return make_entry(store, table, writer.content, writer.rows, count, all_depths)
