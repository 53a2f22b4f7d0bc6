"""Publishing: write the files of a table, list them, name them, and remove old versions.

The manifest lists the new version beside the old ones before a file gets its name, so readers find
a listed version at every moment, and so does a build after a kill.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from msgspec import MsgspecError, json

from puzzle_tablebase import MADE_BY
from puzzle_tablebase.errors import NotAFile, StoreError
from puzzle_tablebase.formats.manifest import (
    Entry,
    File,
    IndexEntry,
    add_version,
    drop_versions,
    find_current,
    is_table_file,
    measure_footer,
    measure_stream,
    read_versions,
    remove_entries,
)
from puzzle_tablebase.pipeline.kinds import find_code, find_counted_column
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import PARTIAL_COPY_SUFFIX, WORK, Folder, Store, list_files
from puzzle_tablebase.stores.checkpoints import list_checkpoint_files

if TYPE_CHECKING:
    from puzzle_tablebase.formats.encoder import TableData
    from puzzle_tablebase.stores.bucket import Bucket

manifest_lock = Lock()
"""Held by the thread of a build or a copy that changes the manifest."""


def list_table_files(table: Table) -> list[str]:
    """List the names of a table's files: its rows and its index, if it has them."""
    return [table.file] * bool(table.columns) + [table.index_file] * bool(table.index)


def publish_table(
    store: Folder, puzzle: Puzzle, table: Table, data: TableData, old: Collection[Entry]
) -> Entry:
    """Write a table and its index, give them their names, and drop its old versions."""
    # `status` and a build with nothing to do encode no table: they need no polars
    from puzzle_tablebase.formats.encoder import HiddenFile, encode_table

    names = list_table_files(table)
    last = len(names) - 1
    with store.write_files(*names) as files:
        encoded = encode_table(
            files[0] if table.columns else None,
            files[last] if table.index else None,
            table,
            data,
            find_counted_column(table, puzzle),
            HiddenFile(store, files.get_hidden_name(last)),
        )
        files.finish()
        parquet, index = None, None
        if table.columns:
            with files.reopen(0) as file:
                parquet = File(table.file, *measure_stream(file), measure_footer(file))
        if table.index:
            with files.reopen(last) as file:
                measured = measure_stream(file)
            index = IndexEntry(table.index_file, data.record_count, *measured, encoded.digest)
        entry = Entry(
            parquet=parquet,
            rows=encoded.rows,
            content=encoded.content or (index.sha256 if index else ""),
            made_by=MADE_BY,
            code=find_code(table, puzzle).digest,
            parameters=table.recipe.parameters,
            index=index,
            counts=encoded.counts,
        )
        with manifest_lock:
            add_version(store, table.name, entry)
        files.publish()
    with manifest_lock:
        drop_versions(store, table.name, old, entry)
    remove_unlisted(store, table.name, entry, old)
    remove_checkpoints(store, [table.name])
    return entry


def has_leftovers(store: Folder, tables: Iterable[tuple[Puzzle, Table]]) -> bool:
    """Return whether there are files of a killed build that a build of these tables removes."""
    published = read_versions(store)
    return bool(list_files(store, WORK)) or any(
        len(versions := published.get(table.name, [])) > 1
        or find_unlisted_files(store, table.name, *versions)
        for _, table in tables
    )


def settle(store: Folder, name: str, versions: Sequence[Entry]) -> None:
    """Keep the current version of a table, and no checkpoints.

    The caller holds the lock, so no other build is about to publish another.
    """
    current = find_current(store, versions)
    if current and versions[1:]:
        drop_versions(store, name, versions, current)
    remove_unlisted(store, name, current or versions[-1], versions)
    remove_checkpoints(store, [name])


def remove_tables(store: Folder, names: Collection[str]) -> None:
    """Remove tables from the manifest, then their files and checkpoints."""
    with store.lock():
        published = read_versions(store)
        if published.keys() & names:
            remove_entries(store, names)
        for name in names:
            remove_unlisted(store, name, None, published.get(name, []))
        remove_checkpoints(store, names)


def remove_checkpoints(store: Folder, names: Iterable[str]) -> list[str]:
    """Remove the checkpoints of tables; return the names of the files.

    The name "" stands for all tables, and for the partial files of killed copies.

    The caller holds the store's lock.
    """
    names = [*names]
    files = [file for name in names for file in list_checkpoint_files(store, name)]
    if "" in names:
        files += [file for file in list_files(store, WORK) if file.endswith(PARTIAL_COPY_SUFFIX)]
    for file in files:
        store.remove(file)
    return files


def find_unlisted_files(store: Store, name: str, entry: Entry | None = None) -> list[str]:
    """List files of a table that this program wrote and that are not in its entry."""
    names = {f"{name}.parquet", f"{name}.idx"}.difference(_list_names([entry] if entry else []))
    unlisted = names.intersection(list_files(store, f"{name}.")) if names else set[str]()
    return [file for file in sorted(unlisted) if is_table_file(store, file)]


def _list_names(versions: Iterable[Entry]) -> set[str]:
    return {file.file for entry in versions for file in entry.all_files}


def remove_unlisted(
    store: Folder | Bucket, name: str, entry: Entry | None, old: Iterable[Entry]
) -> None:
    """Remove a table's files that are not in its entry, damaged ones of old versions too."""
    files = _list_names(old).union(find_unlisted_files(store, name, entry))
    for file in sorted(files - _list_names([entry] if entry else [])):
        store.remove(file)


def require_own_files(store: Store, names: Iterable[str]) -> None:
    """Raise StoreError if another program wrote one of these files."""
    for name in names:
        if _exists(store, name) and not is_table_file(store, name):
            foreign = f"{name} is there, and is not a file of this program"
            raise StoreError(str(store), foreign, "Move it away, or choose another folder.")


def _exists(store: Store, name: str) -> bool:
    """Return whether anything has this name: a file, a folder or a device."""
    try:
        store.get_size(name)
    except NotAFile:
        return True
    except OSError:
        return False
    return True


# ---- copied tables ------------------------------------------------------------------------------
# `precompute` rebuilds these only by force; their manifests stay the same bytes as the source's

COPIES = ".copies.json"
"""A hidden file: the digest of the code that made each table that was copied into the folder."""


def note_copy(store: Folder, name: str, entry: Entry) -> None:
    """Note that a table was copied; the caller holds the lock."""
    copies = read_copies(store)
    if copies.get(name) != entry.code:
        listed = dict(sorted((copies | {name: entry.code}).items()))
        store.write(COPIES, json.format(json.encode(listed), indent=1) + b"\n")


def read_copies(store: Store) -> dict[str, str]:
    """Read the digest of the code of each copied table, by name; none if the file is damaged."""
    try:
        return json.decode(store.read(COPIES), type=dict[str, str])
    except (OSError, MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
