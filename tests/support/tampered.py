"""Copies of the published tables with one false value, which their manifest lists anyway."""

import contextlib
import hashlib
import json
import shlex
import shutil
from collections import ChainMap
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from puzzle_tablebase import FORMAT_VERSION, MADE_BY
from puzzle_tablebase.formats.counts import GoalCounts, StateCounter, sum_up_depths
from puzzle_tablebase.formats.index import (
    BLOCK_BYTES,
    BODY_BYTES,
    CHECKSUM,
    HEADER,
    compute_checksum,
    make_record_type,
)
from puzzle_tablebase.formats.manifest import (
    Entry,
    File,
    Footer,
    add_checksum,
    measure_file,
    measure_footer,
    read_manifest,
)
from puzzle_tablebase.formats.parquet import (
    ContentHash,
    list_sorting_columns,
    make_schema,
)
from puzzle_tablebase.pipeline.proofs.claims import (
    Claim,
    ListedTable,
    Observer,
    Silence,
    TableResult,
    VerifyFailed,
    run_claims,
)
from puzzle_tablebase.pipeline.terminal import format_repair
from puzzle_tablebase.pipeline.verify import list_tables, prove
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import BACKUP, MANIFEST, Folder, Store

Change = Callable[[pa.Table], pa.Table]


class Files(NamedTuple):
    """A change of a table's files, or of its entry in the manifest."""

    edit: Callable[[Path, str], object]


def write_manifest(store: Store, tables: dict[str, Entry]) -> None:
    """List these tables and no others, true or not, in a manifest without a copy.

    Counts that do not add up are left out.
    """
    listed = {name: [_drop_old_counts(to_builtins(entry))] for name, entry in tables.items()}
    Path(store.locate(MANIFEST)).write_bytes(seal_tables(listed))
    Path(store.locate(BACKUP)).unlink(missing_ok=True)


def seal_tables(tables: dict[str, list[dict[str, Any]]]) -> bytes:
    """Return a manifest of versions of tables, given as plain values."""
    indexes = {
        entry["index"]["file"]: [each["index"]["digest"] for each in versions]
        for versions in tables.values()
        for entry in versions
        if entry["index"]
    }
    manifest = {"format_version": FORMAT_VERSION, "made_by": MADE_BY}
    return seal_values({**manifest, "indexes": indexes, "tables": dict(sorted(tables.items()))})


def seal_values(manifest: dict[str, Any]) -> bytes:
    """Return a manifest of any values, with its checksum."""
    return add_checksum(json.dumps(manifest, indent=1).encode())


def _drop_old_counts(entry: dict[str, Any]) -> Any:
    goals = [GoalCounts(**goal) for goal in entry.get("counts", [])]
    if goals and sum(sum(goal.states) + goal.unreachable for goal in goals) % (entry["rows"] or 1):
        del entry["counts"]
    return entry


def link_copy(outputs: Path, tmp_path: Path, *others: Path) -> Path:
    """Copy the published folder as links, with its own manifest."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in chain.from_iterable(source.iterdir() for source in (outputs, *others)):
        if path.suffix in (".parquet", ".idx"):
            (folder / path.name).symlink_to(path)
    shutil.copy(outputs / MANIFEST, folder)
    if others:
        known = [read_manifest(Folder(source)) for source in (outputs, *others)]
        write_manifest(Folder(folder), dict(ChainMap(*known)))
    return folder


def replace_link(path: Path) -> Path:
    """Replace a link by a copy of its file."""
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)
    return path


def flip_byte(path: Path, at: int | None = None) -> None:
    """Change a byte of a file: the one in its middle, or the named one."""
    data = bytearray(replace_link(path).read_bytes())
    data[len(data) // 2 if at is None else at] ^= 1
    path.write_bytes(data)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


FIELDS = ("magic", "version", "zero", "width", "block", "count", "seed", "name", "digest")


def change_header(data: bytes, **fields: object) -> bytes:
    """Return an index with other values in its header, and checksums that agree with them."""
    old = dict(zip(FIELDS, HEADER.unpack_from(data), strict=True))
    return reseal(HEADER.pack(*(old | fields).values()) + data[HEADER.size :])


def rewrite_index(folder: Path) -> None:
    """Give Senet's index another digest, as another build of other rows would."""
    index = folder / "senet.idx"
    data = change_header(index.read_bytes(), digest=bytes(32))
    index.unlink()
    index.write_bytes(data)
    with edit_manifest(folder) as entries:
        entries["senet"]["index"]["digest"] = bytes(32).hex()


