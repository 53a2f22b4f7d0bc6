"""Jobs: the tables that a command names, each with the reason to build it, its cost and saved work.

A dry run prints the list of jobs and writes nothing; a build runs the same list.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import partial
from typing import NamedTuple

from msgspec import Struct, json

from puzzle_tablebase.errors import (
    BadRequest,
    StoreError,
    TableDamaged,
    TableMissing,
    TableVersionError,
    Unreachable,
    quote,
    require_text,
)
from puzzle_tablebase.formats.index import compute_index_bytes
from puzzle_tablebase.formats.manifest import (
    Entry,
    Versions,
    bears_table,
    find_in_place,
    is_own_file,
    read_manifest,
    read_versions,
    require_table_name,
)
from puzzle_tablebase.pipeline.known_files import KnownFiles
from puzzle_tablebase.pipeline.publish import (
    find_unlisted_files,
    has_leftovers,
    list_table_files,
    publish_table,
    read_copies,
    remove_checkpoints,
    require_own_files,
    settle,
)
from puzzle_tablebase.pipeline.reporter import Reporter
from puzzle_tablebase.pipeline.searches import (
    Cost,
    checkpoints,
    estimate_cost,
    find_code,
    make,
    plan_build,
)
from puzzle_tablebase.pipeline.tasks import Tasks, open_tasks
from puzzle_tablebase.pipeline.terminal import format_copies_note, format_duration
from puzzle_tablebase.process import explain_os_error
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles import MODULES, get_puzzle, is_registered, list_puzzles
from puzzle_tablebase.resources import measure_peak_memory
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import MANIFEST
from puzzle_tablebase.stores.access import list_files, open_folder
from puzzle_tablebase.stores.checkpoints import Checkpoints, list_checkpoint_files
from puzzle_tablebase.stores.folder import Folder, Store

FORCED = "forced"
OTHER_CODE = "code changed"
MISSING = "missing"


class Job(NamedTuple):
    """A table to build. One that is up to date has no reason to be built.

    `versions`: those that the manifest lists; `saved`: the files of the checkpoints that the build
    will read; `cost`: what it takes on this machine, or on the cluster.
    """

    puzzle: Puzzle
    table: Table
    reason: str
    versions: list[Entry]
    checkpoints: Checkpoints
    saved: list[str]
    cost: Cost


# ---- names ------------------------------------------------------------------------------------


def select_tables(names: Sequence[str]) -> list[tuple[Puzzle, Table]]:
    """Select the tables that names stand for, each once; without names, all default tables."""
    if not names:
        return [(puzzle, table) for puzzle in list_puzzles() for table in puzzle.tables]
    found = [(puzzle, table) for puzzle, tables in map(find_request, names) for table in tables]
    return [*{table.name: (puzzle, table) for puzzle, table in found}.values()]


def find_request(name: str) -> tuple[Puzzle, tuple[Table, ...]]:
    """Find the puzzle of a name, and the tables that it stands for.

    Raise BadRequest for an unknown name, with those that are nearest to it.
    """
    known = [name] if is_registered(name) else MODULES
    # plugins are loaded only for a name that is no built-in puzzle's
    for find_puzzles in (partial(map, get_puzzle, known), list_puzzles):
        for puzzle in find_puzzles():
            if tables := puzzle.find_tables(name):
                return puzzle, tables
    near = get_close_matches(name, list_requests(list_puzzles()), n=2, cutoff=0.8)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise BadRequest(f"There is no table {quote(name)}", f"{hint}See: pipeline precompute --list")


def list_requests(puzzles: Iterable[Puzzle]) -> list[str]:
    """List all names that can be built: of puzzles, of default tables, and of others."""
    puzzles = [*puzzles]
    names = [puzzle.name for puzzle in puzzles]
    for puzzle in puzzles:
        names += [table.name for table in puzzle.tables]
        names += [name for others in puzzle.list_requests().values() for name in others]
    return [*dict.fromkeys(names)]


def find_removable(store: Folder, name: str) -> list[str]:
    """Find the tables that `remove` removes by a name: those with an entry, a file or checkpoints.

    Raise BadRequest if there are none, or if one is a default table.
    """
    published = read_versions(store)
    tables = [name] if name in published else [table.name for table in find_request(name)[1]]
    defaults = {table.name for puzzle in list_puzzles() for table in puzzle.tables}
    if chosen := defaults.intersection(tables):
        problem = f"{min(chosen)} is a default table, which cannot be removed"
        raise BadRequest(problem, "Only tables built on request can be removed")
    present = [
        table
        for table in tables
        if table in published
        or find_unlisted_files(store, table)
        or list_checkpoint_files(store, table)
    ]
    if not present:
        problem = f"There is no table {quote(name)} to remove"
        raise BadRequest(problem, "See: pipeline status")
    return present


def select_published(store: Store, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Select the published tables that names stand for; also return those that are not published.

    A puzzle's name stands for its default tables and all others of it that are published. Raise
    BadRequest for an unknown name, and TableMissing for one of whose tables none is published.
    """
    published, selected, missing = read_manifest(store), list[str](), list[str]()
    for name in names:
        own = [*filter(get_puzzle(name).find_table, published)] if is_registered(name) else []
        if own:
            tables = [*(table.name for table in get_puzzle(name).tables), *own]
        else:
            is_table = name in published
            tables = [name] if is_table else [table.name for table in find_request(name)[1]]
        present = [table for table in tables if table in published]
        if not present:
            raise TableMissing(store, tables[0], name)
        selected += present
        missing += [table for table in tables if table not in published]
    return [*dict.fromkeys(selected)], [*dict.fromkeys(missing)]


