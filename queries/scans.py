"""Scans of published tables; each file is checked against the manifest before it is read."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from tablebase.table_errors import TableDamaged, TableMissing, TablePartial
from tablebase.tables.checkpoints import summarize_shards
from tablebase.tables.manifest import Entry, File, find_mismatch, read_manifest
from tablebase.tables.repair import format_rebuild_command, make_open_error
from tablebase.tables.store import Store

if TYPE_CHECKING:
    import polars as pl

    from tablebase.catalogue import Catalogue
    from tablebase.schema import Table


def require_published(store: Store, catalogue: Catalogue, table: Table) -> Entry:
    """Return the manifest's entry of a table; a TableError if it is not published."""
    entry = read_manifest(store).get(table.name)
    if entry is None:
        shards = summarize_shards(store).get(table.name)
        stage = catalogue.format_build_arguments(table.name, has_shards=bool(shards))
        command = format_rebuild_command(stage, store)
        if shards:
            raise TablePartial(table.name, f"{shards} are there", command)
        raise TableMissing(store.locate(table.file), command)
    return entry


def require_intact(store: Store, catalogue: Catalogue, table: Table) -> Entry:
    """Return the manifest's entry of a table; a TableError if a file does not match it."""
    entry = require_published(store, catalogue, table)
    for file in entry.files:
        check_file(store, catalogue.format_build_arguments(table.name), file)
    return entry


def check_file(store: Store, stage: str, file: File) -> None:
    """Raise a TableError if a file does not match the manifest."""
    path, command = store.locate(file.file), format_rebuild_command(stage, store)
    try:
        problem = find_mismatch(store, file)
    except OSError as error:
        raise make_open_error(path, error, command) from error
    if problem:
        raise TableDamaged(path, problem, command)


def scan_table(store: Store, catalogue: Catalogue, table: Table) -> pl.LazyFrame:
    """Check a table's files and return its rows."""
    return scan_rows(store, table, require_intact(store, catalogue, table))


def scan_rows(store: Store, table: Table, entry: Entry) -> pl.LazyFrame:
    """Return the rows of a manifest's entry, as if they were in one file."""
    import polars as pl

    return pl.concat([scan_file(store, table, file) for file in entry.files])


def scan_file(store: Store, table: Table, file: File) -> pl.LazyFrame:
    """Return the rows of a file, numbered as in the complete table."""
    import polars as pl

    rows = pl.scan_parquet(_open_source(store, file.file))
    column = table.number_column
    if column is None or not file.begins.get(column.name):
        return rows
    # only rows of the group that the previous file began need an offset
    number, is_continued = pl.col(column.name), pl.col(column.within) == file.begins[column.within]
    offset = pl.lit(file.begins[column.name])
    return rows.with_columns(number + pl.when(is_continued).then(offset).otherwise(0))


def _open_source(store: Store, name: str) -> str | io.BytesIO:
    """Return a local file's path, or all bytes of another file.

    polars would read all of such a file anyway, and aborts the process where a read fails.
    """
    try:
        source = store.get_source(name)
        if isinstance(source, str):
            return source
        with source:
            return io.BytesIO(source.read())
    except OSError as error:
        raise make_open_error(store.locate(name), error, "") from error


def find_files(table: Table, entry: Entry, value: str, number: int | None) -> list[File]:
    """Return the files that may have rows of `value`, and of `number` within it.

    `value` is one of the column within which the table's rows are numbered.
    """
    column, files = table.number_column, entry.files
    if column is None or not all(file.begins for file in files):
        return files
    (values,) = (each.values for each in table.columns if each.name == column.within)
    begins = [values.index(str(file.begins[column.within])) for file in files]
    at, matching_files = values.index(value), []
    for file, first, last in zip(files, begins, [*begins[1:], len(values)], strict=True):
        offset = int(file.begins[column.name]) if first == at else 0
        has_number = number is None or offset <= number < offset + file.rows
        matching_files += [file] if first <= at <= last and has_number else []
    return matching_files
