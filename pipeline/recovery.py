"""Recovery of published tables from their files when the manifest is damaged or missing.

The manifest's backup copy lists most tables. A table that it does not list as it is now describes
itself: a Parquet file's metadata has the parameters and the content hash, an index's header has the
hash. A table is recovered only if all of its files agree with these.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec.structs import replace

from puzzle_tablebase.errors import NotAFile, StoreError, TableUnreadable, Unreachable
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles import find_owner, list_puzzles
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tables import BACKUP, MADE_BY, MANIFEST
from puzzle_tablebase.tables.access import list_files, make_open_error
from puzzle_tablebase.tables.index_format import (
    BLOCK_BYTES,
    IndexProblem,
    parse_header,
    read_records,
)
from puzzle_tablebase.tables.manifest import (
    TABLE_FILE,
    Depth,
    Entry,
    File,
    IndexEntry,
    StateCounter,
    bears_table,
    facts_of_rows,
    has_manifest,
    is_own_file,
    measure_file,
    sum_up_depths,
)
from puzzle_tablebase.tables.parquet import (
    ContentHash,
    TableWriter,
    compute_description,
    make_schema,
)
from puzzle_tablebase.tables.store import Store

NO_SUCH_TABLE = "no puzzle here has such a table"
UNKNOWN = "unknown"
"""The version that built an index, where no Parquet file and no manifest names it."""


class Recovery(NamedTuple):
    """The recovered tables, and the reasons why others were left out.

    The files of tables that were left out are not changed. `problem`: that of the manifest;
    `is_older`: it is of an older version, whose tables are built anew.
    """

    tables: dict[str, Entry]
    left_out: dict[str, str]
    problem: str = ""
    is_older: bool = False


class NotWhole(Exception):
    """Error for a file whose content contradicts its metadata, or that is not this program's."""


def recover(store: Store, backup: Mapping[str, Entry]) -> Recovery:
    """Find all undamaged tables in a store without its manifest.

    `backup` is what the manifest's backup lists. Raise TableUnreadable for a table's
    file that cannot be read: that is no damage, so nothing may be concluded from it.
    """
    tables = {
        name: entry
        for name, entry in backup.items()
        if all(_is_as_listed(store, file) for file in entry.all_files)
    }
    matches = map(TABLE_FILE.fullmatch, list_files(store))
    names = {match[1] for match in matches if match and match[1].isidentifier()}
    parameters, left_out = dict[str, dict[str, Any]](), dict[str, str]()
    for name in sorted(names - tables.keys()):
        try:
            parameters[name] = _read_parameters(store, name)
        except NotWhole as error:
            left_out[name] = str(error)
        except TableUnreadable:
            if find_owner(name):
                raise
            left_out[name] = f"{name}.parquet cannot be read, and {NO_SUCH_TABLE}"
    known = tables.keys() | parameters.keys()
    for puzzle in list_puzzles():
        for table in puzzle.list_published(known):
            table_parameters = parameters.pop(table.name, None)
            if table_parameters is not None:
                try:
                    tables[table.name] = _read_entry(store, puzzle, table, table_parameters)
                except NotWhole as error:
                    left_out[table.name] = str(error)
    left_out |= dict.fromkeys(parameters, NO_SUCH_TABLE)
    return Recovery(tables, left_out)


def require_own_files(
    store: Store, tables: Iterable[Table], recovery: Recovery | None, *, force: bool
) -> None:
    """Raise StoreError if a build would replace a file that is not this program's, or could not be
    recovered: the manifest, or a file of one of these tables, which no manifest lists.

    By force it replaces what could not be recovered, and never somebody else's files.
    """
    _is_file(store, BACKUP)  # a folder there would stop the build only after its first table
    if recovery and has_manifest(store) and not is_own_file(store, MANIFEST):
        raise _make_foreign_error(store, MANIFEST, "manifest")
    left_out = {} if force or recovery is None or recovery.is_older else recovery.left_out
    for table in tables:
        names = [table.file] * bool(table.columns) + [table.index_file] * bool(table.index)
        present = [name for name in names if _is_file(store, name)]
        for name in present:
            if not bears_table(store, name):
                raise _make_foreign_error(store, name, "table")
            # a build that was killed while it published may have left one file of two
            if present == names and table.name in left_out:
                problem = f"{name} is there, and cannot be recovered: {left_out[table.name]}"
                hint = "Replace it with --force, or choose another folder with --outputs."
                raise StoreError(str(store), problem, hint)


def _make_foreign_error(store: Store, name: str, kind: str) -> StoreError:
    problem = f"{name} is there, and is not a {kind} of this program"
    hint = "Move it away, or choose another folder with --outputs."
    return StoreError(str(store), problem, hint)


def _is_file(store: Store, name: str) -> bool:
    """Return whether a file has this name; raise StoreError if a folder or a device has it."""
    try:
        return store.get_size(name) >= 0
    except NotAFile as error:
        problem = f"{name} {str(error).removeprefix('it ')}"
        raise StoreError(str(store), problem, "Move it away.") from error
    except OSError:
        return False


