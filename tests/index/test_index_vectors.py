"""Tests of every reader against `docs/format/vectors/`, whose files are valid or damaged."""

import json
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from puzzle_tablebase.errors import TableDamaged, TableVersionError
from puzzle_tablebase.formats import manifest
from puzzle_tablebase.formats.manifest import Entry
from puzzle_tablebase.pipeline.proofs import VerifyFailed
from puzzle_tablebase.pipeline.proofs.claims import ListedTable
from puzzle_tablebase.pipeline.proofs.files import check_files
from puzzle_tablebase.queries.index_reader import IndexReader
from puzzle_tablebase.schema import Recipe, Table
from puzzle_tablebase.stores.folder import Folder
from tests.support.format_page import VECTORS as FOLDER
from tests.support.format_page import tables_under
from tests.support.reader_programs import RECORDS, run
from tests.support.tampered import run as run_claims
from tests.support.tampered import sha256, write_manifest


class Vector(NamedTuple):
    """A file, what a reader expects of it, and the results that the reader must give."""

    file: str
    name: str
    width: int
    content: str
    why: str
    fault: str
    opens: bool
    sound: bool
    records: dict[str, str]
    refused: list[int]


VECTORS = [Vector(**vector) for vector in json.loads((FOLDER / "vectors.json").read_text("utf-8"))]
COUNTS = {
    vector.name: max(map(int, vector.records), default=-1) + 1 for vector in VECTORS if vector.sound
}
"""The numbers of records, which damaged files may not tell."""
OWN_PROBLEMS = {
    "foreign": "it is not an index file",
    "version": r"version (1; .* version 2\. Run: |(3|258); .* version 2\. Use a newer )",
    "header": r"(5|100) bytes are too few for its header|the checksum of block 0 is wrong",
    "later": "its records do not match its table",
    "width": "its records do not match its table",
    "name": "it is the index of another table",
    "size": r"[\d,]+ records do not match its [\d,]+ bytes",
    "content": "it was made from a different table than the published one",
    "block": r"the checksum of block \d is wrong",
    "": r"it has no record \d",
}
"""What this program says of each fault of a file, and of a number beyond the last."""
PROBLEMS = {
    "foreign": "is not an index",
    "version": "is not of format version 2",
    "header": "is damaged: (its header|block 0) is not whole",
    "later": "is laid out in a later way",
    "width": "is the index of another table",
    "name": "is the index of another table",
    "size": "is too short or too long",
    "block": r"is damaged: (a block|block \d) is not whole",
    "": "has (no record|too few records)",
}
"""What the readers to copy say."""
PACKAGE_PROBLEMS = {
    "foreign": "it is not an index|block 0 is damaged",
    "version": r"it is of format version \d+, not 2",
    "header": "block 0 is damaged",
    "later": "it is laid out in a later way",
    "width": "it is the index of another table",
    "name": "it is the index of another table",
    "size": r"\d+ records do not match its \d+ bytes",
    "block": r"block [1-3] is damaged",
    "": r"it has no record \d",
}
"""What the package says."""


@pytest.fixture(params=VECTORS, ids=lambda vector: Path(vector.file).stem)
def vector(request: pytest.FixtureRequest) -> Vector:
    result: Vector = request.param
    return result


def test_every_file_is_listed() -> None:
    files = [vector.file for vector in VECTORS]
    assert sorted([*files, "vectors.json"]) == sorted(path.name for path in FOLDER.iterdir())


def test_the_page_names_the_fault_of_each_vector() -> None:
    (row,) = [row for row in tables_under("Test vectors")[0] if row["key"] == "fault"]
    assert {vector.fault for vector in VECTORS} - {""} <= {*re.findall(r"\w+", row["meaning"])}


def publish(vector: Vector, folder: Path) -> ListedTable:
    """Publish the file as the index of a table."""
    table = Table(
        vector.name, "", "", (), Recipe("breadth first"), index=(("record", f"{vector.width}s"),)
    )
    index = Path(shutil.copy(FOLDER / vector.file, folder / table.index_file))
    count = COUNTS[vector.name]
    text = manifest.IndexEntry(index.name, count, index.stat().st_size, sha256(index))
    entry = Entry(None, count, vector.content, "a test", "", {}, text)
    write_manifest(Folder(folder), {vector.name: entry})
    return ListedTable(Folder(folder), vector.name, entry, None, table)


def test_a_lookup_does_as_the_vectors_say(vector: Vector, tmp_path: Path) -> None:
    table = publish(vector, tmp_path).definition
    problem = OWN_PROBLEMS.get(vector.fault if vector.fault != "filling" else "")
    if not vector.opens:
        kind = TableVersionError if vector.fault == "version" else TableDamaged
        with pytest.raises(kind, match=rf"{vector.name}\.idx.*{problem}"):
            IndexReader(Folder(tmp_path), table)
        return
    index = IndexReader(Folder(tmp_path), table)
    for number, record in vector.records.items():
        assert index.read_record(int(number)) == (bytes.fromhex(record),)
    for refused_number in vector.refused:
        with pytest.raises(TableDamaged, match=problem):
            index.read_record(refused_number)
    if vector.fault == "block":
        with pytest.raises(TableDamaged, match=problem):
            index.read_records()


def test_the_proof_does_as_the_vectors_say(vector: Vector, tmp_path: Path) -> None:
    listed = publish(vector, tmp_path)
    if vector.sound:
        run_claims(listed, check_files(listed))
        return
    with pytest.raises(VerifyFailed) as caught:
        run_claims(listed, check_files(listed))
    assert caught.value.file == listed.store.locate(f"{vector.name}.idx")
    assert re.search("found (bytes|content hash|SHA-256) ", str(caught.value))


class Case(NamedTuple):
    """A record that a reader is asked for, or a file that it opens; the fault that it reports."""

    vector: Vector
    number: str
    record: str = ""
    fault: str | None = None


def list_cases() -> list[Case]:
    """List all but those with another content hash, which these readers do not compare."""
    result = []
    for vector in VECTORS:
        opening = None if vector.opens or vector.fault == "content" else vector.fault
        result.append(Case(vector, "-", fault=opening))
        result += [Case(vector, number, record) for number, record in vector.records.items()]
        beyond = vector.fault if vector.fault == "block" else ""
        result += [Case(vector, str(number), fault=beyond) for number in vector.refused]
    return result


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_a_reader_does_as_the_vectors_say(name: str, tmp_path: Path) -> None:
    """Ask for all records in one process."""
    cases, questions = list_cases(), []
    for vector, number, *_ in cases:
        folder = tmp_path / Path(vector.file).stem
        folder.mkdir(exist_ok=True)
        shutil.copy(FOLDER / vector.file, folder / f"{vector.name}.idx")
        questions.append(f"{folder} {vector.name} {vector.width} {number}\n")
    said = run(*RECORDS[name](tmp_path), stdin="".join(questions))
    assert (said.code, said.err) == (0, "")
    lines = iter(said.out.splitlines())
    wrong = []
    for case, text, code in zip(cases, lines, lines, strict=True):
        expected = (case.record, "0") if case.fault is None else (text, "3")
        problems = PACKAGE_PROBLEMS if name == "package" else PROBLEMS
        problem = problems.get(case.fault or "", "")
        if (text, code) != expected or (case.fault is not None and not re.search(problem, text)):
            wrong.append((case.vector.file, case.number, text, code))
    assert wrong == []
