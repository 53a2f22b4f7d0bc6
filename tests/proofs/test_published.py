"""`verify`: published tables pass, and files that differ from the manifest are named."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from puzzle_tablebase.pipeline.proofs import VerifyFailed, verify
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.stores.folder import Folder
from tests.support.tampered import describe_file, edit_manifest, get_refutation, replace_link
from tests.support.trust_page import require_rows


@pytest.mark.slow
@pytest.mark.long
def test_published_tables_are_proved(outputs: Path) -> None:
    verified = verify(Folder(outputs))
    proved = verified.claims
    default_names = [table.name for known in list_puzzles() for table in known.tables]
    assert [result.table for result in verified.results] == ["manifest", *default_names]
    assert all(result.verdicts for result in verified.results[1:])
    assert verified.unpublished == []
    require_rows(verified.verdicts, 7)
    assert all(claim["passed"] for claim in proved)
    tables = {claim["table"] for claim in proved}
    assert tables == {"manifest", *default_names}


Edit = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("edit", "file", "message"),
    [
        (lambda entry: entry.update(index=None), "manifest.json", "index of eight: False | True"),
        (lambda entry: entry["parquet"].update(bytes=7), "eight.parquet", "bytes * | 7"),
        (lambda entry: entry["parquet"].update(sha256="0"), "eight.parquet", "SHA-256 * | 0"),
        (lambda entry: entry.update(content="0"), "eight.idx", "content hash * | 0"),
        (lambda entry: entry["index"].update(records=7), "eight.idx", "records 362880 | 7"),
        (lambda entry: entry["index"].update(sha256="0"), "eight.idx", "SHA-256 * | 0"),
        (lambda entry: entry["index"].update(bytes=7), "eight.idx", "bytes 733184 | 7"),
    ],
)
def test_quick_detects_a_false_manifest_entry(
    copy: Path, edit: Edit, file: str, message: str
) -> None:
    with edit_manifest(copy) as entries:
        edit(entries["eight"])
    with pytest.raises(VerifyFailed) as caught:
        verify(Folder(copy), quick=True)
    assert caught.value.file == str(copy / file)
    assert fnmatchcase(f"{caught.value.found} | {caught.value.expected}", message)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda entry: entry.update(rows=1729), "rows 1728 | 1729"),
        (lambda entry: entry.update(parameters={}), "parameters {} | {'search': *"),
        (
            lambda entry: entry["parameters"].update(board="5x6"),
            "parameters {*'board': '5x6'*} | {*'board': '5x5'*}",
        ),
        (lambda entry: entry.update(content="0"), "content hash * | 0"),
    ],
)
def test_a_false_manifest_entry_is_detected(copy: Path, edit: Edit, message: str) -> None:
    with edit_manifest(copy) as entries:
        edit(entries["knight_tours_5x5"])
    assert verify(Folder(copy), quick=True).claims
    failure = get_refutation(copy, "knight_tours_5x5")
    assert fnmatchcase(f"{failure.found} | {failure.expected}", message)


def test_another_schema_is_detected(copy: Path) -> None:
    path = replace_link(copy / "knight_tours_5x5.parquet")
    rows = pq.read_table(path)
    large = pa.schema([*list(rows.schema)[:-1], pa.field("path", pa.large_string(), False)])
    for other, text in (
        (
            rows.replace_schema_metadata({**rows.schema.metadata, b"meaning": b"nothing"}),
            "schema: meaning: 'nothing' | meaning: '[!n]*'",
        ),
        (rows.cast(large), "schema: path: large_string not null | path: string not null"),
        (
            rows.rename_columns(["from", *rows.column_names[1:]]),
            "schema: from: string not null | board: string not null",
        ),
        (rows.drop_columns("closed"), "schema: path: * | closed: bool not null"),
    ):
        pq.write_table(other, path)
        with edit_manifest(copy) as entries:
            entries["knight_tours_5x5"]["parquet"] = describe_file(path)
        failure = get_refutation(copy, "knight_tours_5x5")
        assert fnmatchcase(f"{failure.found} | {failure.expected}", text)


def test_undecodable_parquet_is_detected(copy: Path) -> None:
    path = replace_link(copy / "knight_tours_5x5.parquet")
    original = path.read_bytes()
    for data in (b"nothing", original[:200] + bytes(200) + original[400:]):
        path.write_bytes(data)
        with edit_manifest(copy) as entries:
            entries["knight_tours_5x5"]["parquet"] = describe_file(path)
        assert get_refutation(copy, "knight_tours_5x5").expected == "rows that can be decoded"
