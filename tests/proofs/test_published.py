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
from puzzle_tablebase.schema import Column, Table
from puzzle_tablebase.stores.folder import Folder
from tests.support.tampered import (
    TABLES,
    describe_file,
    edit_manifest,
    get_refutation,
    prove_one,
    replace_link,
    vouch,
    write_rows,
)
from tests.support.trust_page import require_rows


@pytest.mark.slow
@pytest.mark.long
def test_published_tables_are_proved(outputs: Path) -> None:
    verified = verify(Folder(outputs))
    proved = verified.claims
    default_names = [table.name for known in list_puzzles() for table in known.tables]
    assert [result.table for result in verified.results] == default_names
    assert all(result.verdicts for result in verified.results)
    assert verified.unpublished == []
    require_rows(verified.verdicts, 7)
    assert all(claim["passed"] for claim in proved)
    tables = {claim["table"] for claim in proved}
    assert tables == {*default_names}


Edit = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("edit", "file", "message"),
    [
        (lambda entry: entry.update(index=None), "manifest.json", "index of eight: False | True"),
        (lambda entry: entry["parquet"].update(bytes=7), "eight.parquet", "bytes * | 7"),
        (lambda entry: entry["parquet"].update(sha256="0"), "eight.parquet", "SHA-256 * | 0"),
        (lambda entry: entry.update(content="0"), "eight.idx", "content hash * | 0"),
        (lambda entry: entry["index"].update(records=7), "eight.idx", "bytes 733184 | 8192"),
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
        (
            lambda entry: entry["parameters"].update(board="5x6"),
            "metadata parameters: * | {*5x6*}",
        ),
        (lambda entry: entry.update(content="0"), "metadata content: * | 0"),
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
        (rows.cast(large), "column ('path', 'large_string'* | ('path', 'string'*"),
        (rows.rename_columns(["from", *rows.column_names[1:]]), "column ('from'* | ('board'*"),
        (rows.drop_columns("closed"), "column ('path'* | ('closed', 'bool', 'not null'*"),
    ):
        pq.write_table(other, path)
        with edit_manifest(copy) as entries:
            entries["knight_tours_5x5"]["parquet"] = describe_file(path)
        failure = get_refutation(copy, "knight_tours_5x5")
        assert fnmatchcase(f"{failure.found} | {failure.expected}", text)


def test_descriptions_may_have_other_words(copy: Path) -> None:
    """Write the rows with other descriptions of the table and of a column."""
    name = "knight_tours_5x5"
    path, old = replace_link(copy / f"{name}.parquet"), TABLES[name]
    described = [*old.columns[:-1], Column("path", "string", "its squares", distinct=True)]
    table = Table(name, "Some tours", old.rank, tuple(described), old.recipe)
    rows = pq.read_table(path)
    path.unlink()
    write_rows(rows, path, table)
    vouch(copy, name)
    assert prove_one(copy, name).verdicts[0].verdict == "proved"


def test_undecodable_parquet_is_detected(copy: Path) -> None:
    path = replace_link(copy / "knight_tours_5x5.parquet")
    original = path.read_bytes()
    for data in (b"nothing", original[:200] + bytes(200) + original[400:]):
        path.write_bytes(data)
        with edit_manifest(copy) as entries:
            entries["knight_tours_5x5"]["parquet"] = describe_file(path)
        assert get_refutation(copy, "knight_tours_5x5").expected == "rows that can be decoded"
