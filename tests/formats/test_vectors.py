"""Tests of every reader against `docs/format/vectors/`, whose files are valid or damaged."""

import json
import re
import shutil
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from puzzle_tablebase.errors import TableDamaged, TableVersionError
from puzzle_tablebase.formats import manifest
from puzzle_tablebase.formats.index import make_record_struct
from puzzle_tablebase.formats.manifest import Entry
from puzzle_tablebase.pipeline.proofs.claims import ListedTable, VerifyFailed
from puzzle_tablebase.pipeline.proofs.files import check_files
from puzzle_tablebase.queries.files import IndexReader
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import Folder
from tests.support.format_page import VECTORS as FOLDER
from tests.support.format_page import tables_under
from tests.support.reader_programs import RECORDS, run
from tests.support.tampered import run as run_claims
from tests.support.tampered import sha256, write_manifest
from tools.format_vectors import list_vectors, make_files

VECTORS = [SimpleNamespace(**each) for each in json.loads((FOLDER / "vectors.json").read_bytes())]
COUNTS = {
    vector.name: max(map(int, vector.records), default=-1) + 1 for vector in VECTORS if vector.sound
}
"""The numbers of records, which damaged files may not tell."""


@pytest.fixture(params=VECTORS, ids=lambda vector: Path(vector.file).stem)
def vector(request: pytest.FixtureRequest) -> Any:
    return request.param


@cache
def get_tables() -> dict[str, Table]:
    """Return the tables of the vectors by their names."""
    return {vector.table.name: vector.table for vector in list_vectors()}


def test_the_files_are_those_that_the_program_makes() -> None:
    made = make_files()
    assert sorted(made) == sorted(path.name for path in FOLDER.iterdir())
    for name, data in made.items():
        assert (FOLDER / name).read_bytes() == data, f"{name} is another: make docs"


def test_the_page_names_each_key_and_fault() -> None:
    rows = {row["key"]: row["meaning"] for row in tables_under("Test vectors")[0]}
    keys = {key for row in rows for key in row.split(", ")}
    assert all({*vars(vector)} == keys for vector in VECTORS)
    assert {vector.fault for vector in VECTORS} - {""} <= {*re.findall(r"\w+", rows["fault"])}


def publish(vector: Any, folder: Path) -> ListedTable:
    """Publish the file as the index of a table without rows."""
    made = get_tables()[vector.name]
    table = Table(made.name, "", "", (), made.recipe, made.index)
    index = Path(shutil.copy(FOLDER / vector.file, folder / table.index_file))
    count = COUNTS[vector.name]
    size, content = index.stat().st_size, sha256(index)
    text = manifest.IndexEntry(index.name, count, size, content, vector.digest)
    entry = Entry(None, count, content, "a test", "", {}, text)
    write_manifest(Folder(folder), {vector.name: entry})
    return ListedTable(Folder(folder), vector.name, entry, table, "", None)


def test_a_lookup_does_as_the_vectors_say(vector: Any, tmp_path: Path) -> None:
    table = publish(vector, tmp_path).definition
    if not vector.opens:
        error_class = TableVersionError if vector.fault == "version" else TableDamaged
        with pytest.raises(error_class):
            IndexReader(Folder(tmp_path), table)
        return
    index, pack = IndexReader(Folder(tmp_path), table), make_record_struct(table).pack
    for number, record in vector.records.items():
        assert pack(*index.read_record(int(number))).hex() == record
    for refused_number in vector.refused:
        with pytest.raises(TableDamaged):
            index.read_record(refused_number)
    if vector.fault == "block":
        with pytest.raises(TableDamaged):
            index.read_records()


def test_the_proof_does_as_the_vectors_say(vector: Any, tmp_path: Path) -> None:
    listed = publish(vector, tmp_path)
    if vector.sound:
        run_claims(listed, check_files(listed))
        return
    with pytest.raises(VerifyFailed) as caught:
        run_claims(listed, check_files(listed))
    assert caught.value.file == listed.store.locate(f"{vector.name}.idx")


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_a_reader_does_as_the_vectors_say(name: str, tmp_path: Path) -> None:
    """Query all records in one process, and to open each file: "-".

    A file with another digest opens, because these readers do not compare it.
    """
    cases, questions = list[tuple[str, str, str | None]](), list[str]()
    for vector in VECTORS:
        folder = tmp_path / Path(vector.file).stem
        folder.mkdir()
        shutil.copy(FOLDER / vector.file, folder / f"{vector.name}.idx")
        records = {"-": "" if vector.opens or vector.fault == "digest" else None}
        for number, record in (records | vector.records | dict.fromkeys(vector.refused)).items():
            cases.append((vector.file, number, record))
            questions.append(f"{folder} {vector.name} {vector.width} {number}\n")
    completed = run(*RECORDS[name](tmp_path), stdin="".join(questions))
    assert (completed.code, completed.err) == (0, "")
    lines = iter(completed.out.splitlines())
    for (file, number, record), text, code in zip(cases, lines, lines, strict=True):
        expected = (text, "3") if record is None else (record, "0")
        assert (text, code) == expected, (file, number)
