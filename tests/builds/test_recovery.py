"""Tests of manifests that are damaged, lost, withheld or of another version, and of backups."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from puzzle_tablebase.errors import (
    OutputError,
    StoreError,
    TableUnreadable,
    TableVersionError,
    Unreachable,
)
from puzzle_tablebase.output import write_output
from puzzle_tablebase.pipeline.build import build
from puzzle_tablebase.pipeline.plan import Request, plan_build
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_count_table
from puzzle_tablebase.tables import BACKUP, MANIFEST, REPLACED
from puzzle_tablebase.tables.index_format import BLOCK_BYTES
from puzzle_tablebase.tables.manifest import (
    amend_manifest,
    read_backup,
    read_manifest,
    replace_manifest,
    seal,
)
from puzzle_tablebase.tables.store import PART_SUFFIX, Folder
from tests.support.build_recorder import Recorder, Withheld, build_tables, contents
from tests.support.lost_manifests import (
    ALL_TABLES,
    COUNTS,
    CYCLES,
    ROWS,
    TOURS,
    copy_published,
    damage_both,
    damage_manifest,
    read_tree,
    remove_both,
    remove_manifest,
)
from tests.support.shell import Cli
from tests.support.tampered import Change, flip_byte, reseal


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """Return a folder of small tables, each of another kind."""
    return copy_published(tmp_path_factory, tmp_path)


LOSSES = [remove_manifest, damage_manifest, remove_both, damage_both]


@pytest.mark.parametrize("lose", LOSSES)
@pytest.mark.parametrize("force", [False, True])
def test_every_intact_table_is_listed_again(
    lose: Callable[[Path], None], force: bool, folder: Path
) -> None:
    before, listed = contents(folder), read_manifest(Folder(folder))
    lose(folder)
    report = build_tables(folder, KNIGHT, TOURS, force=force)
    assert report.reasons == {TOURS.name: "forced" if force else "up to date"}
    problem, tables, left_out = report.recovery or ("", [], {})
    assert problem.startswith(str(folder / MANIFEST))
    assert (tables, left_out) == (sorted(listed), {})
    recovered = read_manifest(Folder(folder))
    assert [(name, entry.content) for name, entry in recovered.items()] == [
        (name, entry.content) for name, entry in listed.items()
    ]
    assert recovered[COUNTS.name] == listed[COUNTS.name], "with the board that was asked for"
    if "both" not in lose.__name__:
        assert contents(folder) == before
    assert read_backup(Folder(folder)) == recovered


def test_the_backup_may_be_one_build_behind(folder: Path) -> None:
    """Restore the older copy, as after a kill between the two writes; the table is newer."""
    behind = (folder / BACKUP).read_bytes()
    larger_counts = make_count_table(((2, 2), (3, 4), (3, 5), (5, 9)))
    build_tables(folder, KNIGHT, larger_counts)
    listed = read_manifest(Folder(folder))
    (folder / BACKUP).write_bytes(behind)
    damage_manifest(folder)
    assert build_tables(folder, KNIGHT, TOURS).recovery is not None
    assert read_manifest(Folder(folder)) == listed


def flip(name: str, at: int) -> Callable[[Path], object]:
    return lambda folder: flip_byte(folder / name, at)


def rewrite(
    name: str, change: Change = lambda rows: rows, **metadata: str
) -> Callable[[Path], object]:
    """Return a function that rewrites a Parquet file with other rows or metadata."""

    def rewrite_file(folder: Path) -> None:
        file = pq.ParquetFile(folder / name)
        old = {key: file.metadata.metadata[key.encode()] for key in ("content", "parameters")}
        rows = change(file.read().replace_schema_metadata(file.schema_arrow.metadata))
        with pq.ParquetWriter(folder / name, rows.schema) as writer:
            writer.write(rows)
            writer.add_key_value_metadata(old | metadata)

    return rewrite_file


def cut(length: int) -> Callable[[Path], object]:
    return lambda folder: os.truncate(folder / CYCLES.index_file, length)


def copy_another_index(folder: Path) -> None:
    shutil.copy(folder / CYCLES.index_file, folder / ROWS.index_file)


def change_record(folder: Path) -> None:
    """Change one record and its block's checksum, as if the records were of another build."""
    path = folder / CYCLES.index_file
    flip_byte(path, BLOCK_BYTES + 2)
    path.write_bytes(reseal(path.read_bytes()))