# ---- what is missing or stale -----------------------------------------------------------------


def list_jobs(
    store: Folder,
    tables: Sequence[tuple[Puzzle, Table]],
    tasks: Tasks,
    say: Callable[[str], None],
    *,
    force: bool = False,
    known: KnownFiles | None = None,
) -> Iterator[Job]:
    """List the jobs of some tables; nothing is written.

    `say` gets the reason why the build replaces the manifest; `known` large files that are hashed,
    of which those that it has are not. Raise StoreError if it would replace
    a file that is not this program's, and BadRequest for a table with an invalid name.
    """
    known = known or KnownFiles(store)
    for _, table in tables:
        require_table_name(table)  # before a search that may take hours
    published, older, problem = _read_published(store, [table for _, table in tables], force=force)
    if problem:
        say(f"note: {problem}")
    copies, foreign = read_copies(store), list[str]()
    for puzzle, table in tables:
        versions = published.get(table.name, [])
        reason = FORCED if force else explain_rebuild(store, versions, puzzle, table, known)
        if table.name in older and reason == MISSING:
            reason = "format changed"
        if reason == OTHER_CODE and copies.get(table.name) in [each.code for each in versions]:
            reason = find_damage(store, versions, known)
            foreign += [table.name] * (not reason)
        saves = checkpoints(store, table, puzzle)
        is_resumed = reason not in ("", FORCED)
        saved = saves.list_files() if is_resumed else []
        cost = estimate_cost(table)
        if reason:
            cost = plan_build(table, cost, tasks, saves if saved else None)
        yield Job(puzzle, table, reason, versions, saves, saved, cost)
    if foreign:
        say(format_copies_note(foreign, store))


def explain_rebuild(
    store: Folder, versions: Sequence[Entry], puzzle: Puzzle, table: Table, known: KnownFiles
) -> str:
    """Return the reason why a table must be built; "" if it is up to date."""
    if not versions:
        return MISSING
    entry = find_in_place(store, versions)
    if entry is None:
        return "interrupted"
    if entry.parameters != table.recipe.parameters:
        return "parameters changed"
    if entry.code != find_code(table, puzzle).digest:
        return OTHER_CODE
    if puzzle.has_counts(table) and not entry.counts:
        return "counts missing"
    return find_damage(store, versions, known)


def find_damage(store: Folder, versions: Sequence[Entry], known: KnownFiles) -> str:
    """Say which file of the version in place is missing or damaged; "" if none is."""
    entry = find_in_place(store, versions)
    for file in entry.all_files if entry else ():
        try:
            if known.find_mismatch(file):
                return f"{file.file} damaged"
        except FileNotFoundError:
            return f"{file.file} missing"
        except Unreachable:
            raise
        except OSError:
            return f"{file.file} cannot be read"
    return ""


def _read_published(
    store: Folder, tables: Sequence[Table], *, force: bool
) -> tuple[Versions, tuple[str, ...], str]:
    """Read the listed tables; the names of those that a manifest of another version lists; and
    why a build replaces the manifest, "" if it does not.

    A manifest of a newer version is replaced only by force, since a newer program can read it.
    """
    problem, older = "", tuple[str, ...]()
    try:
        published = read_versions(store)
    except TableDamaged as error:
        published, problem = {}, f"{error.file} is damaged: {error.problem}"
    except TableVersionError as error:
        if error.version > error.supported and not force:
            raise
        published, older = {}, error.tables
        problem = f"{error.file} has format version {error.version}, not {error.supported}"
    if problem and not is_own_file(store, MANIFEST):
        foreign = f"{MANIFEST} is there, and is not a file of this program"
        hint = "Move it away, or choose another folder."
        raise StoreError(str(store), foreign, hint)
    for table in tables:
        if table.name not in published:
            require_own_files(store, list_table_files(table))
    if problem:
        requested = {name for table in tables for name in list_table_files(table)}
        others = [name for name in list_files(store) if name not in requested]
        unlisted = [name for name in others if bears_table(store, name)]
        problem += f"; the new one does not list {', '.join(unlisted)}" if unlisted else ""
    return published, older, problem


