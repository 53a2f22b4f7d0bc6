"""Rows of a list that a single lookup cannot read, though the manifest lists just these bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.shell import run_here
from tests.support.tampered import describe_file, edit_manifest, flip_byte

TABLE = "knight_tours_5x5"
QUERY = ("query", "knight", "a1", "--board", "5x5", "--number", "3")
QUERY_BEYOND = (*QUERY[:-1], "9999")
"""This number has no tour: the tours of the start are counted."""
NOT_UTF8 = b"\xff\xfe"


def spoil_texts(texts: pa.Array) -> pa.Array:
    """Return texts of which each begins with bytes that are not UTF-8."""
    spoiled = [NOT_UTF8 + text.encode()[2:] for text in texts.to_pylist()]
    return pa.Array.from_buffers(pa.string(), len(texts), pa.array(spoiled).buffers())


def spoil_paths(rows: pa.Table) -> pa.Table:
    paths = rows["path"].combine_chunks()
    return rows.set_column(rows.column_names.index("path"), "path", spoil_texts(paths))


def spoil_starts(rows: pa.Table) -> pa.Table:
    """Spoil the words of an enum: no row has others."""
    starts = rows["start"].combine_chunks()
    spoiled = pa.DictionaryArray.from_arrays(
        starts.indices, spoil_texts(starts.dictionary), safe=False
    )
    return rows.set_column(rows.column_names.index("start"), "start", spoiled)


def forge(folder: Path, change: Callable[[pa.Table], pa.Table], **options: object) -> Path:
    """Change the rows of the list, and write them as pyarrow does with these options."""
    path = folder / f"{TABLE}.parquet"
    rows = change(pq.read_table(path))
    path.unlink()
    pq.write_table(rows, path, **options)
    publish(folder)
    return path


def publish(folder: Path) -> None:
    with edit_manifest(folder) as entries:
        entries[TABLE]["parquet"] = describe_file(folder / f"{TABLE}.parquet")


def require_damage(folder: Path, *words: str) -> None:
    """Require that a question has no answer, and one sentence that names the file."""
    completed = run_here(*words, "--outputs", str(folder))
    assert (completed.code, completed.out) == (3, ""), completed
    assert f"{TABLE}.parquet is damaged: " in completed.err


@pytest.mark.parametrize("change", [spoil_paths, spoil_starts])
@pytest.mark.parametrize("is_checked", [True, False])
def test_texts_that_are_not_utf8(
    copy: Path, change: Callable[[pa.Table], pa.Table], is_checked: bool
) -> None:
    forge(copy, change, compression="zstd", write_page_checksum=is_checked)
    require_damage(copy, *QUERY)
    if change is spoil_starts:
        require_damage(copy, *QUERY_BEYOND)


@pytest.mark.parametrize("column", ["start", "number", "path"])
@pytest.mark.parametrize("compression", ["zstd", "none"])
@pytest.mark.parametrize("byte", [0, 2, 9, 30])
def test_pages_that_are_broken(copy: Path, column: str, compression: str, byte: int) -> None:
    """Change a byte of a column's first page, of its header or its values, without a checksum."""
    path = forge(copy, lambda rows: rows, compression=compression, write_page_checksum=False)
    right = run_here(*QUERY, "--outputs", str(copy))
    assert right.code == 0
    group = pq.read_metadata(path).row_group(0)
    chunk = next(
        each
        for each in map(group.column, range(group.num_columns))
        if each.path_in_schema == column
    )
    flip_byte(path, (chunk.dictionary_page_offset or chunk.data_page_offset) + byte)
    publish(copy)
    completed = run_here(*QUERY, "--outputs", str(copy))
    if completed.code or completed.out != right.out:
        require_damage(copy, *QUERY)
