"""The rows of a table, read and compared with the definition of the table and the manifest."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.tasks import run_in_threads
from pipeline.verify.claims import ClaimCheck, ListedTable, Rows
from tablebase.schema import Table
from tablebase.tables.manifest import Entry, measure_footer
from tablebase.tables.parquet import (
    ContentHash,
    compute_description,
    list_sorting_columns,
    make_schema,
)

Result = TypeVar("Result")


def decode_rows(
    listed: ListedTable, transform: Callable[[Rows], Result]
) -> Iterator[tuple[Rows, Result]]:
    """Yield a table's rows in order, one row group at a time, each with its transformed result.

    As many row groups are decoded in parallel as there are processors. After the last one, the
    content hash and the file's metadata are compared with the manifest.
    """
    table, entry = listed.definition, listed.entry
    footer, groups = _list_groups(listed)
    content, count = ContentHash(table.columns), 0
    with listed.begin_claim(
        "every row decodes, and the content hash matches the manifest"
    ) as check:

        def decode_group(number: int, begin: int) -> tuple[Rows, Result]:
            rows = _read_group(check, table, footer, number, begin)
            return rows, transform(rows)

        for rows, result in run_in_threads(decode_group, groups):
            content.update(rows.batch)
            count += len(rows)
            yield rows, result
        check.require_equal("rows", count, entry.rows)
        check.require_equal("content hash", content.hexdigest(), entry.content)
        _check_metadata(check, footer.metadata or {}, entry)


def read_rows(listed: ListedTable) -> Rows:
    """Return all of a table's rows in one batch."""
    empty = pa.RecordBatch.from_pylist([], make_schema(listed.definition))
    return Rows(pa.concat_batches([empty, *(rows.batch for rows, _ in decode_rows(listed, len))]))


def _list_groups(listed: ListedTable) -> tuple[pq.FileMetaData, list[tuple[int, int]]]:
    """Compare the footer with the table's definition; return it, and the row groups.

    A row group is its number and that of its first row.
    """
    table, entry = listed.definition, listed.entry
    groups, begin = list[tuple[int, int]](), 0
    text = "schema, all metadata and number of rows match the definition of the table"
    with listed.begin_claim(text) as check:
        source = listed.store.get_source(listed.file)
        with translate_decode_errors(check), pq.ParquetFile(source) as file:
            schema, footer = file.schema_arrow, file.metadata
            measured, expected = measure_footer(listed.store, listed.file), listed.parquet.footer
            check.require_equal("bytes of the footer", measured.bytes, expected.bytes)
            check.require_equal("SHA-256 of the footer", measured.sha256, expected.sha256)
        texts = (
            version.to_string(truncate_metadata=False) for version in (schema, make_schema(table))
        )
        for lines in zip_longest(*map(str.splitlines, texts)):
            check.require_equal("schema:", *lines)
        check.require_equal("rows", footer.num_rows, entry.rows)
        for number in range(footer.num_row_groups):
            if rows := footer.row_group(number).num_rows:
                groups.append((number, begin))
                begin += rows
        check.require_equal("parameters", entry.parameters, table.recipe.list_parameters())
        check.require_equal("description", entry.description, compute_description(table))
    return footer, groups


def _check_metadata(check: ClaimCheck, metadata: dict[bytes, bytes], entry: Entry) -> None:
    """Check the metadata about its build in a file, from which a lost manifest is restored."""
    expected = {
        "parameters": json.dumps(entry.parameters, sort_keys=True),
        "made_by": entry.made_by,
        "content": entry.content,
    }
    for key, value in expected.items():
        text = metadata.get(key.encode(), b"").decode("utf-8", "replace")
        check.require_equal(f"metadata {key}:", text, value)


def _read_group(
    check: ClaimCheck, definition: Table, footer: pq.FileMetaData, number: int, begin: int
) -> Rows:
    """Return the rows of a row group, once they are as its footer says.

    Readers skip row groups by the footer's statistics, so wrong ones would hide rows.
    """
    group, source = footer.row_group(number), check.store.get_source(check.claim.file)
    with (
        translate_decode_errors(check),
        pq.ParquetFile(source, metadata=footer) as parquet_file,
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
