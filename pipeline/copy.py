"""Copying published tables from a folder, a web host or a bucket to a folder or a bucket.

A copy changes the manifest as a build does: it lists the new version, names its files, and drops
the old one. So readers of the target have an answer at every moment, and a killed copy can resume.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from functools import partial
from threading import Lock
from typing import NamedTuple

from puzzle_tablebase.errors import StoreEmpty
from puzzle_tablebase.formats.manifest import (
    Entry,
    Versions,
    drop_versions,
    read_manifest,
    read_versions,
)
from puzzle_tablebase.pipeline.copy_targets import Listed, Target, open_target
from puzzle_tablebase.pipeline.publish import manifest_lock, remove_unlisted, require_own_files
from puzzle_tablebase.pipeline.select import select_published
from puzzle_tablebase.stores import MANIFEST, Store, open_store

TABLES_TOGETHER = 4
"""The most tables that are copied at a time."""


class Copied(NamedTuple):
    """A table of the source; `bytes`: the size of its files that the target lacked."""

    name: str
    entry: Entry
    bytes: int


def copy_tables(
    source: object, target: object, names: Sequence[str] = (), *, take_over: bool = False
) -> list[str]:
    """Copy published tables from a folder or URL to a folder, or to the URL of a bucket.

    `names`: of puzzles, groups or tables; by default all published ones. `take_over`: take over the
    bucket from a copy that was killed. Return the names of the tables that the target lacked.
    """
    done = copy(open_store(source), open_target(target), names, take_over=take_over)
    return [each.name for each in done if each.bytes]


def copy(
    source: Store,
    target: Target,
    names: Sequence[str] = (),
    tell: Callable[[int, int], object] = lambda done, total: None,
    *,
    take_over: bool = False,
) -> list[Copied]:
    """Copy tables, several at a time. `tell` gets the number of bytes copied, and the total."""
    tables = choose_tables(source, names)
    with target.claim(take_over=take_over):
        published = read_versions(target.store)
        due = {name: list_due(target, name, entry, published) for name, entry in tables.items()}
        target.require_room([file for files in due.values() for file in files])
        sizes = {name: sum(file.bytes for file in files) for name, files in due.items()}
        progress = Progress(sum(sizes.values()), tell)
        run = partial(copy_table, source, target, progress.advance, published)
        run_together(run, [(name, entry, due[name]) for name, entry in tables.items()], progress)
    return [Copied(name, entry, sizes[name]) for name, entry in tables.items()]


def copy_table(
    source: Store,
    target: Target,
    advance: Callable[[int], None],
    published: Versions,
    name: str,
    entry: Entry,
    due: Sequence[Listed],
) -> None:
    """List a table beside its old versions, give its files their names, and drop the old ones."""
    store, old = target.store, published.get(name, [])
    if due or old != [entry]:
        target.replace(source, name, entry, due, advance)
        with manifest_lock:
            drop_versions(store, name, old, entry)
        remove_unlisted(store, name, entry, old)


def choose_tables(source: Store, names: Sequence[str]) -> dict[str, Entry]:
    """Return the entries of the named published tables."""
    published = read_manifest(source)
    if not published:
        raise StoreEmpty(source, MANIFEST)
    chosen = select_published(source, names)[0] if names else [*published]
    return {name: published[name] for name in chosen}


def list_due(target: Target, name: str, entry: Entry, published: Versions) -> list[Listed]:
    """List the files of a version that the target does not have."""
    if name not in published:
        require_own_files(target.store, [file.file for file in entry.all_files])
    return [file for file in entry.all_files if not target.has(entry, file)]


# ---- several tables at a time -------------------------------------------------------------------


class Progress:
    """The number of bytes copied, which is reported; and whether a table has failed."""

    def __init__(self, total: int, tell: Callable[[int, int], object]) -> None:
        self._done, self._total, self._tell = 0, total, tell
        self._lock = Lock()
        self.is_stopped = False

    def advance(self, count: int) -> None:
        """Add to the bytes copied; raise CancelledError if another table has failed."""
        if self.is_stopped:
            raise CancelledError
        with self._lock:
            self._done += count
            self._tell(self._done, self._total)


def run_together(
    run: Callable[..., None], items: Sequence[tuple[object, ...]], progress: Progress
) -> None:
    """Run a function for several items at a time; after an error, end the others and raise it."""
    with ThreadPoolExecutor(TABLES_TOGETHER) as pool:
        running = [pool.submit(run, *item) for item in items]
        try:
            for each in as_completed(running):
                each.result()
        finally:  # an interrupt too
            progress.is_stopped = True
            for each in running:
                each.cancel()