def locate_record(data: bytes | bytearray, rank: int) -> int:
    """Return the offset of the first byte of a record."""
    width: int = HEADER.unpack_from(data)[3]
    block, number = divmod(rank, BODY_BYTES // width)
    return BLOCK_BYTES * (1 + block) + number * width


def records(data: bytes | bytearray) -> int:
    """Return the number of records of an index."""
    count: int = HEADER.unpack_from(data)[5]
    return count


def reseal(data: bytes | bytearray) -> bytes:
    """Return an index in which every block has a right checksum, whatever it contains."""
    seed = HEADER.unpack_from(data)[6]
    bodies = [bytes(data[at : at + BODY_BYTES]) for at in range(0, len(data), BLOCK_BYTES)]
    return b"".join(
        body + CHECKSUM.pack(compute_checksum(seed, number, body))
        for number, body in enumerate(bodies)
    )


def describe_file(path: Path) -> dict[str, Any]:
    """Return a manifest's entry for a file of rows."""
    store = Folder(path.parent)
    try:
        with path.open("rb") as file:
            footer = measure_footer(file)
    except OSError:  # the file has none
        footer = Footer(0, "")
    entry: dict[str, Any] = to_builtins(File(path.name, *measure_file(store, path.name), footer))
    return entry


def rename_entry(entry: Entry, name: str) -> Entry:
    """Return an entry like another, for a table of another name."""
    assert entry.parquet
    return replace(entry, parquet=replace(entry.parquet, file=f"{name}.parquet"), index=None)


@contextlib.contextmanager
def edit_manifest(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the tables of a manifest to be changed, and write the manifest afterwards."""
    manifest = json.loads((folder / MANIFEST).read_bytes())
    tables = {name: versions[-1] for name, versions in manifest["tables"].items()}
    yield tables
    write_manifest(Folder(folder), tables)


def vouch(folder: Path, name: str, rows: pa.Table | None = None, content: str = "") -> None:
    """Make the manifest and the index's header agree with the changed table.

    `rows`, `content`: those of the file and their hash, if they are known.
    """
    table, index = open_one(folder, name).definition, folder / f"{name}.idx"
    with edit_manifest(folder) as entries:
        entry = entries[name]
        if table.columns:
            path = folder / table.file
            if rows is None:
                rows = pq.read_table(path)
                content = compute_content(rows, table)
            depths = {"distance", "plies", "steps"} & {column.name for column in table.columns}
            counter = StateCounter(table, *depths or {""})
            for batch in rows.to_batches():
                counter.update(batch)
            entry |= {"parquet": describe_file(path), "rows": rows.num_rows}
            entry["content"] = content
            if counts := sum_up_depths(counter.list_depths()):
                entry["counts"] = to_builtins(counts)
        if entry["index"]:
            data = index.read_bytes()
            blocks = range(BLOCK_BYTES, len(data), BLOCK_BYTES)
            checksums = b"".join(data[at + BODY_BYTES : at + BLOCK_BYTES] for at in blocks)
            digest = hashlib.sha256(checksums)
            data = change_header(data, digest=digest.digest())
            index.unlink()
            index.write_bytes(data)
            measured = {"bytes": len(data), "sha256": sha256(index), "digest": digest.hexdigest()}
            entry["index"] |= measured
            if not table.columns:
                entry["content"] = measured["sha256"]


def rewrite(folder: Path, name: str, change: Change, row_group: int = 1 << 17) -> None:
    """Change the rows of a table; its other files agree with them afterwards."""
    table = open_one(folder, name).definition
    rows = change(pq.read_table(folder / table.file).combine_chunks())
    (folder / table.file).unlink()
    rows = rows.cast(make_schema(table))
    content = compute_content(rows, table)
    write_rows(rows, folder / table.file, table, row_group, content)
    vouch(folder, name, rows, content)


def change_columns(folder: Path, name: str, change: Change) -> None:
    """Change which columns a table's file has; the manifest lists that file."""
    path = folder / open_one(folder, name).definition.file
    rows = change(pq.read_table(path).combine_chunks())
    path.unlink()
    pq.write_table(rows, path, compression="zstd", write_page_checksum=True)
    with edit_manifest(folder) as entries:
        entries[name]["parquet"] = describe_file(path)


def change_records(edit: Callable[[npt.NDArray[np.uint8]], object]) -> Files:
    """Return a change of records, the rows of a matrix of bytes; other files agree with them."""

    def change(folder: Path, name: str) -> None:
        index = replace_link(folder / f"{name}.idx")
        data = bytearray(index.read_bytes())
        width, blocks = HEADER.unpack_from(data)[3], np.frombuffer(data, np.uint8)
        bodies = blocks.reshape(-1, BLOCK_BYTES)[1:, : BODY_BYTES // width * width]
        every = bodies.reshape(-1, width)
        edit(every[: records(data)])
        bodies[:] = every.reshape(bodies.shape)
        index.write_bytes(reseal(data))
        vouch(folder, name)

    return Files(change)


def falsify(
    folder: Path, name: str, change: Change | Files, *evidence: str, row_group: int = 1 << 17
) -> VerifyFailed:
    """Change rows or files, and return the failure of the proof."""
    if isinstance(change, Files):
        change.edit(folder, name)
    else:
        rewrite(folder, name, change, row_group)
    return get_refutation(folder, name, *evidence)


def compute_content(rows: pa.Table, table: Table) -> str:
    """Return the content hash of rows."""
    hasher = ContentHash(table.columns)
    for batch in rows.to_batches():
        hasher.update(batch)
    return hasher.hexdigest()


def write_rows(
    rows: pa.Table,
    path: Path,
    table: Table,
    row_group: int = 1 << 16,
    content: str = "",
    **options: Any,
) -> None:
    """Write rows as a build does, but for other options of the writer, or a false content hash."""
    rows = rows.cast(make_schema(table))
    parameters = json.dumps(table.recipe.parameters, sort_keys=True)
    content = content or compute_content(rows, table)
    text = {"content": content, "made_by": MADE_BY, "parameters": parameters}
    options = {"sorting_columns": list_sorting_columns(table)} | options
    with pq.ParquetWriter(path, rows.schema, **options) as writer:
        writer.write_table(rows, row_group_size=row_group)
        writer.add_key_value_metadata(text)


def cells(*changes: tuple[str, int, object]) -> Change:
    """Return a change of some cells, by column and row."""

    def change(rows: pa.Table) -> pa.Table:
        for column, row, value in changes:
            at = rows.column_names.index(column)
            old = rows.column(at).combine_chunks()
            plain = old.cast(pa.string()) if pa.types.is_dictionary(old.type) else old
            parts = [plain.slice(0, row), pa.array([value], plain.type), plain.slice(row + 1)]
            field = rows.field(at).with_type(plain.type)
            rows = rows.set_column(at, field, pa.concat_arrays(parts))
        return rows

    return change


def cell(column: str, row: int, value: object) -> Change:
    return cells((column, row, value))


def swap_rows(row: int, other: int) -> Change:
    """Return a change that swaps two rows."""

    def change(rows: pa.Table) -> pa.Table:
        order = np.arange(len(rows))
        order[[row, other]] = other, row
        return rows.take(order)

    return change


def without(row: int) -> Change:
    return lambda rows: pa.concat_tables([rows.slice(0, row), rows.slice(row + 1)])


def open_one(folder: Path, name: str) -> ListedTable:
    return next(table for table in list_tables(Folder(folder)) if table.name == name)


def run(
    listed: ListedTable, claims: Generator[Claim, None, Any], observer: Observer | None = None
) -> TableResult:
    """Run claims about a table; what they return are the verdicts of the result."""
    result = TableResult(listed.name)
    result.verdicts = run_claims(listed, claims, result, observer or Silence())
    return result


@dataclass(frozen=True)
class MadeTable(ListedTable):
    """A table whose rows and records are given, independent of its files."""

    rows: pl.DataFrame
    records: npt.NDArray[Any]

    def scan_rows(self, *columns: str) -> pl.LazyFrame:
        rows = self.rows.lazy().with_row_index("row")
        return rows.select("row", *columns) if columns else rows

    def iter_records(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        yield 0, self.records


def make_listed(listed: ListedTable, rows: pa.Table, **fields: npt.NDArray[Any]) -> MadeTable:
    """Return a table like a listed one, with these rows and the fields of these records."""
    frame = pl.DataFrame(rows).with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
    count = len(next(iter(fields.values()))) if fields else 0
    records = np.zeros(count, make_record_type(listed.definition) if fields else "u1")
    for name, values in fields.items():
        records[name] = values
    index = listed.entry.index and replace(listed.entry.index, records=count)
    entry = replace(listed.entry, rows=len(frame), index=index)
    own = listed.table, listed.depth, listed.rules
    return MadeTable(listed.store, listed.name, entry, *own, frame, records)


def prove_one(folder: Path, name: str, *evidence: str) -> TableResult:
    """Prove a table as if only it and the tables of its evidence were published."""
    listed = open_one(folder, name)
    return run(listed, prove(listed, {each: open_one(folder, each) for each in evidence}))


def get_refutation(folder: Path, name: str, *evidence: str) -> VerifyFailed:
    with pytest.raises(VerifyFailed) as caught:
        prove_one(folder, name, *evidence)
    failure = caught.value
    assert (failure.exit_code, failure.claim["table"]) == (3, name)
    assert f"--force --outputs {shlex.quote(str(folder))}" in format_repair(failure)
    return failure


def change_byte(rank: int, change: int, at: int = 0) -> Files:
    """Return a change of one byte of a record, modulo 256."""

    def edit(every: npt.NDArray[np.uint8]) -> None:
        every[rank, at] = (int(every[rank, at]) + change) % 256

    return change_records(edit)


def story(*results: TableResult) -> str:
    """Return a line for each claim that holds."""
    return "".join(
        f"{claim['file']}: {claim.get('rows', claim.get('records'))}: {claim['claim']}\n"
        for result in results
        for claim in result.claims
    )
