"""The proof treats a table of several files as one, and finds the faults of each file."""

import re
import shutil
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pipeline.verify import verify
from pipeline.verify.table_rows import read_rows
from queries.status import list_status
from tablebase.puzzles.knight.definition import PUZZLE as KNIGHT
from tablebase.table_errors import TableDamaged, TableError
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests.support.build_recorder import build_tables
from tests.support.shell import Cli
from tests.support.tampered import (
    CUTS,
    TABLES,
    edit_manifest,
    get_refutation,
    open_one,
    split,
    vouch,
    write_rows,
)

FIVE = "knight_tours_5x5"


def test_part_files_are_compared_with_the_manifest(cli: Cli, several_files: Path) -> None:
    text = cli("verify", "--quick", "--outputs", str(several_files))
    assert (text.code, text.err) == (0, "")
    rows = re.findall(r"^(\w+)\.\*\.parquet\S* .*?([\d,]+) rows", text.out, re.MULTILINE)
    entries = read_manifest(Folder(several_files))
    assert dict(rows) == {name: f"{entries[name].rows:,}" for name in CUTS}


@pytest.mark.parametrize("name", ["eight", "eight_edge", "senet", "knight_counts"])
def test_part_files_are_read_as_one_table(name: str, several_files: Path, outputs: Path) -> None:
    """Read tables whose proofs need all rows; lists of tours are proved file by file."""
    expected = read_rows(open_one(outputs, name)).batch
    assert read_rows(open_one(several_files, name)).batch.equals(expected)


@pytest.fixture
def part_paths(copy: Path) -> list[Path]:
    return split(copy, FIVE, 100, 900)


def cut(second: Path, other: Path) -> None:
    second.write_bytes(second.read_bytes()[:-1])


def flip(second: Path, other: Path) -> None:
    data = bytearray(second.read_bytes())
    data[len(data) // 2] ^= 1
    second.write_bytes(data)


def swap_file(second: Path, other: Path) -> None:
    shutil.copy(other, second)


def remove_file(second: Path, other: Path) -> None:
    second.unlink()


@pytest.mark.parametrize("spoil", [cut, flip, swap_file, remove_file])
def test_a_wrong_second_file_is_reported(
    part_paths: list[Path], cli: Cli, spoil: Callable[[Path, Path], None]
) -> None:
    _, second, third = part_paths
    folder = second.parent
    spoil(second, third)
    assert [row["state"] for row in list_status(Folder(folder)) if row["table"] == FIVE] == [
        "damaged"
    ]
    with pytest.raises(TableError) as caught:
        verify(Folder(folder), quick=True)
    assert caught.value.file == str(second)
    query = f"query knight a1 --board 5x5 --outputs {folder}"
    assert cli(*query.split(), "--number", "3").code == 0, "the first file is whole"
    # that a tour does not exist follows from other pages than its path, which are whole
    numbers = ("150",) if spoil is flip else ("150", "99999")
    for number in numbers:
        text = cli(*query.split(), "--number", number)
        assert (text.code, text.out) == (3, "")
        assert str(second) in text.err
        assert text.err.endswith(f"Run: pipeline precompute knight --outputs {folder}\n")
    if spoil is flip:
        assert cli(*query.split(), "--number", "99999").code == 1
    state = "missing" if spoil is remove_file else "damaged"
    report = build_tables(folder, KNIGHT, TABLES[FIVE])
    assert report.reasons == {FIVE: f"{second.name} {state}"}


def test_files_in_another_order_fail_the_proof(part_paths: list[Path]) -> None:
    first, second, _ = part_paths
    spare = first.with_name("spare")
    first.rename(spare)
    second.rename(first)
    spare.rename(second)
    vouch(first.parent, FIVE, 3)
    failure = get_refutation(first.parent, FIVE)
    assert (failure.row, failure.expected) == (800, "a path after the one before it")


def test_a_tour_in_two_files_fails_the_proof(part_paths: list[Path]) -> None:
    shutil.copy(part_paths[0], part_paths[1])
    vouch(part_paths[0].parent, FIVE, 3)
    assert get_refutation(part_paths[0].parent, FIVE).row == 100


def test_a_missing_file_fails_the_proof(part_paths: list[Path]) -> None:
    vouch(part_paths[0].parent, FIVE, 2)
    failure = get_refutation(part_paths[0].parent, FIVE)
    assert fnmatchcase(f"{failure.found} | {failure.expected}", "* from ?? to ?? | *, as back")


def test_numbers_restart_in_each_file(copy: Path) -> None:
    """Refuse numbers that continue from one file to the next: readers would count them twice."""
    all_rows = pq.read_table(copy / f"{FIVE}.parquet")
    _, second = split(copy, FIVE, 100)
    write_rows(all_rows.slice(100), second, TABLES[FIVE])
    vouch(copy, FIVE, 2)
    failure = get_refutation(copy, FIVE)
    assert (failure.row, failure.found, failure.expected) == (100, "number 100", "0")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (FIVE, "schema: meaning: "),
        ("eight_edge", "schema: meaning: "),
        ("eight_edge", "sorting columns ()"),
    ],
)
def test_metadata_of_each_file_is_proved(copy: Path, name: str, words: str) -> None:
    _, second, _ = split(copy, name, 100, 900)
    rows = pq.read_table(second)
    if "meaning" in words:
        rows = rows.replace_schema_metadata({**rows.schema.metadata, b"meaning": b"nothing"})
    # the footer does not name how the rows are sorted
    pq.write_table(rows, second)
    vouch(copy, name, 3)
    failure = get_refutation(copy, name)
    assert (failure.file, failure.claim.file) == (str(second), second.name)
    assert str(failure.found).startswith(words)


