"""Builds: find the tables that are missing or out of date, build them, and publish them."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cache, partial
from operator import call
from threading import Lock

from puzzle_tablebase.errors import SearchError, TableDamaged, TableVersionError
from puzzle_tablebase.formats import MADE_BY
from puzzle_tablebase.formats.index import compute_index_bytes, write_index
from puzzle_tablebase.formats.manifest import (
    Entry,
    File,
    IndexEntry,
    StateCounter,
    Versions,
    add_version,
    bears_table,
    drop_versions,
    find_in_place,
    make_footer,
    read_manifest,
    read_versions,
    remove_entries,
    sum_up_depths,
)
from puzzle_tablebase.formats.parquet import TableWriter
from puzzle_tablebase.pipeline.builders import build_table_data, checkpoints, digest_table
from puzzle_tablebase.pipeline.plan import (
    FORCED,
    Request,
    list_reasons,
    list_table_files,
    read_published,
)
from puzzle_tablebase.pipeline.progress import UP_TO_DATE, BuildProgress, BuiltTable
from puzzle_tablebase.pipeline.runs import COMPLETED, FAILED, RUNS, append_run
from puzzle_tablebase.pipeline.tasks import BuildContext, MemoryLimit, TaskRunner
from puzzle_tablebase.process import explain_os_error
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.access import list_files
from puzzle_tablebase.stores.checkpoints import list_checkpoint_files
from puzzle_tablebase.stores.folder import Store

TableQueue = list[tuple[Puzzle, Table, str, list[Entry]]]
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
        published, problem = read_published(request)
        if problem:
            observer.on_note(problem)
        reasons = [*list_reasons(request, published)]
        observer.on_plan([table for _, table, reason in reasons if reason != UP_TO_DATE])
        _build_tables(request, reasons, published, observer, executor)
        return read_manifest(request.store)


def remove_tables(store: Store, names: Collection[str]) -> None:
    """Remove tables from the manifest, then their files and checkpoints."""
    with store.lock():
        published = read_versions(store)
        if published.keys() & names:
            remove_entries(store, names)
        for name in names:
            _remove_unlisted(store, name, None, published.get(name, []))
            _remove_checkpoints(store, name)


def remove_checkpoints(store: Store, names: Collection[str]) -> list[str]:
    """Remove the checkpoints of tables, by default of all; return the names of the files."""
    with store.lock():
        files = [file for name in names or [""] for file in list_checkpoint_files(store, name)]
        for file in files:
            store.remove(file)
    return files


def _build_tables(
    request: Request,
    reasons: Iterable[tuple[Puzzle, Table, str]],
    published: Versions,
    observer: BuildProgress,
    executor: Executor | None,
) -> None:
    """Build the tables that are out of date, several at a time."""
    table_queues = _find_outdated(request.store, reasons, published, observer)
    _require_space(request.store, table_queues)
    with ExitStack() as stack:
        # two pools: a table that waits for its tasks must not take a thread from them
        task_pool, table_pool = (ThreadPoolExecutor(request.jobs) for _ in range(2))
        for pool in (task_pool, table_pool):
            stack.callback(pool.shutdown, cancel_futures=True)
        runner = TaskRunner(executor or task_pool, request.jobs, is_remote=executor is not None)
        shared = runner, MemoryLimit(request.memory), request.store, Lock(), observer
        arguments = [(queue, *shared) for queue in table_queues]
        table_runner = replace(runner, executor=table_pool, is_remote=False)
        for _ in table_runner.run_tasks(_build_queue, arguments):
            pass


def _find_outdated(
    store: Store,
    reasons: Iterable[tuple[Puzzle, Table, str]],
    published: Versions,
    observer: BuildProgress,
) -> list[TableQueue]:
    """Find the tables that are out of date, each with puzzle, reason and listed versions.

    Checkpoints that the build must not use are removed: all of a forced table, else those of other
    code. Of a table that is up to date, only the version in place stays listed, where the lock
    shows that no other build is about to put another one there.
    """
    queues: dict[tuple[str, str], TableQueue] = {}
    for puzzle, table, reason in reasons:
        versions = published.get(table.name, [])
        if reason == UP_TO_DATE:
            observer.on_table(table, reason)
            if store.has_locks:
                _settle(store, table.name, versions)
            continue
        if reason == FORCED:
            _remove_checkpoints(store, table.name)
        else:
            checkpoints(store, table, puzzle).clear_others()
        queue = queues.setdefault((puzzle.name, table.recipe.search), [])
        queue.append((puzzle, table, reason, versions))
    return [*queues.values()]


def _settle(store: Store, name: str, versions: Sequence[Entry]) -> None:
    """Keep the version of a table whose files are in place, and no checkpoints."""
    in_place = find_in_place(store, versions) if versions[1:] else None
    if in_place:
        drop_versions(store, name, versions, in_place)
    _remove_unlisted(store, name, in_place or versions[-1], versions)
    _remove_checkpoints(store, name)


def _require_space(store: Store, queues: Sequence[TableQueue]) -> None:
    """Raise StoreError if the indexes of all tables together do not fit the store.

    Their sizes follow from the number of rows. An index that is replaced is removed only then.
    """
    kept = 0
    for _, table, _, versions in (item for queue in queues for item in queue):
        size = compute_index_bytes(table, table.rows or 0)
        names = f"{table.name}, with the tables before it," if kept else table.name
        store.require_space(names, kept + size)
        kept += size - sum(entry.index.bytes for entry in versions[-1:] if entry.index)


def _build_queue(
    queue: TableQueue,
    runner: TaskRunner,
    memory: MemoryLimit,
    store: Store,
    manifest_lock: Lock,
    observer: BuildProgress,
) -> None:
    """Build and publish the tables of a queue; `manifest_lock` guards the manifest."""
    compute_once = cache(call)
    for puzzle, table, reason, old in queue:
        runner.require_no_failure()
        observer.on_table(table, reason)
        started = time.perf_counter()
        table_runner = replace(
            runner,
            on_progress=partial(observer.on_step, table.name),
            checkpoints=checkpoints(store, table, puzzle),
        )
        context = BuildContext(table_runner, memory, compute_once)
        try:
            entry = _publish_table(store, puzzle, table, context, manifest_lock)
        except BaseException:
            observer.on_failure(table)
            _log_run(store, table, reason, time.perf_counter() - started, FAILED, observer)
            raise
        finally:
            memory.release(table.name)
        with manifest_lock:
            drop_versions(store, table.name, old, entry)
        _remove_unlisted(store, table.name, entry, old)
        if store.has_locks:  # elsewhere another build of the same table may need them
            _remove_checkpoints(store, table.name)
        seconds = time.perf_counter() - started
        observer.on_end(BuiltTable(table.name, reason, seconds, entry))
        _log_run(store, table, reason, seconds, COMPLETED, observer)


def _log_run(
    store: Store, table: Table, reason: str, seconds: float, outcome: str, observer: BuildProgress
) -> None:
    """Append a table's build to the log; a log that cannot be written is only a note."""
    try:
        append_run(store, table.name, reason, round(seconds, 3), outcome)
    except OSError as error:
        observer.on_note(f"{store.locate(RUNS)} was not written: {explain_os_error(error)}")


