"""The rows of a table, read and compared with the definition of the table and the manifest."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.tasks import run_in_threads
from pipeline.verify.claims import ClaimCheck, Rows
from pipeline.verify.listed_table import ListedTable
from tablebase.schema import Table
from tablebase.tables.content_hash import ContentHash, combine_hashes
from tablebase.tables.manifest import (
    Entry,
    File,
    measure_footer,
)
from tablebase.tables.parquet import compute_description, list_sorting_columns, make_schema

Result = TypeVar("Result")


def decode_rows(
    listed: ListedTable, transform: Callable[[Rows], Result]
) -> Iterator[tuple[Rows, Result]]:
    """Yield a table's rows in order, one row group at a time, each with its transformed result.

    As many row groups are decoded in parallel as there are processors. After the last one, the
    content hash and the files' metadata are compared with the manifest.
    """
    (groups, metadata), table, files = _list_groups(listed), listed.definition, listed.entry.files
    contents = {file.file: ContentHash(table.columns) for file in files}
    begins: dict[str, dict[str, Any]] = {}
    number_column = table.number_column if len(files) > 1 else None
    rows_before, count = Counter[str](), 0
    with listed.begin_claim(
        "every row decodes, and the content hash matches the manifest"
    ) as check:

        def decode_group(file: str, *group: Any) -> tuple[str, Rows, Result]:
            rows = _read_group(check, table, file, *group)
            return file, rows, transform(rows)

        for file, rows, result in run_in_threads(decode_group, groups):
            contents[file].update(rows.batch)
            count += len(rows)
            yield rows, result
            if number_column:
                values = rows.column(number_column.within)
                value = values[0].as_py()
                begins.setdefault(
                    file, {number_column.within: value, number_column.name: rows_before[value]}
                )
                for tally in pc.value_counts(values).to_pylist():
                    rows_before[tally["values"]] += tally["counts"]
        check.require_equal("rows", count, listed.entry.rows)
        for file_entry in files:
            check.for_file(file_entry.file).require_equal(
                "begins with", file_entry.begins, begins.get(file_entry.file, {})
            )
        content = combine_hashes([content.hexdigest() for content in contents.values()])
        check.require_equal("content hash", content, listed.entry.content)
        for file_entry in files:
            digest = contents[file_entry.file].hexdigest()
            _check_metadata(
                check.for_file(file_entry.file), metadata[file_entry.file], listed.entry, digest
            )


def read_rows(listed: ListedTable) -> Rows:
    """Return all of a table's rows in one batch."""
    empty = pa.RecordBatch.from_pylist([], make_schema(listed.definition))
    return Rows(pa.concat_batches([empty, *(rows.batch for rows, _ in decode_rows(listed, len))]))


def _check_footer(check: ClaimCheck, entry: File) -> None:
    footer = measure_footer(check.store, entry.file)
    check.require_equal("bytes of the footer", footer.bytes, entry.footer.bytes)
    check.require_equal("SHA-256 of the footer", footer.sha256, entry.footer.sha256)


Groups = list[tuple[str, pq.FileMetaData, int, int]]
Metadata = dict[bytes, bytes]


def _list_groups(listed: ListedTable) -> tuple[Groups, dict[str, Metadata]]:
    """Compare the footers with the table's definition; return the row groups and the metadata.

    A row group is a file's name, its footer, the group's number and its first row. The metadata is
    that of each file.
    """
    table, entry = listed.definition, listed.entry
    groups, metadata = Groups(), dict[str, Metadata]()
    text = "schema, all metadata and number of rows match the definition of the table"
    with listed.begin_claim(text) as table_check:
        for file_entry in entry.files:
            check = table_check.for_file(file_entry.file)
            source = listed.store.get_source(file_entry.file)
            with translate_decode_errors(check), pq.ParquetFile(source) as file:
                schema, footer = file.schema_arrow, file.metadata
                _check_footer(check, file_entry)
            texts = (
                version.to_string(truncate_metadata=False)
                for version in (schema, make_schema(table))
            )
            for lines in zip_longest(*map(str.splitlines, texts)):
                check.require_equal("schema:", *lines)
            check.require_equal("rows", footer.num_rows, file_entry.rows)
            metadata[file_entry.file] = footer.metadata or {}
            begin = file_entry.first
            for number in range(footer.num_row_groups):
                if rows := footer.row_group(number).num_rows:
                    groups.append((file_entry.file, footer, number, begin))
                    begin += rows
        table_check.require_equal("parameters", entry.parameters, table.recipe.list_parameters())
        table_check.require_equal("description", entry.description, compute_description(table))
    return groups, metadata


def _check_metadata(check: ClaimCheck, metadata: Metadata, entry: Entry, content: str) -> None:
    """Check the metadata about its build in a file, from which a lost manifest is restored."""
    expected = {
        "parameters": json.dumps(entry.parameters, sort_keys=True),
        "made_by": entry.made_by,
        "content": content,
    }
    for key, value in expected.items():
        text = metadata.get(key.encode(), b"").decode("utf-8", "replace")
        check.require_equal(f"metadata {key}:", text, value)


def _read_group(
    table_check: ClaimCheck,
    definition: Table,
    file: str,
    footer: pq.FileMetaData,
    number: int,
    begin: int,
) -> Rows:
    """Return the rows of a row group, once they are as its footer says.

    Readers skip row groups by the footer's statistics, so wrong ones would hide rows.
    """
    check, group = table_check.for_file(file), footer.row_group(number)
    with (
        translate_decode_errors(check),
        pq.ParquetFile(table_check.store.get_source(file), metadata=footer) as parquet_file,
    ):
        table = parquet_file.read_row_group(number, use_threads=False)
        (rows,) = table.combine_chunks().to_batches()
        rows.validate(full=True)
        check.require_equal("rows in a group", group.num_rows, rows.num_rows)
        check.require_equal(
            "sorting columns", group.sorting_columns, tuple(list_sorting_columns(definition))
        )
        for column, name in enumerate(rows.schema.names):
            chunk, values = group.column(column), rows.column(name)
            plain = values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values
            expected = {"path_in_schema": name, "num_values": len(values), "distinct_count": None}
            expected |= {"null_count": values.null_count, **pc.min_max(plain).as_py()}
            actual = chunk.to_dict()
            for what, value in {**(actual["statistics"] or {}), **actual}.items():
                if what in expected and value is not None:
                    check.require_equal(f"{name}: {what}", value, expected[what])
            check.require_equal(
                "indexes of pages", chunk.has_column_index or chunk.has_offset_index, False
            )
    return Rows(rows, begin)


@contextlib.contextmanager
def translate_decode_errors(check: ClaimCheck) -> Iterator[None]:
    """Refute a claim if Arrow cannot decode the file."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        check.refute(str(error), "rows that can be decoded")
