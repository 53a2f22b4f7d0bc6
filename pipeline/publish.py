"""Publishing: a table's files are written, listed and put in place, and old versions removed.

The manifest lists the new version beside the old ones before a file gets its name, so readers find
a listed version at every moment, and so does a build after a kill.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from threading import Lock

from puzzle_tablebase.formats import MADE_BY
from puzzle_tablebase.formats.encoder import encode_table
from puzzle_tablebase.formats.manifest import (
    Entry,
    File,
    IndexEntry,
    add_version,
    bears_table,
    drop_versions,
    find_in_place,
    measure_footer,
    read_versions,
    remove_entries,
)
from puzzle_tablebase.pipeline.searches import find_code, find_counted_column
from puzzle_tablebase.pipeline.tasks import TableData
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import WORK
from puzzle_tablebase.stores.access import list_files
from puzzle_tablebase.stores.checkpoints import list_checkpoint_files
from puzzle_tablebase.stores.folder import Store

_changing_manifest = Lock()
"""Held by the thread of a build that changes the manifest."""


def list_table_files(table: Table) -> list[str]:
    """List the names of a table's files: that of its rows and its index, as far as it has them."""
    return [table.file] * bool(table.columns) + [table.index_file] * bool(table.index)


def publish_table(
    store: Store, puzzle: Puzzle, table: Table, data: TableData, old: Collection[Entry]
) -> Entry:
    """Write a table and its index, put them in place, and drop its old versions."""
    names, counted = list_table_files(table), find_counted_column(table, puzzle)
    with store.write_files(*names) as files, closing(data.rows), closing(data.records):
        encoded = encode_table(
            files[0] if table.columns else None,
            files[len(names) - 1] if table.index else None,
            table, *data[:3], counted, data.depths,
        )  # fmt: skip
        made = dict(zip(names, files.finish(), strict=True))
        parquet, index = None, None
        if table.columns:
            with files.reopen(0) as written:
                parquet = File(table.file, *made[table.file], measure_footer(written))
        if table.index:
            index = IndexEntry(table.index_file, data.record_count, *made[table.index_file])
        entry = Entry(
            parquet=parquet,
            rows=encoded.rows,
            content=encoded.content,
            made_by=MADE_BY,
            code=find_code(table, puzzle).digest,
            parameters=table.recipe.parameters,
            index=index,
            counts=encoded.counts,
        )
        with _changing_manifest:
            add_version(store, table.name, entry)
        files.publish()
    with _changing_manifest:
        drop_versions(store, table.name, old, entry)
    _remove_unlisted(store, table.name, entry, old)
    if store.has_locks:  # elsewhere another build of the same table may need them
        remove_checkpoints(store, [table.name])
    return entry


def has_leftovers(store: Store, tables: Iterable[tuple[Puzzle, Table]]) -> bool:
    """Return whether a killed build has left something that a build of these tables tidies up."""
    if not store.has_locks:
        return False
    published = read_versions(store)
    return bool(list_files(store, WORK)) or any(
        len(versions := published.get(table.name, [])) > 1
        or find_unlisted_files(store, table.name, *versions)
        for _, table in tables
    )


def settle(store: Store, name: str, versions: Sequence[Entry]) -> None:
    """Keep the version of a table whose files are in place, and no checkpoints.

    Only where the lock shows that no other build is about to put another one there.
    """
    if not store.has_locks:
        return
    in_place = find_in_place(store, versions)
    if in_place and versions[1:]:
        drop_versions(store, name, versions, in_place)
    _remove_unlisted(store, name, in_place or versions[-1], versions)
    remove_checkpoints(store, [name])


def remove_tables(store: Store, names: Collection[str]) -> None:
    """Remove tables from the manifest, then their files and checkpoints."""
    with store.lock():
        published = read_versions(store)
        if published.keys() & names:
            remove_entries(store, names)
        for name in names:
            _remove_unlisted(store, name, None, published.get(name, []))
        remove_checkpoints(store, names)


def remove_checkpoints(store: Store, names: Iterable[str]) -> list[str]:
    """Remove the checkpoints of tables; return the names of the files. The name "" is all tables'.

    The caller holds the store's lock.
    """
    files = [file for name in names for file in list_checkpoint_files(store, name)]
    for file in files:
        store.remove(file)
    return files


def find_unlisted_files(store: Store, name: str, entry: Entry | None = None) -> list[str]:
    """List a table's files that are not in its entry, and that this program wrote."""
    names = {f"{name}.parquet", f"{name}.idx"}.difference(_list_names([entry] if entry else []))
    unlisted = names.intersection(list_files(store, f"{name}.")) if names else set[str]()
    return [file for file in sorted(unlisted) if bears_table(store, file)]


def _list_names(versions: Iterable[Entry]) -> set[str]:
    return {file.file for entry in versions for file in entry.all_files}


def _remove_unlisted(store: Store, name: str, entry: Entry | None, old: Iterable[Entry]) -> None:
    """Remove a table's files that are not in its entry; those of old versions damaged or not."""
    files = _list_names(old).union(find_unlisted_files(store, name, entry))
    for file in sorted(files - _list_names([entry] if entry else [])):
        store.remove(file)
