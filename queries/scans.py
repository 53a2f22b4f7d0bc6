"""A published table, its files checked whole against the manifest before anything is read."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl

from tablebase.errors import TableDamaged, TableMissing, TablePartial
from tablebase.tables.checkpoints import summarize_shards
from tablebase.tables.manifest import Entry, File, find_mismatch, read_manifest
from tablebase.tables.repair import format_rebuild_command, make_open_error
from tablebase.tables.store import Store

if TYPE_CHECKING:
    from tablebase.puzzle import Table


def require_published(store: Store, stage: str, table: Table) -> Entry:
    """What the manifest says of a table; a TableError where it is not published."""
    entry = read_manifest(store).get(table.name)
    if entry is None:
        command = format_rebuild_command(stage, store)
        if shards := summarize_shards(store).get(table.name):
            raise TablePartial(table.name, f"{shards} are there", command)
        raise TableMissing(store.locate(table.file), command)
    return entry


def require_intact(store: Store, stage: str, table: Table) -> Entry:
    """The same; a TableError too where a file of its rows is not so."""
    entry = require_published(store, stage, table)
    for file in entry.files:
        check_file(store, stage, file)
    return entry


def check_file(store: Store, stage: str, file: File) -> None:
    """A TableError where a file is not what the manifest says."""
    full, command = store.locate(file.file), format_rebuild_command(stage, store)
    try:
        problem = find_mismatch(store, file)
    except OSError as error:
        raise make_open_error(full, error, command) from error
    if problem:
        raise TableDamaged(full, problem, command)


def scan_table(store: Store, stage: str, table: Table) -> pl.LazyFrame:
    """The rows of a table that is checked."""
    return scan_rows(store, table, require_intact(store, stage, table))


def scan_rows(store: Store, table: Table, entry: Entry) -> pl.LazyFrame:
    """The rows that a manifest lists, as if they were in one file."""
    return pl.concat([scan_file(store, table, file) for file in entry.files])


def scan_file(store: Store, table: Table, file: File) -> pl.LazyFrame:
    """The rows of a file, numbered as they are in the whole table."""
    rows = pl.scan_parquet(_whole(store, file.file))
    column = table.number_column
    if column is None or not file.begins.get(column.name):
        return rows
    number, broken_off = pl.col(column.name), pl.col(column.within) == file.begins[column.within]
    before = pl.lit(file.begins[column.name])
    return rows.with_columns(number + pl.when(broken_off).then(before).otherwise(0))


def _whole(store: Store, name: str) -> str | io.BytesIO:
    """A file as polars takes it, which dies where a read fails: it would read all of it anyway."""
    try:
        source = store.get_source(name)
        if isinstance(source, str):
            return source
        with source:
            return io.BytesIO(source.read())
    except OSError as error:
        raise make_open_error(store.locate(name), error, "") from error


def find_files(table: Table, entry: Entry, value: str, number: int | None) -> list[File]:
    """The files that may have rows of a value within which rows are numbered, and of a number."""
    column, files = table.number_column, entry.files
    if column is None or not all(file.begins for file in files):
        return files
    (within,) = (matching.values for matching in table.columns if matching.name == column.within)
    begins = [within.index(str(file.begins[column.within])) for file in files]
    at, matching = within.index(value), []
    for file, first, last in zip(files, begins, [*begins[1:], len(within)], strict=True):
        before = int(file.begins[column.name]) if first == at else 0
        inside = number is None or before <= number < before + file.rows
        matching += [file] if first <= at <= last and inside else []
    return matching
