"""Tests of an index that the manifest does not list, or that a bad manifest lists: no answer.

Damaged indexes are in `test_index_vectors.py` and `tests/faults`.
"""

import json
from pathlib import Path

import pytest

from pipeline.single_query import answer_as_text
from queries import open_tables
from tablebase import puzzles
from tablebase.errors import TableDamaged, TableError, TableMissing, TableVersionError
from tablebase.tables.manifest import seal
from tablebase.tables.store import Folder
from tests.support.build_recorder import build_tables
from tests.support.pancakes import PUZZLE
from tests.support.tampered import write_manifest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Build a small puzzle's tables, of which every answer needs the index."""
    monkeypatch.setitem(puzzles.MODULES, "pancakes", "tests.support.pancakes")
    build_tables(tmp_path, PUZZLE)
    assert open_tables(str(tmp_path)).goals("pancakes").probe("45321").distance == 2
    return tmp_path


def require_error(folder: Path, kind: type[TableError], file: str) -> None:
    """Require that every kind of lookup gives the same error, which names a file."""
    with pytest.raises(TableError) as caught:
        answer_as_text("pancakes", "45321", {"outputs": str(folder)})
    for method in ("probe", "get"):
        with pytest.raises(kind) as second:
            getattr(open_tables(str(folder)).goals("pancakes"), method)("45321")
        assert str(second.value) == str(caught.value)
    error = caught.value
    assert (type(error), error.exit_code, error.file) == (kind, 3, str(folder / file))
    assert error.command.startswith("pipeline precompute ")
    assert error.command.endswith(f" --outputs {folder}")


def test_a_manifest_that_lists_no_index(folder: Path) -> None:
    table = json.loads((folder / "manifest.json").read_text("utf-8"))["tables"]["pancakes"]
    for listed in ({"pancakes": table | {"index": None}}, {}):
        write_manifest(Folder(folder), listed)
        require_error(folder, TableMissing, "pancakes.idx")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"{", TableDamaged),
        (seal({"format_version": "3"}).encode(), TableDamaged),
        *((seal({"format_version": number}).encode(), TableVersionError) for number in (2, 4)),
    ],
)
def test_a_manifest_that_cannot_be_read(folder: Path, text: bytes, kind: type[TableError]) -> None:
    """Try one of each kind; `tests/storage/test_manifest.py` tries every other."""
    (folder / "manifest.json").write_bytes(text)
    require_error(folder, kind, "manifest.json")
