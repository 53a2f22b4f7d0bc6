"""The published files: columns, types, rows, what they say of themselves, index and manifest."""

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from pipeline.puzzle import Column, StateSpace, Table
from pipeline.puzzles import puzzle, puzzles
from tests import oracles

TABLES = {table.name: table for registered in puzzles() for table in registered.tables}
WITH_INDEX = {name: table for name, table in TABLES.items() if table.index}

NAMES = {
    side: [oracles.square_name(side, square) for square in range(side**2)] for side in (5, 6, 8)
}


def goal_columns(*goals: str) -> dict[str, pl.DataType]:
    return {
        "state": pl.String(),
        "goal": pl.Enum(goals),
        "distance": pl.UInt8(),
        "best_moves": pl.String(),
        "solutions": pl.UInt8(),
        "blank": pl.UInt8(),
        "manhattan": pl.UInt8(),
        "misplaced": pl.UInt8(),
    }


def tour_columns(side: int) -> dict[str, pl.DataType]:
    return {
        "start": pl.Enum(NAMES[side]),
        "end": pl.Enum(NAMES[side]),
        "number": pl.UInt32(),
        "closed": pl.Boolean(),
        "path": pl.String(),
    }


# what the contract says: columns in order with their types, rows, columns that may be null
CONTRACT: dict[str, tuple[dict[str, pl.DataType], int, set[str]]] = {
    "eight": (goal_columns("corner", "centre"), 362_880, set()),
    "eight_edge": (goal_columns("edge"), 181_440, set()),
    "senet": (
        {
            "position": pl.String(),
            "plies": pl.UInt8(),
            "plies_even": pl.UInt8(),
            "plies_odd": pl.UInt8(),
            "dice": pl.String(),
            "moves": pl.String(),
            "lines": pl.UInt64(),
        },
        756_756,
        {"plies", "plies_even", "plies_odd", "dice", "moves", "lines"},
    ),
    "knight_tours_5x5": (tour_columns(5), 1_728, set()),
    "knight_tours_6x6": (tour_columns(6), 6_637_920, set()),
    "knight_tours_8x8": (tour_columns(8), 2_048, set()),
    "knight_counts": (
        {"board": pl.String(), "start": pl.String(), "tours": pl.UInt64(), "closed": pl.UInt64()},
        sum(files * ranks for files in range(1, 7) for ranks in range(1, 7)),
        set(),
    ),
}


def file_of(outputs: Path, name: str) -> Path:
    return outputs / f"{name}.parquet"


def entries(outputs: Path) -> dict[str, dict[str, object]]:
    tables = json.loads((outputs / "manifest.json").read_text("utf-8"))["tables"]
    assert isinstance(tables, dict)
    return tables


# ---- columns and rows -----------------------------------------------------------------------


def test_the_contract_names_every_table() -> None:
    assert list(TABLES) == list(CONTRACT)


@pytest.mark.parametrize("name", CONTRACT)
def test_columns_and_their_types(outputs: Path, name: str) -> None:
    columns, _, _ = CONTRACT[name]
    found = pl.scan_parquet(file_of(outputs, name)).collect_schema()
    assert list(found.items()) == list(columns.items())


@pytest.mark.parametrize("name", CONTRACT)
def test_rows(outputs: Path, name: str) -> None:
    _, rows, _ = CONTRACT[name]
    assert pq.read_metadata(file_of(outputs, name)).num_rows == rows


@pytest.mark.parametrize("name", CONTRACT)
def test_nulls_are_where_the_contract_has_them(outputs: Path, name: str) -> None:
    columns, _, nullable = CONTRACT[name]
    file = pq.ParquetFile(file_of(outputs, name))
    assert {field.name for field in file.schema_arrow if field.nullable} == nullable
    counts = pl.scan_parquet(file_of(outputs, name)).null_count().collect().row(0, named=True)
    assert {column for column, count in counts.items() if count} == nullable
    assert set(counts) == set(columns)
    if name == "senet":
        never = counts["plies"]
        assert never == 119
        assert counts["dice"] == counts["moves"] == counts["lines"] == never


@pytest.mark.parametrize(
    ("name", "key"), [("eight", "state"), ("eight_edge", "state"), ("senet", "position")]
)
def test_states_are_in_notation_order(outputs: Path, name: str, key: str) -> None:
    states = pl.read_parquet(file_of(outputs, name), columns=[key])[key].to_list()
    assert states == sorted(set(states))


