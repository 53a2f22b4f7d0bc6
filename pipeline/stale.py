"""Which tables must be built: a job for each, with its reason, its cost and its checkpoints.

A dry run prints the list of jobs and writes nothing; a build runs the same list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from puzzle_tablebase.errors import StoreError, TableDamaged, TableVersionError, Unreachable
from puzzle_tablebase.formats.manifest import (
    Entry,
    Versions,
    find_current,
    is_own_file,
    is_table_file,
    read_versions,
    require_table_name,
)
from puzzle_tablebase.pipeline.costs import Cost
from puzzle_tablebase.pipeline.kinds import checkpoints, estimate_cost, find_code, plan_build
from puzzle_tablebase.pipeline.known_files import KnownFiles
from puzzle_tablebase.pipeline.publish import list_table_files, read_copies, require_own_files
from puzzle_tablebase.pipeline.terminal import format_copies_note
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import MANIFEST, Folder, list_files
from puzzle_tablebase.stores.checkpoints import Checkpoints

FORCED = "forced"
OTHER_CODE = "code changed"
MISSING = "missing"


class Job(NamedTuple):
    """A table to build; the reason is "" if it is up to date.

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


def list_jobs(
    store: Folder,
    tables: Sequence[tuple[Puzzle, Table]],
    workers: Workers,
    say: Callable[[str], None],
    *,
    force: bool = False,
    known: KnownFiles | None = None,
) -> Iterator[Job]:
    """List the jobs of some tables; nothing is written.

    `say` gets the reason why the build replaces the manifest. `known`: large files whose hashes are
    known, so that they are not read again. Raise StoreError if the build would replace a file that
    is not this program's, and BadRequest for a table with an invalid name.
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
            cost = plan_build(table, cost, workers, saves if saved else None)
        yield Job(puzzle, table, reason, versions, saves, saved, cost)
    if foreign:
        say(format_copies_note(foreign, store))


def explain_rebuild(
    store: Folder, versions: Sequence[Entry], puzzle: Puzzle, table: Table, known: KnownFiles
) -> str:
    """Return the reason why a table must be built; "" if it is up to date."""
    if not versions:
        return MISSING
    entry = find_current(store, versions)
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
    """Say which file of the current version is missing or damaged; "" if none is."""
    entry = find_current(store, versions)
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
    """Read the manifest; return its tables, and the reason why it must be replaced.

    Of a manifest of another version, return only the names of its tables, in between. The reason is
    "" if the manifest stays. One of a newer version is replaced only by force, since a newer
    program can read it.
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
        unlisted = [name for name in others if is_table_file(store, name)]
        problem += f"; the new one does not list {', '.join(unlisted)}" if unlisted else ""
    return published, older, problem
