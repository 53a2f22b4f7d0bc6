"""Tests of the published files: columns, types, rows, metadata, indexes and the manifest."""

import hashlib
import json
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

from puzzle_tablebase.registry import list_puzzles
from puzzle_tablebase.schema import Column
from tests.support.contract import CONTRACT, file_of

TABLES = {table.name: table for stage in list_puzzles() for table in stage.tables}
WITH_INDEX = {name: table for name, table in TABLES.items() if table.index}


@pytest.mark.parametrize("name", CONTRACT)
def test_columns_types_and_nulls(outputs: Path, name: str) -> None:
    columns, rows, nullable = CONTRACT[name]
    frame = pl.scan_parquet(file_of(outputs, name))
    assert [*frame.collect_schema().items()] == [*columns.items()]
    schema = pq.read_schema(file_of(outputs, name))
    assert {field.name for field in schema if field.nullable} == nullable
    counts = frame.null_count().collect().row(0, named=True)
    # tours are null only on boards for which only closed tours were requested
    nulls = {column: count for column, count in counts.items() if count}
    assert {*nulls} == nullable - {"tours"}
    assert frame.select(pl.len()).collect().item() == rows
    if name == "senet":
        assert {nulls[column] for column in ("plies", "dice", "moves", "lines")} == {119}


@pytest.mark.parametrize("name", CONTRACT)
def test_files_are_compressed_and_not_large(outputs: Path, name: str) -> None:
    metadata = pq.read_metadata(file_of(outputs, name))
    used = {
        metadata.row_group(group).column(column).compression
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
    }
    assert used == {"ZSTD"}
    sizes = {"eight": 2, "eight_edge": 1, "senet": 12, "knight_tours_6x6": 45}
    assert file_of(outputs, name).stat().st_size <= sizes.get(name, 1) * 1_000_000


def test_the_metadata_of_a_file_describe_it(outputs: Path) -> None:
    query = "select key, value from parquet_kv_metadata(?)"
    for name in CONTRACT:
        with duckdb.connect() as database:  # which reads no schema of Arrow's
            pairs = database.execute(query, [str(file_of(outputs, name))]).fetchall()
        text = {bytes(key).decode(): bytes(value).decode() for key, value in pairs}
        table, schema = TABLES[name], pq.read_schema(file_of(outputs, name))
        meanings = {f"column.{column.name}": column.meaning for column in table.columns}
        known = {"format_version": "5", "table": name, "meaning": table.meaning, "rank": table.rank}
        assert (known | meanings).items() <= text.items()
        assert {*text} - {*known, *meanings} == {"content", "made_by", "parameters", "ARROW:schema"}
        for column in table.columns:
            assert len(column.meaning) > 5
            assert schema.field(column.name).metadata[b"comment"].decode() == column.meaning


def list_streams(column: Column, values: pl.Series) -> list[bytes]:
    """Return the byte streams of one column's rows, as the content hash defines them."""
    result = []
    if column.nullable:
        result.append(bytes(values.is_not_null().cast(pl.UInt8).to_list()))
    if column.type.startswith("int"):
        numbers = values.fill_null(0).to_numpy()
        little = f"<i{int(column.type[3:]) // 8}"
        return [*result, numbers.astype(little).tobytes()]
    if column.type == "boolean":
        return [*result, bytes(values.cast(pl.UInt8).to_list())]
    text = values.cast(pl.String).fill_null("")
    lengths = text.str.len_bytes().to_numpy().astype("<u4")
    return [*result, lengths.tobytes(), "".join(text.to_list()).encode()]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.nightly) if "6x6" in name else name for name in CONTRACT],
)
def test_the_content_hash_is_that_of_the_values(outputs: Path, name: str) -> None:
    frame, lines = pl.read_parquet(file_of(outputs, name)), ""
    for column in TABLES[name].columns:
        hashes = [hashlib.sha256(part) for part in list_streams(column, frame[column.name])]
        digests = " ".join(each.hexdigest() for each in hashes)
        lines += f"{column.name} {column.type} {digests}\n"
    published = json.loads((outputs / "manifest.json").read_text("utf-8"))["tables"][name][-1]
    assert hashlib.sha256(lines.encode()).hexdigest() == published["content"]


def test_the_manifest_lists_the_files(outputs: Path) -> None:
    manifest = json.loads((outputs / "manifest.json").read_text("utf-8"))
    assert manifest["format_version"] == 5
    assert list(TABLES) == list(CONTRACT)
    assert set(manifest["indexes"]) == {f"{name}.idx" for name in WITH_INDEX}
    for name, (_, rows, _) in CONTRACT.items():
        (entry,) = manifest["tables"][name]
        data = file_of(outputs, name).read_bytes()
        footer = data[-8 - int.from_bytes(data[-8:-4], "little") :]
        assert entry["parquet"] == {
            "file": f"{name}.parquet",
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "footer": {"bytes": len(footer), "sha256": hashlib.sha256(footer).hexdigest()},
        }
        assert entry["rows"] == rows
        assert entry["parameters"] == TABLES[name].recipe.parameters
        assert entry["made_by"].startswith("puzzle-tablebase ")
        if name not in WITH_INDEX:
            assert entry["index"] is None
            continue
        data = (outputs / f"{name}.idx").read_bytes()
        assert entry["index"] == {
            "file": f"{name}.idx",
            "records": {"eight_edge": 362_880}.get(name, rows),
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "digest": data[120:152].hex(),
        }
        assert manifest["indexes"][f"{name}.idx"] == [data[120:152].hex()]
