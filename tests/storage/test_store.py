"""The folder as a store; `test_object_store.py` shows that no other module depends on paths."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from puzzle_tablebase.errors import NotAFile, TableUnreadable
from puzzle_tablebase.puzzles.eight import PUZZLE as EIGHT
from puzzle_tablebase.tables.access import list_files, open_store
from puzzle_tablebase.tables.store import Folder
from tests.support.build_recorder import build_tables

# ---- a folder -------------------------------------------------------------------------------


def test_open_store_uses_argument_environment_or_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(open_store(None)) == "outputs"
    monkeypatch.setenv("PIPELINE_OUTPUTS", "elsewhere")
    assert str(open_store(None)) == "elsewhere"
    assert open_store("here").locate("eight.idx") == "here/eight.idx"
    folder = Folder("there")
    assert open_store(folder) is folder


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
    text = f"{tmp_path} cannot be read: permission denied. Change its permissions."
    for read in (list_files, lambda store: build_tables(store, EIGHT)):
        with pytest.raises(TableUnreadable) as caught:
            read(Unlistable(tmp_path))
        assert (str(caught.value), caught.value.exit_code) == (text, 3)