SPOILS: list[tuple[str, Callable[[Path], object], str]] = [
    (TOURS.name, flip(TOURS.file, 40), "cannot be read"),
    (TOURS.name, flip(TOURS.file, -3), "cannot be read"),
    (TOURS.name, rewrite(TOURS.file, content="0" * 64), "not those"),
    (TOURS.name, rewrite(TOURS.file, parameters="[]"), "made of"),
    (TOURS.name, rewrite(TOURS.file, parameters="{"), "made of"),
    (TOURS.name, rewrite(TOURS.file, parameters="[" * 100_000), "made of"),
    (ROWS.name, rewrite(ROWS.file, lambda rows: rows.slice(1)), "not those"),
    (ROWS.name, lambda folder: (folder / ROWS.index_file).unlink(), "cannot be read"),
    (ROWS.name, flip(ROWS.index_file, 4), "format version"),
    (ROWS.name, flip(ROWS.index_file, 40), "block 0"),
    (ROWS.name, flip(ROWS.index_file, BLOCK_BYTES + 7), "block 1"),
    (ROWS.name, copy_another_index, "another table"),
    (CYCLES.name, flip(CYCLES.index_file, 24), "block 0"),
    (CYCLES.name, flip(CYCLES.index_file, -1), "block 4"),
    (CYCLES.name, change_record, "does not belong to the rows"),
    (CYCLES.name, cut(100), "100 bytes are too few"),
    (CYCLES.name, cut(BLOCK_BYTES), "do not match its"),
]


@pytest.mark.parametrize(("name", "spoil", "reason"), SPOILS, ids=range(len(SPOILS)))
def test_a_damaged_table_is_neither_listed_nor_changed(
    name: str, spoil: Callable[[Path], object], reason: str, folder: Path
) -> None:
    spoil(folder)
    spoiled = {path: path.read_bytes() for path in folder.glob(f"{name}.*")}
    remove_both(folder)
    own = next((puzzle, table) for puzzle, table in ALL_TABLES if table.name == name)
    if {*spoiled} == {folder / file for file in (own[1].file, own[1].index_file)}:
        with pytest.raises(StoreError, match=f"{name}.* is there, and"):
            build_tables(folder, *own)
    other = (KNIGHT, COUNTS) if name == TOURS.name else (KNIGHT, TOURS)
    problem, tables, left_out = build_tables(folder, *other).recovery or ("", [], {})
    assert problem
    assert tables == sorted({table.name for _, table in ALL_TABLES} - {name})
    assert list(left_out) == [name]
    assert reason in left_out[name]
    assert {path: path.read_bytes() for path in spoiled} == spoiled


@pytest.mark.parametrize("has_manifest", [False, True])
@pytest.mark.parametrize("force", [False, True])
def test_a_strangers_file_is_never_replaced(has_manifest: bool, force: bool, folder: Path) -> None:
    for path in folder.glob(f"{TOURS.name}.*"):
        path.unlink()
    build_tables(folder, KNIGHT, COUNTS)
    pq.write_table(pa.table({"a": [1]}), folder / TOURS.file)
    before = (folder / TOURS.file).read_bytes()
    if has_manifest:
        amend_manifest(Folder(folder), without=[TOURS.name])
    else:
        remove_both(folder)
    request = Request(Folder(folder), [(KNIGHT, (TOURS,))], force)
    for make in (lambda: build(request, Recorder()), lambda: plan_build(request)):
        with pytest.raises(StoreError, match=r"not a table of this program.* --outputs"):
            make()
    assert (folder / TOURS.file).read_bytes() == before