def find_unlisted_files(store: Store, name: str, entry: Entry | None) -> list[str]:
    """List a table's files that are not in its entry, and that this program wrote."""
    names = {f"{name}.parquet", f"{name}.idx"}.difference(_list_names([entry] if entry else []))
    unlisted = names.intersection(list_files(store, f"{name}.")) if names else set[str]()
    return [file for file in sorted(unlisted) if bears_table(store, file)]


def _list_names(versions: Iterable[Entry]) -> set[str]:
    return {file.file for entry in versions for file in entry.all_files}


def _remove_unlisted(
    store: Store, name: str, entry: Entry | None, old: Sequence[Entry] = ()
) -> None:
    """Remove a table's files that are not in its entry; those of old versions damaged or not."""
    files = _list_names(old).union(find_unlisted_files(store, name, entry))
    for file in sorted(files - _list_names([entry] if entry else [])):
        store.remove(file)


def _remove_checkpoints(store: Store, name: str) -> None:
    for file in list_checkpoint_files(store, name):
        store.remove(file)


def _read_if_up_to_date(request: Request) -> dict[str, Entry] | None:
    """Return the published entries if the request needs no change in the store, else None."""
    store = request.store
    if request.force:
        return None
    try:
        published = read_versions(store)
    except (TableDamaged, TableVersionError):
        return None
    for _, table, reason in list_reasons(request, published):
        if reason != UP_TO_DATE:
            return None
        versions = published[table.name]
        if store.has_locks and (
            len(versions) > 1
            or find_unlisted_files(store, table.name, versions[0])
            or list_checkpoint_files(store, table.name)
        ):
            return None
    return read_manifest(store)


def _publish_table(
    store: Store, puzzle: Puzzle, table: Table, context: BuildContext, manifest_lock: Lock
) -> Entry:
    """Write a table and its index, list them as a new version, and put them in place.

    Until the old versions are dropped, readers accept the old files and the new ones.
    """
    rows, records, count, depths = build_table_data(puzzle, table, context)
    counter = StateCounter(table, puzzle.depth)
    with (
        store.write_files(*list_table_files(table)) as files,
        closing(rows),
        closing(records),
    ):
        with TableWriter(files[0] if table.columns else None, table) as writer:
            for columns in rows:
                counter.update(writer.write(columns))
        if table.rows not in (None, writer.rows):
            raise SearchError(f"{table.name} has {writer.rows:,} rows, expected {table.rows:,}.")
        context.tasks.require_no_failure()
        if table.index:
            index = files[1 if table.columns else 0]
            write_index(index, table, count, records, writer.content)
        made = dict(zip(list_table_files(table), files.finish(), strict=True))
        parquet, index_entry = None, None
        if table.columns:
            parquet = File(table.file, *made[table.file], make_footer(writer.footer))
        if table.index:
            index_entry = IndexEntry(table.index_file, count, *made[table.index_file])
        entry = Entry(
            parquet=parquet,
            rows=writer.rows,
            content=writer.content,
            made_by=MADE_BY,
            code=digest_table(table, puzzle),
            parameters=table.recipe.list_parameters(),
            index=index_entry,
            counts=sum_up_depths(counter.list_depths() or depths),
        )
        with manifest_lock:
            add_version(store, table.name, entry)
        files.publish()
    return entry