def _is_as_listed(store: Store, listed: File | IndexEntry) -> bool:
    try:
        with _translate_read_errors(store, listed.file):
            return measure_file(store, listed.file) == {
                "bytes": listed.bytes,
                "sha256": listed.sha256,
            }
    except NotWhole:
        return False


@contextmanager
def _translate_read_errors(store: Store, name: str) -> Iterator[None]:
    """Raise NotWhole for a file that is missing or cannot be decoded, and TableUnreadable if the
    system or the network does not let this process read it."""
    try:
        with store.open(name):  # pyarrow would wait for a named pipe, and hide the system's reason
            pass
        yield
    except (pa.ArrowException, ValueError, RecursionError) as error:
        raise NotWhole(f"{name} cannot be read") from error
    except OSError as error:
        is_damage = error.errno is None and not isinstance(error, Unreachable)
        if is_damage or isinstance(error, FileNotFoundError):
            raise NotWhole(f"{name} cannot be read") from error
        raise make_open_error(store.locate(name), error, "") from error


def _read_parameters(store: Store, name: str) -> dict[str, Any]:
    """Read the parameters of a table from its Parquet file; an index alone has none."""
    if f"{name}.parquet" not in list_files(store, name):
        return {}
    text = _read_metadata(store, name).get("parameters")
    try:
        parameters = json.loads(text or "null")
    except (ValueError, RecursionError):
        parameters = None
    if not isinstance(parameters, dict):
        raise NotWhole(f"{name}.parquet does not say what it was made of")
    return parameters


def _read_metadata(store: Store, name: str) -> dict[str, str]:
    with (
        _translate_read_errors(store, f"{name}.parquet"),
        pq.ParquetFile(store.get_source(f"{name}.parquet")) as file,
    ):
        metadata = file.metadata.metadata or {}
    return {
        key.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for key, value in metadata.items()
    }


def _read_entry(store: Store, puzzle: Puzzle, table: Table, parameters: dict[str, Any]) -> Entry:
    """Read a table's files completely and return the manifest's entry; raise NotWhole if they
    contradict each other."""
    content, made_by, rows, records = "", UNKNOWN, 0, 0
    counter = StateCounter(table, puzzle.depth)
    if table.columns:
        metadata = _read_metadata(store, table.name)
        content, rows = _read_rows(store, table, counter)
        if content != metadata.get("content"):
            raise NotWhole(f"the rows of {table.file} are not those that it says")
        made_by = metadata.get("made_by", UNKNOWN)
    if table.index:
        content, records = _read_index(store, table, content)
        rows = rows if table.columns else records
    is_other = bool(parameters) and parameters != table.recipe.list_parameters()
    if table.rows not in (None, rows) and not is_other:
        raise NotWhole(f"{table.name} has {rows:,} rows, not {table.rows:,}")
    entry = make_entry(store, table, content, rows, records, counter.list_depths())
    return replace(entry, made_by=made_by, parameters=parameters or entry.parameters)


def make_entry(
    store: Store, table: Table, content: str, rows: int, records: int, depths: Mapping[Depth, int]
) -> Entry:
    """Make the manifest's entry for a table, whose files are measured.

    `rows`: of an index alone, its records. `depths`: the states of each goal at each depth.
    """
    has_rows, index = bool(table.columns), table.index_file
    return Entry(
        parquet=File(table.file, **facts_of_rows(store, table.file)) if has_rows else None,
        rows=rows,
        content=content,
        made_by=MADE_BY,
        parameters=table.recipe.list_parameters(),
        description=compute_description(table),
        index=IndexEntry(index, records, **measure_file(store, index)) if table.index else None,
        counts=sum_up_depths(depths, content),
    )


def _read_rows(store: Store, table: Table, counter: StateCounter) -> tuple[str, int]:
    """Decode and count all rows, and return their content hash and number."""
    content_hash, rows = ContentHash(table.columns), 0
    with (
        _translate_read_errors(store, table.file),
        pq.ParquetFile(store.get_source(table.file), page_checksum_verification=True) as file,
    ):
        if not file.schema_arrow.equals(make_schema(table), check_metadata=True):
            raise NotWhole(f"{table.file} is of another version of its table")
        for batch in file.iter_batches(1 << 16):
            content_hash.update(batch)
            counter.update(batch)
            rows += batch.num_rows
    return content_hash.hexdigest(), rows


def _read_index(store: Store, table: Table, content: str) -> tuple[str, int]:
    """Read all records and return the content hash in the header, and their number.

    `content` is the content hash of the rows; if it is empty, the hash of the records is used.
    """
    name, hasher = table.index_file, TableWriter(None, table)
    try:
        with _translate_read_errors(store, name), store.open(name) as file:
            header = parse_header(file.read(BLOCK_BYTES), store.get_size(name), table)
            for records in read_records(file, table, header.count, header.content):
                if not table.columns:
                    hasher.write({field: records[field] for field, _ in table.index})
    except IndexProblem as problem:
        raise NotWhole(f"{name} is not whole: {problem}") from problem
    if header.content.hex() != (content or hasher.content):
        raise NotWhole(f"{name} does not belong to the rows of its table")
    return header.content.hex(), header.count
