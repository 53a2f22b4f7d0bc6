"""The folder as a store, and what a store may be named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import puzzle_tablebase as pt
from puzzle_tablebase.errors import BadRequest, NotAFile, TableUnreadable
from puzzle_tablebase.puzzles.sliding import EIGHT
from puzzle_tablebase.stores.access import list_files, open_store
from puzzle_tablebase.stores.folder import Folder
from tests.support.build_recorder import build_tables
from tests.support.shell import Cli

# ---- a folder -------------------------------------------------------------------------------


def test_open_store_uses_argument_environment_or_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(open_store(None)) == "outputs"
    monkeypatch.setenv("PIPELINE_OUTPUTS", "elsewhere")
    assert str(open_store(None)) == "elsewhere"
    assert open_store("here").locate("eight.idx") == "here/eight.idx"
    folder = Folder("there")
    assert open_store(folder) is folder


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800", os.fsdecode(b"caf\xe9")])
def test_some_texts_name_no_store(name: str, cli: Cli, tmp_path: Path) -> None:
    with pytest.raises(BadRequest):
        pt.open_tables(name)
    for words in ("status", "precompute eight", "query eight 123456780") if "caf" in name else ():
        said = cli(*words.split(), "--outputs", name, cwd=tmp_path)
        assert (said.code, said.out) == (2, "")
    assert [*tmp_path.iterdir()] == []


def test_a_path_is_printed_without_its_control_characters(
    cli: Cli, outputs: Path, tmp_path: Path
) -> None:
    said = cli("explore", "--output", "\x1b[31m.html", "--outputs", str(outputs), cwd=tmp_path)
    assert (said.code, said.out, said.err) == (0, "\\x1b[31m.html\n", "")


def test_pipes_folders_and_devices_are_rejected(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "deeper").mkdir()
    store = Folder(tmp_path)
    for read in (store.get_size, store.read, store.open_random_access):
        with pytest.raises(NotAFile, match="it is a folder, not a file"):
            read("deeper")
        with pytest.raises(NotAFile, match="it is a named pipe, not a file"):
            read("pipe")
    with pytest.raises(NotAFile, match="it is a device, not a file"):
        Folder("/dev").get_size("null")


class Unlistable(Folder):
    def list_names(self, begin: str = "") -> list[str]:
        raise PermissionError(13, "Permission denied")


def test_an_unlistable_folder_is_reported(tmp_path: Path) -> None:
    """Distinguish it from an empty folder: pages would go unchecked, and shards would vanish."""
    assert Folder(tmp_path / "nowhere").list_names() == []
    for read in (list_files, lambda store: build_tables(store, EIGHT)):
        with pytest.raises(TableUnreadable):
            read(Unlistable(tmp_path))