# ---- the log: a JSON line for each table, when its build ends -----------------------------------
# the manifest does not list it

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
    """Append to the log what a table's build took; a log that cannot be written is only a note."""
    when = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    run = Run(when, table, reason, round(seconds, 3), measure_peak_memory(), outcome)
    try:
        store.append(RUNS, json.encode(run) + b"\n")
    except OSError as error:
        say(f"note: {store.locate(RUNS)} was not written: {explain_os_error(error)}")
    return run


# ---- builds -----------------------------------------------------------------------------------

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
    with Reporter(quiet=quiet) as reporter, open_tasks() as tasks:
        built = [run.table for run, _ in build(store, tables, tasks, reporter, force=force)]
        if up_to_date := [table.name for _, table in tables if table.name not in built]:
            reporter.say(f"up to date: {', '.join(up_to_date)}")
        reporter.say(f"The tables are in {os.path.abspath(str(store))}")
    return built


def build(
    store: Folder,
    tables: Sequence[tuple[Puzzle, Table]],
    tasks: Tasks,
    reporter: Reporter,
    *,
    force: bool = False,
) -> list[Built]:
    """Build the tables that are missing or stale; return them in the order of their ends.

    If every table is up to date, only leftovers of interrupted builds are removed. Works on
    read-only folders.
    """
    known = KnownFiles(store)
    find = partial(list_jobs, store, tables, tasks, force=force, known=known)
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
                built = run_jobs(store, [*find(reporter.say)], tasks, reporter)
                for file in (file for _, entry in built for file in entry.all_files):
                    known.add(file)
                known.save()
                return built
            finally:  # no thread of this build may write once another build has the lock
                tasks.end_all(lambda: reporter.say("waiting for the running tasks to end"))
    except StoreError:
        if is_due:
            raise
        return []  # the folder is read-only, or another build is at work: leftovers stay


def run_jobs(store: Folder, jobs: Sequence[Job], tasks: Tasks, reporter: Reporter) -> list[Built]:
    """Run jobs, several tables at a time; the caller holds the store's lock.

    The tables of one search of a puzzle follow each other, as they share what it caches.
    """
    for job in jobs:
        if not job.reason:
            settle(store, job.table.name, job.versions)
        elif job.reason == FORCED:
            remove_checkpoints(store, [job.table.name])
        else:
            job.checkpoints.clear_others()
    due, built = [job for job in jobs if job.reason], list[Built]()
    # an index has a record for each row, at least; one that is replaced is removed only then
    sizes = [compute_index_bytes(job.table, job.table.rows or 0) for job in due]
    old = [entry.index.bytes for job in due for entry in job.versions[-1:] if entry.index]
    store.require_space("The build", sum(sizes) - sum(old) + max(old, default=0))
    queues: dict[tuple[str, str], list[Job]] = {}
    for job in due:
        queues.setdefault((job.puzzle.name, job.table.recipe.search), []).append(job)

    def run_queue(queue: list[Job]) -> None:
        for job in queue:
            built.append(_run_job(store, job, tasks, reporter))

    for _ in tasks.run_in_threads(run_queue, [(queue,) for queue in queues.values()]):
        pass
    return built


def format_shards(cost: Cost) -> str:
    """Say what a search in shards takes.

    >>> format_shards(Cost(1200, 5, 3_000_000_000, shards=4, jobs=2, disk=17_000_000_000))
    '4 shards, 17.0 GB of disk, about 10.0 min'
    """
    time = format_duration(cost.seconds / cost.jobs)
    return f"{cost.shards} shards, {cost.disk / 1e9:.1f} GB of disk, about {time}"


def _run_job(store: Folder, job: Job, tasks: Tasks, reporter: Reporter) -> Built:
    """Build and publish a table, and log it."""
    name, started, outcome = job.table.name, time.perf_counter(), FAILED
    on_step = partial(reporter.update, of=name)
    cost = job.cost
    reserved = cost.memory, cost.shards, cost.jobs, cost.task
    with tasks.of_table(name, job.checkpoints, on_step, *reserved) as own:
        own.report("starting", 0)  # unless another table has failed
        reporter.say(f"building {name} ({job.reason})")
        if cost.shards:
            reporter.say(f"{name}: {format_shards(cost)}")
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