@pytest.mark.parametrize("force", [False, True])
def test_a_strangers_manifest_is_never_replaced(force: bool, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text('{"name": "a web page", "display": "standalone"}')
    before = contents(tmp_path)
    with pytest.raises(StoreError, match=r"not a manifest of this program.* --outputs"):
        build_tables(tmp_path, KNIGHT, TOURS, force=force)
    assert contents(tmp_path) == before


def put_text(path: Path) -> None:
    path.write_bytes(b"PAR1 and no table")


def put_older_table(path: Path) -> None:
    """Write a table as an older version did, with parameters of a search that is gone."""
    rows = pa.table({"goal": ["corner"], "distance": [0], "states": [1]})
    text = '{"tables": {"eight": 5}, "roots": 7}'
    pq.write_table(rows.replace_schema_metadata({"parameters": text}), path)


def put_copy(path: Path) -> None:
    shutil.copy(path.parent / TOURS.file, path)


UNREADABLE, UNKNOWN = "strangers.parquet cannot be read", "no puzzle here has such a table"


@pytest.mark.parametrize(
    ("put", "is_withheld", "problem"),
    [
        *((put, False, UNREADABLE) for put in (put_text, Path.mkdir, Path.touch, os.mkfifo)),
        *((put, False, UNKNOWN) for put in (put_older_table, put_copy)),
        (put_copy, True, f"{UNREADABLE}, and {UNKNOWN}"),
    ],
)
def test_a_file_of_no_known_table_does_not_stop_a_recovery(
    put: Callable[[Path], None], is_withheld: bool, problem: str, folder: Path
) -> None:
    before = read_manifest(Folder(folder))
    for name in ("strangers.parquet", "not a table.parquet"):
        put(folder / name)
    remove_both(folder)
    withheld = "strangers.parquet" if is_withheld else ""
    store = Withheld(folder, withheld, PermissionError(13, "Permission denied"))
    _, tables, left_out = build_tables(store, KNIGHT, TOURS).recovery or ("", [], {})
    assert sorted(tables) == sorted(before)
    assert left_out == {"strangers": problem}
    assert {"strangers.parquet", "not a table.parquet"} <= {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("name", [TOURS.file, ROWS.index_file])
def test_a_named_pipe_is_not_read(name: str, folder: Path) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    remove_both(folder)
    _, _, left_out = build_tables(folder, KNIGHT, COUNTS).recovery or ("", [], {})
    assert [*left_out] == [name.partition(".")[0]]


def test_files_that_are_gone_are_not_listed_by_an_old_backup(folder: Path) -> None:
    for path in (*folder.glob("*.parquet"), *folder.glob("*.idx"), folder / MANIFEST):
        path.unlink()
    build_tables(folder, KNIGHT, TOURS)
    assert list(read_manifest(Folder(folder))) == [TOURS.name]


@pytest.mark.parametrize("is_listed", [True, False])
@pytest.mark.parametrize("name", [MANIFEST, BACKUP])
def test_a_newer_manifest_or_backup_is_replaced_only_by_force(
    name: str, is_listed: bool, folder: Path
) -> None:
    newer = seal({"format_version": 4, "shelves": []})
    if is_listed:
        damage_manifest(folder)
    else:
        remove_manifest(folder)
    (folder / name).write_text(newer)
    with pytest.raises(TableVersionError):
        build_tables(folder, KNIGHT, TOURS)
    assert (folder / name).read_text() == newer
    assert len((build_tables(folder, KNIGHT, TOURS, force=True).recovery or ("", [], {}))[1]) == 4
    assert len(read_manifest(Folder(folder))) == 4


def test_an_older_manifest_is_replaced_without_force(folder: Path) -> None:
    (folder / MANIFEST).write_text(seal({"format_version": 2, "tables": {}}))
    assert build_tables(folder, KNIGHT, TOURS).reasons == {TOURS.name: "up to date"}
    assert len(read_manifest(Folder(folder))) == 4


def test_recovery_at_the_shell(folder: Path, cli: Cli) -> None:
    options = ["--outputs", str(folder)]
    damage_manifest(folder)
    refused = cli("status", *options)
    assert (refused.code, refused.out) == (3, "")
    assert refused.err.endswith(f" Run: pipeline precompute --outputs {folder}\n")
    built_again = cli("precompute", "sliding_2x3", *options)
    assert built_again.code == 0
    assert f"recovered: {CYCLES.name}, {COUNTS.name}, " in built_again.err
    assert "recovered" not in built_again.out
    assert cli("query", "knight", "--count", "--board", "5x9", *options).code == 0


@pytest.mark.parametrize(
    "error", [PermissionError(13, "Permission denied"), Unreachable("HTTP status 503", 503)]
)
@pytest.mark.parametrize("withheld", [MANIFEST, BACKUP, TOURS.file, CYCLES.index_file])
def test_a_file_that_may_not_be_read_is_no_damage(
    withheld: str, error: OSError, folder: Path
) -> None:
    """Conclude nothing from a file that the system or the network withholds."""
    damage_manifest(folder)
    before = read_tree(folder)
    with pytest.raises(TableUnreadable, match=withheld):
        build_tables(Withheld(folder, withheld, error), KNIGHT, COUNTS, force=True)
    assert read_tree(folder) == before


def test_a_repair_keeps_what_another_has_repaired_meanwhile(folder: Path) -> None:
    store = Folder(folder)
    listed = read_manifest(store)
    replace_manifest(store, {TOURS.name: listed[TOURS.name]})
    assert read_manifest(store) == listed
    damage_manifest(folder)
    damaged = (folder / MANIFEST).read_bytes()
    replace_manifest(store, {TOURS.name: listed[TOURS.name]})
    assert list(read_manifest(store)) == [TOURS.name]
    assert (folder / REPLACED).read_bytes() == damaged


def test_a_lost_manifest_is_amended_from_its_backup(folder: Path) -> None:
    listed = read_manifest(Folder(folder))
    (folder / MANIFEST).unlink()
    amend_manifest(Folder(folder), {TOURS.name: listed[TOURS.name]})
    assert read_manifest(Folder(folder)) == listed


@pytest.mark.parametrize("lose", [damage_manifest, remove_manifest, damage_both, remove_both])
def test_an_output_never_replaces_a_table_of_a_lost_manifest(
    lose: Callable[[Path], None], folder: Path
) -> None:
    lose(folder)
    before = read_tree(folder)
    for name in (TOURS.file, CYCLES.index_file, MANIFEST):
        with pytest.raises(OutputError, match="belongs to the tables"):
            write_output(str(folder / name), b"answers")
    assert read_tree(folder) == before


def test_what_lies_under_a_temporary_name_is_not_written_to(folder: Path) -> None:
    """Link names like those that a writer of a manifest and of its backup takes to other files."""
    victim = folder.parent / "victim"
    victim.write_text("precious")
    for name in (MANIFEST, BACKUP):
        (folder / f".{name}{PART_SUFFIX}").symlink_to(victim)
    amend_manifest(Folder(folder), without=[TOURS.name])
    assert victim.read_text() == "precious"
    assert not (folder / MANIFEST).is_symlink()
    assert TOURS.name not in read_manifest(Folder(folder))