@pytest.mark.parametrize(("name", "key"), [("eight", "state"), ("senet", "position")])
def test_row_number_is_rank(outputs: Path, name: str, key: str) -> None:
    registered = puzzle(name)
    assert isinstance(registered, StateSpace)
    states = pl.read_parquet(file_of(outputs, name), columns=[key])[key]
    for row in [*range(0, len(states), 4999), len(states) - 1]:
        assert registered.rank(states[row]) == row


def test_the_chessboards_row_number_is_told_by_its_ends(outputs: Path) -> None:
    table = pl.read_parquet(file_of(outputs, "knight_tours_8x8"))
    start = table["start"].to_physical().to_list()
    assert start == [row // 32 for row in range(2048)]
    assert table["number"].to_list() == [row % 32 for row in range(2048)]
    ends = table["end"].to_physical().to_list()
    assert all(ends[row] < ends[row + 1] for row in range(2047) if row % 32 != 31)


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


# ---- what a file says of itself -------------------------------------------------------------


def test_a_file_found_alone_explains_itself(outputs: Path) -> None:
    for name, (columns, _, _) in CONTRACT.items():
        said = pq.read_schema(file_of(outputs, name)).metadata
        text = {key.decode(): value.decode() for key, value in said.items()}
        table = TABLES[name]
        assert text["format_version"] == "1"
        assert text["table"] == name
        assert text["meaning"] == table.meaning
        assert text["rank"] == table.rank
        described = {key for key in text if key.startswith("column.")}
        assert described == {f"column.{column}" for column in columns}
        for column in table.columns:
            assert text[f"column.{column.name}"] == column.meaning
            assert len(column.meaning) > 5
        assert not any("time" in key or "host" in key or "date" in key for key in text)


@pytest.mark.parametrize("name", CONTRACT)
def test_duckdb_reads_the_same_words(outputs: Path, name: str) -> None:
    path = str(file_of(outputs, name))
    with duckdb.connect() as database:
        said = database.execute("select key, value from parquet_kv_metadata(?)", [path]).fetchall()
        rows = database.execute("select count(*) from read_parquet(?)", [path]).fetchall()
    text = {bytes(key).decode(): bytes(value) for key, value in said}
    assert text["meaning"].decode() == TABLES[name].meaning
    assert text["format_version"] == b"1"
    assert {f"column.{column}" for column in CONTRACT[name][0]} <= set(text)
    assert rows == [(CONTRACT[name][1],)]


# ---- the content hash, from the words of its description alone ------------------------------


def batches(path: Path) -> Iterator[pl.DataFrame]:
    for batch in pq.ParquetFile(path).iter_batches(1 << 17):
        frame = pl.from_arrow(batch)
        assert isinstance(frame, pl.DataFrame)
        yield frame


def streams(column: Column, values: pl.Series) -> list[bytes]:
    """The streams of one column's rows."""
    found = []
    if column.nullable:
        found.append(bytes(values.is_not_null().cast(pl.UInt8).to_list()))
    if column.kind.startswith("uint"):
        numbers = values.fill_null(0).to_numpy()
        little = {"uint8": "u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8"}[column.kind]
        return [*found, numbers.astype(little).tobytes()]
    if column.kind == "boolean":
        return [*found, bytes(values.cast(pl.UInt8).to_list())]
    text = values.cast(pl.String).fill_null("")
    lengths = text.str.len_bytes().to_numpy().astype("<u4")
    return [*found, lengths.tobytes(), "".join(text.to_list()).encode()]


def content_hash(path: Path, table: Table) -> str:
    hashes: dict[str, list[Any]] = {}
    for frame in batches(path):
        for column in table.columns:
            parts = streams(column, frame[column.name])
            running = hashes.setdefault(column.name, [hashlib.sha256() for _ in parts])
            for stream, part in zip(running, parts, strict=True):
                stream.update(part)
    lines = [
        " ".join([c.name, c.kind, *(stream.hexdigest() for stream in hashes[c.name])]) + "\n"
        for c in table.columns
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@pytest.mark.parametrize("name", CONTRACT)
def test_the_content_hash_is_that_of_the_values(outputs: Path, name: str) -> None:
    assert content_hash(file_of(outputs, name), TABLES[name]) == entries(outputs)[name]["content"]


# ---- manifest -------------------------------------------------------------------------------


def test_the_manifest_says_what_is_there(outputs: Path) -> None:
    manifest = json.loads((outputs / "manifest.json").read_text("utf-8"))
    assert manifest["format_version"] == 1
    for name, (_, rows, _) in CONTRACT.items():
        entry = manifest["tables"][name]
        data = file_of(outputs, name).read_bytes()
        assert entry["file"] == f"{name}.parquet"
        assert entry["rows"] == rows
        assert entry["bytes"] == len(data)
        assert entry["sha256"] == hashlib.sha256(data).hexdigest()
        assert entry["parameters"] == TABLES[name].recipe.parameters()
        assert entry["made_by"].startswith("puzzle-tablebase ")
        if name not in WITH_INDEX:
            assert entry["index"] is None
            continue
        data = (outputs / f"{name}.idx").read_bytes()
        assert entry["index"] == {
            "file": f"{name}.idx",
            "records": (len(data) - 64) // struct.calcsize(TABLES[name].record),
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        assert manifest["indexes"][f"{name}.idx"] == entry["content"]


# ---- indexes, byte by byte ------------------------------------------------------------------

RECORDS = {
    "eight": ("BB", 362_880),
    "eight_edge": ("BB", 362_880),
    "senet": ("BBBBI", 756_756),
    "knight_tours_8x8": ("64B", 2_048),
}


@pytest.mark.parametrize("name", RECORDS)
def test_the_header_of_an_index(outputs: Path, name: str) -> None:
    data = (outputs / f"{name}.idx").read_bytes()
    letters, count = RECORDS[name]
    width = struct.calcsize(f"<{letters}")
    assert data[0:4] == b"PTIX"
    assert struct.unpack("<H", data[4:6]) == (1,)
    assert struct.unpack("<H", data[6:8]) == (width,)
    assert struct.unpack("<I", data[8:12]) == (count,)
    assert data[12:28] == name.encode().ljust(16, b"\0")
    assert data[28:60].hex() == entries(outputs)[name]["content"]
    assert struct.unpack("<I", data[60:64]) == (zlib.crc32(data[:60] + data[64:]),)
    assert len(data) == 64 + width * count


def records(outputs: Path, name: str) -> list[tuple[int, ...]]:
    letters, _ = RECORDS[name]
    data = (outputs / f"{name}.idx").read_bytes()[64:]
    return list(struct.iter_unpack(f"<{letters}", data))


def test_the_indexes_of_the_8_puzzle_hold_its_tables(outputs: Path) -> None:
    columns = ["state", "distance", "solutions"]
    table = pl.read_parquet(file_of(outputs, "eight"), columns=columns)
    assert records(outputs, "eight") == table.drop("state").rows()
    edge = pl.read_parquet(file_of(outputs, "eight_edge"), columns=columns)
    known = {state: (distance, solutions) for state, distance, solutions in edge.iter_rows()}
    found = records(outputs, "eight_edge")
    for state, record in zip(table["state"], found, strict=True):
        assert record == known.get(state, (255, 0)), state


def test_the_index_of_senet_holds_its_table(outputs: Path) -> None:
    table = pl.read_parquet(file_of(outputs, "senet"))
    found = np.array(records(outputs, "senet"), dtype=np.int64).T
    even, last_even, odd, last_odd, lines = found
    assert np.array_equal(even, table["plies_even"].fill_null(255).to_numpy())
    assert np.array_equal(odd, table["plies_odd"].fill_null(255).to_numpy())
    reached = table["plies"].is_not_null().to_numpy()
    assert np.array_equal(lines[reached], table["lines"].drop_nulls().to_numpy())
    assert not lines[~reached].any()
    # the last move of the smallest line ends the column moves: throw * 16 + starting square
    last = np.where(even < odd, last_even, last_odd)
    said = table.select(
        throw=pl.col("dice").str.slice(-1),
        start=pl.col("moves").str.split(" ").list.last().str.extract(r"^(\d+)"),
    ).cast(pl.Int64, strict=False)
    packed = (said["throw"] * 16 + said["start"]).fill_null(0).to_numpy()
    assert np.array_equal(last, packed)


def test_the_index_of_the_chessboard_holds_its_paths(outputs: Path) -> None:
    paths = pl.read_parquet(file_of(outputs, "knight_tours_8x8"), columns=["path"])["path"]
    said = ["".join(NAMES[8][s] for s in record) for record in records(outputs, "knight_tours_8x8")]
    assert said == paths.to_list()
