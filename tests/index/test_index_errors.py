"""Tests of an index that is missing, short, foreign, stale or damaged: it never answers."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.single_query import answer_as_text
from queries import open_tables
from tablebase import puzzles
from tablebase.errors import TableDamaged, TableError, TableMissing, TableVersionError
from tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from tablebase.puzzles.knight.tables import make_count_table
from tablebase.tables.index_format import BLOCK_BYTES
from tablebase.tables.manifest import seal
from tablebase.tables.store import Folder
from tests.support.build_recorder import build_tables
from tests.support.pancakes import PUZZLE
from tests.support.tampered import change_header, write_manifest


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(puzzles.MODULES, "pancakes", "tests.support.pancakes")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Build a small puzzle's tables, of which every answer needs the index."""
    build_tables(tmp_path, PUZZLE)
    assert open_tables(str(tmp_path)).goals("pancakes").probe("45321").distance == 2
    return tmp_path


def get_index(folder: Path) -> Path:
    return folder / "pancakes.idx"


def get_error(folder: Path) -> TableError:
    """Return the error of a query, after checking that every kind of lookup gives the same."""
    with pytest.raises(TableError) as caught:
        answer_as_text("pancakes", "45321", {"outputs": str(folder)})
    for method in ("probe", "get"):
        with pytest.raises(type(caught.value)) as second:
            getattr(open_tables(str(folder)).goals("pancakes"), method)("45321")
        assert str(second.value) == str(caught.value)
    error = caught.value
    assert error.exit_code == 3
    assert error.file in (str(get_index(folder)), str(folder / "manifest.json"))
    assert error.command.startswith("pipeline precompute ")
    assert error.command.endswith(f" --outputs {folder}")
    return error


# ---- damaged --------------------------------------------------------------------------------


@given(st.integers(0, 2 * BLOCK_BYTES - 1), st.integers(1, 255))
def test_a_change_of_any_byte_is_found(
    tmp_path_factory: pytest.TempPathFactory, offset: int, change: int
) -> None:
    folder = tmp_path_factory.getbasetemp() / "flipped"
    if not folder.exists():
        build_tables(folder, PUZZLE)
        shutil.copy(get_index(folder), folder / "whole")
    data = bytearray((folder / "whole").read_bytes())
    data[offset] ^= change
    get_index(folder).write_bytes(data)
    get_error(folder)


@pytest.mark.parametrize(
    ("changed", "kind", "message"),
    [
        ({"magic": b"PTIY"}, TableDamaged, "is damaged: it is not an index file. Run: "),
        ({"version": 1}, TableVersionError, "version 1; this program reads version 2. Run: "),
        ({"version": 3}, TableVersionError, "version 2. Use a newer version of the program, or "),
        ({"count": 119}, TableDamaged, "it has no record 119"),
        ({"name": b"another"}, TableDamaged, "it is the index of another table"),
        ({"content": bytes(32)}, TableDamaged, "it was made from a different table than the"),
    ],
)
def test_a_refused_index_never_answers(
    folder: Path, changed: dict[str, object], kind: type[TableError], message: str
) -> None:
    """Change the header; `test_index_vectors.py` changes every field of it."""
    get_index(folder).write_bytes(change_header(get_index(folder).read_bytes(), **changed))
    error = get_error(folder)
    assert type(error) is kind
    assert message in str(error)
    assert str(get_index(folder)) in str(error)


# ---- the manifest ---------------------------------------------------------------------------


def test_a_manifest_that_lists_another_table_or_no_index(folder: Path) -> None:
    tables = json.loads((folder / "manifest.json").read_text("utf-8"))["tables"]
    tables["pancakes"]["index"] = None
    write_manifest(Folder(folder), tables)
    assert isinstance(get_error(folder), TableMissing)
    write_manifest(Folder(folder), {})
    assert isinstance(get_error(folder), TableMissing)
    build_tables(folder, KNIGHT, make_count_table(((3, 4),)))
    assert isinstance(get_error(folder), TableMissing)


@pytest.mark.parametrize("version", [0, 1, 2, 4, "3", None])
def test_a_manifest_of_another_version(folder: Path, version: object) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    del manifest["checksum"]
    text = seal({**manifest, "format_version": version})
    assert text.startswith(f'{{\n "format_version": {json.dumps(version)},')
    (folder / "manifest.json").write_text(text, "utf-8")
    kind = TableVersionError if isinstance(version, int) else TableDamaged
    assert type(get_error(folder)) is kind


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"null", b'{"format_version": 2}', b"\0" * 100, b"\xff{}", None]
)
def test_a_broken_manifest(folder: Path, text: bytes | None) -> None:
    """Write one of these texts, or the manifest without its last two bytes."""
    path = folder / "manifest.json"
    path.write_bytes(path.read_bytes()[:-2] if text is None else text)
    error = get_error(folder)
    assert isinstance(error, TableDamaged)
    assert error.file == str(path)