def test_row_numbers_of_each_file_match_the_manifest(part_paths: list[Path]) -> None:
    folder = part_paths[0].parent
    with edit_manifest(folder) as entries:
        _, second, third = entries[FIVE]["files"]
        second["rows"] -= 1
        third["rows"] += 1
        third["first"] -= 1
    failure = get_refutation(folder, FIVE)
    assert (failure.file, failure.found, failure.expected) == (
        str(part_paths[1]),
        "rows 800",
        799,
    )


# ---- the manifest ---------------------------------------------------------------------------

Files = list[dict[str, Any]]


@pytest.mark.parametrize(
    "edit",
    [
        lambda files: files[1].update(first=99),
        lambda files: files[1].update(first=101),
        lambda files: files[0].update(first=1),
        lambda files: files[1].update(rows=801),
        lambda files: files[2].update(rows=1),
        lambda files: (files[0].update(rows=-1), files[1].update(rows=901, first=-1)),
        lambda files: files[1].update(rows="800"),
        lambda files: files[1].pop("first"),
        lambda files: files[1].pop("sha256"),
        lambda files: files[1].update(file=files[0]["file"]),
        lambda files: files[1].update(file="eight.parquet"),
        lambda files: files[1].update(file=f"../copy/{FIVE}.2.parquet"),
        lambda files: files[1].update(file=f"{FIVE}.old.parquet"),
        lambda files: files[1].update(file=f"{FIVE}.2.parquet\n"),
        lambda files: files.reverse(),
        lambda files: files.pop(),
        lambda files: files.clear(),
        lambda files: files.append("a file"),
    ],
)
def test_invalid_file_lists_are_damage(
    part_paths: list[Path], cli: Cli, edit: Callable[[Files], object]
) -> None:
    folder = part_paths[0].parent
    with edit_manifest(folder) as entries:
        edit(entries[FIVE]["files"])
    for ask in (lambda: list_status(Folder(folder)), lambda: verify(Folder(folder), quick=True)):
        with pytest.raises(TableDamaged, match="its list of tables is invalid"):
            ask()


def test_invalid_file_lists_are_reported_at_the_shell(part_paths: list[Path], cli: Cli) -> None:
    folder = part_paths[0].parent
    with edit_manifest(folder) as entries:
        entries[FIVE]["files"][1]["first"] = 101
    for words in ("status", "verify --quick", "query knight a1 --board 5x5"):
        text = cli(*words.split(), "--outputs", str(folder))
        assert (text.code, text.out) == (3, "")
        assert "its list of tables is invalid" in text.err
