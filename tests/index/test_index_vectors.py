"""Tests of every reader against `docs/index-vectors/`, whose files are valid or damaged."""

import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec import convert

from pipeline.verify import VerifyFailed
from pipeline.verify.claims import ignore_claim
from pipeline.verify.listed_table import ListedTable
from pipeline.verify.manifest_checks import check_files
from queries.api import Tables
from queries.index_reader import IndexReader
from tablebase.puzzles import eight
from tablebase.schema import BreadthFirst, Table
from tablebase.table_errors import TableError
from tablebase.tables import manifest
from tablebase.tables.manifest import Entry, File, read_manifest
from tablebase.tables.store import Folder
from tests.queries.test_example_readers import eight_line
from tests.support.index_vectors import FOLDER, LIST, Vector, list_files
from tests.support.reader_programs import RECORDS, run
from tests.support.shell import environment
from tests.support.tampered import describe_file, sha256, write_manifest

VECTORS = [Vector(**vector) for vector in json.loads((FOLDER / LIST).read_text("utf-8"))]
SOURCE = Path(__file__).with_name("reader.rs")


@pytest.fixture(params=VECTORS, ids=lambda vector: Path(vector.file).stem)
def vector(request: pytest.FixtureRequest) -> Vector:
    result: Vector = request.param
    return result


def test_the_files_are_up_to_date() -> None:
    assert {path.name: path.read_bytes() for path in FOLDER.iterdir()} == list_files()


def test_the_vectors_cover_every_kind_of_file() -> None:
    kinds = {(vector.opens, bool(vector.records), bool(vector.refused)) for vector in VECTORS}
    assert kinds >= {(True, True, True), (False, False, False)}
    assert all(vector.opens for vector in VECTORS if vector.sound)
    assert sum(vector.sound for vector in VECTORS) >= 6
    assert len({vector.why for vector in VECTORS}) == len(VECTORS)


def test_each_vector_belongs_to_a_section_of_the_page() -> None:
    (page,) = (
        (FOLDER.parent / "index-format.md").read_text("utf-8").split("\n## Test vectors\n")[:1]
    )
    named = re.findall(r"`([\w-]+\.idx)`", "".join(page.split("[Vectors](#test-vectors)")[1:]))
    assert {vector.file for vector in VECTORS} <= {*named}


# ---- this program's reader, and `verify` ---------------------------------------------------


def publish(vector: Vector, folder: Path) -> ListedTable:
    """Publish the file as the index of a table."""
    table = Table(
        vector.name, "", "", (), BreadthFirst({}), index=(("record", f"{vector.width}s"),)
    )
    index = Path(shutil.copy(FOLDER / vector.file, folder / table.index_file))
    rows = folder / f"{vector.name}.parquet"
    rows.write_bytes(b"")
    count = max(map(int, vector.records), default=-1) + 1
    text = manifest.IndexEntry(index.name, count, index.stat().st_size, sha256(index))
    files = [convert(describe_file(rows, count), File)]
    entry = Entry(files, count, vector.content, "a test", {}, "", text)
    write_manifest(Folder(folder), {vector.name: entry})
    return ListedTable(Folder(folder), vector.name, entry, None, table, ignore_claim)


def test_a_lookup_does_as_the_vectors_say(vector: Vector, tmp_path: Path) -> None:
    table = publish(vector, tmp_path).definition
    if not vector.opens:
        with pytest.raises(TableError):
            IndexReader(Folder(tmp_path), eight.PUZZLE, table)
        return
    index = IndexReader(Folder(tmp_path), eight.PUZZLE, table)
    for number, record in vector.records.items():
        assert index.read_record(int(number)) == (bytes.fromhex(record),)
    for refused_number in vector.refused:
        with pytest.raises(TableError):
            index.read_record(refused_number)
    if vector.refused and not vector.sound:
        with pytest.raises(TableError):
            index.read_records()


def test_the_proof_does_as_the_vectors_say(vector: Vector, tmp_path: Path) -> None:
    listed = publish(vector, tmp_path)
    if vector.sound:
        check_files(listed)
        return
    with pytest.raises(VerifyFailed) as caught:
        check_files(listed)
    assert caught.value.file == listed.store.locate(f"{vector.name}.idx")
    assert "SHA-256" not in str(caught.value)


# ---- a reader in Rust, written from the document alone --------------------------------------


@pytest.fixture(scope="session")
def rust(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("rustc"):
        if os.environ.get("CI") == "true":
            pytest.fail("there is no rustc to make the reader with", pytrace=False)
        pytest.skip("there is no rustc to make the reader with")
    program = tmp_path_factory.mktemp("rust") / "reader"
    command = ["rustc", "--edition=2021", "-O", "-D", "warnings", "-o", str(program), str(SOURCE)]
    subprocess.run(command, check=True, env=environment(), timeout=300)
    return program


def run_rust(rust: Path, *words: str | Path, lines: list[str]) -> tuple[int, list[str], str]:
    result = subprocess.run(
        [rust, *words],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return result.returncode, result.stdout.splitlines(), result.stderr


def test_a_reader_in_rust_does_as_the_vectors_say(vector: Vector, rust: Path) -> None:
    numbers = [*vector.records, *map(str, vector.refused)]
    words = ("records", FOLDER / vector.file, vector.name, str(vector.width), vector.content)
    code, text, error = run_rust(rust, *words, lines=numbers)
    if not vector.opens:
        assert (code, text) == (1, [])
        assert error.startswith("refused: ")
        return
    assert (code, error) == (0, "")
    answered = len(vector.records)
    assert text[:answered] == list(vector.records.values())
    assert [line.partition(":")[0] for line in text[answered:]] == ["refused"] * len(vector.refused)


def test_a_reader_in_rust_solves_as_this_program_does(
    rust: Path, outputs: Path, tables: Tables
) -> None:
    draw = random.Random("rust")
    states = [eight.unrank(draw.randrange(362_880)) for _ in range(1_000)]
    content = read_manifest(Folder(outputs))["eight"].content
    code, text, error = run_rust(rust, "eight", outputs / "eight.idx", content, lines=states)
    assert (code, error) == (0, "")
    assert text == [eight_line(tables, state) for state in states]


# ---- the readers in examples/ ---------------------------------------------------------------


@pytest.fixture(scope="session", params=sorted(RECORDS))
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return RECORDS[request.param](tmp_path_factory.mktemp("records"))


def test_the_readers_do_as_the_vectors_say(
    vector: Vector, reader: list[str], tmp_path: Path
) -> None:
    """Compare all but the content hash, which these readers do not check with a manifest."""
    shutil.copy(FOLDER / vector.file, tmp_path / f"{vector.name}.idx")
    words = (*reader, str(tmp_path), vector.name, str(vector.width))
    text = run(*words, *vector.records)
    opens = vector.opens or vector.file == "other-content.idx"
    assert (text.code, text.out.split()) == (0 if opens else 3, list(vector.records.values()))
    for number in vector.refused:
        text = run(*words, str(number))
        assert (text.code, text.out) == (3, "")
