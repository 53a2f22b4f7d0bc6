"""Leftovers of unfinished builds in a store: checkpoints and temporary files.

Only names that this program gives to files are considered, and of these no published table, and no
table that a process is writing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from puzzle_tablebase.puzzles import find_owner
from puzzle_tablebase.tables import CLEAN, REPLACED
from puzzle_tablebase.tables.access import format_command, list_files, require_listable
from puzzle_tablebase.tables.checkpoints import SUFFIX
from puzzle_tablebase.tables.manifest import read_manifest
from puzzle_tablebase.tables.store import TEMPORARY_END, Store

CHECKPOINTS, TEMPORARY = "checkpoints", "temporary files"
REPLACED_MANIFEST = "replaced manifest"
NOTES = {
    CHECKPOINTS: "finished tasks, from which a build resumes",
    TEMPORARY: "left by a writer that was killed",
    REPLACED_MANIFEST: "the manifest before the last repair",
}
CHECKPOINT_NAME = re.compile(rf"\.(\w+)\.[0-9a-f]+\.[0-9a-f]+{re.escape(SUFFIX)}")
TEMPORARY_NAME = re.compile(rf"\.([^.]*)(?:\..*)?{TEMPORARY_END}")


class Leftover(NamedTuple):
    """Files of one kind that belong to one table, or to none."""

    kind: str
    table: str
    files: tuple[str, ...]
    bytes: int
    note: str


def list_leftovers(store: Store) -> list[Leftover]:
    """List what unfinished builds left, by kind and table; raise TableError if the manifest is
    damaged: its repair comes first."""
    require_listable(store)
    read_manifest(store)
    names = list_files(store)
    groups = dict[tuple[str, str], list[str]]()
    for kind, table, name in _iter_leftovers(store, names):
        groups.setdefault((kind, table), []).append(name)
    leftovers = []
    for (kind, table), files in groups.items():
        sizes = {name: size for name in files if (size := _find_size(store, name)) is not None}
        if sizes:
            size = sum(sizes.values())
            leftovers.append(Leftover(kind, table, tuple(sizes), size, NOTES[kind]))
    return leftovers


def _find_size(store: Store, name: str) -> int | None:
    """Return the bytes of a file; None if it is gone by now, or no file."""
    try:
        return store.get_size(name)
    except OSError:
        return None


def _iter_leftovers(store: Store, names: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the kind, the table and the name of each file that an unfinished build left."""
    matches = [match for name in names if (match := TEMPORARY_NAME.fullmatch(name))]
    temporary = {match[0]: match[1] for match in matches}
    busy = {table for name, table in temporary.items() if store.is_being_written(name)}
    for name in names:
        match = CHECKPOINT_NAME.fullmatch(name)
        if match and match[1] not in busy:
            yield CHECKPOINTS, match[1], name
        elif name in temporary and temporary[name] not in busy:
            is_tables = f"{SUFFIX}." in name or find_owner(temporary[name])
            yield TEMPORARY, temporary[name] if is_tables else "", name
    if REPLACED in names:
        yield REPLACED_MANIFEST, "", REPLACED


def remove_leftovers(store: Store) -> list[Leftover]:
    """Remove what unfinished builds left, and return what was removed.

    The store is locked meanwhile, so that no build is running; without leftovers nothing is
    written, and the store may be read-only.
    """
    if not list_leftovers(store):
        return []
    with store.lock():
        leftovers = list_leftovers(store)
        for leftover in leftovers:
            for name in leftover.files:
                store.remove(name)
    return leftovers


def format_advice(leftovers: list[Leftover], store: Store, *, removed: bool) -> str:
    """Format a sentence with the number and the bytes of all files, and the command to type."""
    if not leftovers:
        return "nothing to remove"
    files = sum(len(leftover.files) for leftover in leftovers)
    size = sum(leftover.bytes for leftover in leftovers)
    total = f"{files:,} file{'s' * (files != 1)}, {size:,} bytes"
    if removed:
        return f"removed: {total}"
    command = format_command(store, CLEAN, "--yes")
    return f"{total}; to remove: {command}" if command else total
