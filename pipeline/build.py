"""Builds: search, publish and log the tables that are missing or stale."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial

from puzzle_tablebase.errors import StoreError, require_text
from puzzle_tablebase.formats.index import compute_index_bytes
from puzzle_tablebase.formats.manifest import Entry
from puzzle_tablebase.pipeline.costs import Cost
from puzzle_tablebase.pipeline.kinds import make
from puzzle_tablebase.pipeline.known_files import KnownFiles
from puzzle_tablebase.pipeline.log import COMPLETED, FAILED, Run, log_run
from puzzle_tablebase.pipeline.publish import (
    has_leftovers,
    publish_table,
    remove_checkpoints,
    settle,
)
from puzzle_tablebase.pipeline.reporter import Reporter
from puzzle_tablebase.pipeline.select import select_tables
from puzzle_tablebase.pipeline.stale import FORCED, Job, list_jobs
from puzzle_tablebase.pipeline.tasks import open_table
from puzzle_tablebase.pipeline.terminal import format_duration
from puzzle_tablebase.pipeline.workers import Workers, open_workers
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import Folder, open_folder

Built = tuple[Run, Entry]
"""The log's line of a finished table, and what the manifest then lists."""


def precompute(
    *names: str, outputs: object = None, force: bool = False, quiet: bool = False
) -> list[str]:
    """Build the tables that are missing or out of date, as `pipeline precompute` does.

    `names`: of puzzles, groups or tables; by default all default tables. `outputs`: the folder; by
    default that of `PIPELINE_OUTPUTS`, else `outputs`. Return the names of the tables that were
    built.
    """
    for name in names:
        require_text(name, "a name of tables", "eight")
    store, tables = open_folder(outputs), select_tables(names)
    with Reporter(quiet=quiet) as reporter, open_workers() as workers:
        built = [run.table for run, _ in build(store, tables, workers, reporter, force=force)]
        if up_to_date := [table.name for _, table in tables if table.name not in built]:
            reporter.say(f"up to date: {', '.join(up_to_date)}")
        reporter.say(f"The tables are in {os.path.abspath(str(store))}")
    return built


def build(
    store: Folder,
    tables: Sequence[tuple[Puzzle, Table]],
    workers: Workers,
    reporter: Reporter,
    *,
    force: bool = False,
) -> list[Built]:
    """Build the tables that are missing or stale; return them in the order in which they finish.

    If every table is up to date, only leftovers of interrupted builds are removed. Works on
    read-only folders.
    """
    known = KnownFiles(store)
    find = partial(list_jobs, store, tables, workers, force=force, known=known)
    notes = list[str]()
    is_due = any(job.reason for job in find(notes.append))
    if not is_due and not has_leftovers(store, tables):
        for note in notes:
            reporter.say(note)
        known.save()
        return []
    try:
        with store.lock():  # another build may have ended meanwhile, so the jobs are listed again
            try:
                built = run_jobs(store, [*find(reporter.say)], workers, reporter)
                for file in (file for _, entry in built for file in entry.all_files):
                    known.add(file)
                known.save()
                return built
            finally:  # no thread of this build may write once another build has the lock
                workers.end_all(lambda: reporter.say("waiting for the running tasks to end"))
    except StoreError:
        if is_due:
            raise
        return []  # the folder is read-only, or another build is at work: leftovers stay


def run_jobs(
    store: Folder, jobs: Sequence[Job], workers: Workers, reporter: Reporter
) -> list[Built]:
    """Run jobs, several tables at a time; the caller holds the store's lock.

    Tables of one kind and puzzle run one after the other, because they share caches.
    """
    for job in jobs:
        if not job.reason:
            settle(store, job.table.name, job.versions)
        elif job.reason == FORCED:
            remove_checkpoints(store, [job.table.name])
        else:
            job.checkpoints.clear_others()
    due, built = [job for job in jobs if job.reason], list[Built]()
    store.require_space("The build", estimate_space(due))
    queues: dict[tuple[str, str], list[Job]] = {}
    for job in due:
        queues.setdefault((job.puzzle.name, job.table.recipe.kind), []).append(job)

    def run_queue(queue: list[Job]) -> None:
        for job in queue:
            built.append(_run_job(store, job, workers, reporter))

    for _ in workers.run_in_threads(run_queue, [(queue,) for queue in queues.values()]):
        pass
    return built


def estimate_space(due: Sequence[Job]) -> int:
    """Estimate the least bytes of disk for the indexes of some jobs, or for the largest search."""
    # an index has a record for each row, at least; one that is replaced is removed only then
    sizes = [compute_index_bytes(job.table, job.table.rows or 0) for job in due]
    old = [entry.index.bytes for job in due for entry in job.versions[-1:] if entry.index]
    searches = [
        job.cost.shards.disk - job.checkpoints.count_bytes() for job in due if job.cost.shards.total
    ]
    return max([sum(sizes) - sum(old) + max(old, default=0), *searches])


def format_shards(cost: Cost) -> str:
    """Describe the cost of a search in shards.

    >>> from puzzle_tablebase.pipeline.costs import Shards
    >>> format_shards(Cost(1200, 5, 3_000_000_000, Shards(4, jobs=2, disk=17_000_000_000)))
    '4 shards, 17.0 GB of disk, about 10.0 min'
    """
    time, shards = format_duration(cost.seconds / cost.shards.jobs), cost.shards
    return f"{shards.total} shards, {shards.disk / 1e9:.1f} GB of disk, about {time}"


def _run_job(store: Folder, job: Job, workers: Workers, reporter: Reporter) -> Built:
    """Build and publish a table, and log it."""
    name, started, outcome = job.table.name, time.perf_counter(), FAILED
    on_step = partial(reporter.update, of=name)
    with open_table(workers, job.checkpoints, job.cost, on_step) as own:
        own.report("starting", 0)  # raises the error of a table that has failed meanwhile
        reporter.say(f"building {name} ({job.reason})")
        if job.cost.shards.total:
            reporter.say(f"{name}: {format_shards(job.cost)}")
        if job.saved:
            reporter.say(f"{name}: resuming from {len(job.saved):,} checkpoints")
        try:
            data = make(job.table, job.puzzle, own)
            entry = publish_table(store, job.puzzle, job.table, data, job.versions)
            outcome = COMPLETED
        finally:
            reporter.remove(name)
            seconds = time.perf_counter() - started
            run = log_run(store, name, job.reason, seconds, outcome, reporter.say)
    *_, (unit, count) = entry.list_amounts().items()
    reporter.say(f"{name}: {count:,} {unit} in {seconds:.1f} s")
    return run, entry
