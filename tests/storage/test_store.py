"""The folder as a store, and what a store may be named."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

import puzzle_tablebase as pt
from puzzle_tablebase.errors import BadRequest, NotAFile, TableUnreadable
from puzzle_tablebase.puzzles.sliding import EIGHT
from puzzle_tablebase.stores.access import format_rebuild_command, list_files, open_store
from puzzle_tablebase.stores.folder import Folder
from tests.support.build_recorder import build_tables
from tests.support.shell import Cli

LATIN_1 = os.fsdecode(b"caf\xe9")
NO_STORES = ["", "a\0b", "\ud800", LATIN_1, "memory://x", "s3://", "http://", "http://[::1/x"]


def test_open_store_uses_argument_environment_or_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(open_store(None)) == "outputs"
    monkeypatch.setenv("PIPELINE_OUTPUTS", "elsewhere")
    assert str(open_store(None)) == "elsewhere"
    assert open_store("here").locate("eight.idx") == "here/eight.idx"
    folder = Folder("there")
    assert open_store(folder) is folder


@pytest.mark.parametrize("name", NO_STORES)
def test_some_texts_name_no_store(name: str, cli: Cli, tmp_path: Path) -> None:
    with pytest.raises(BadRequest):
        pt.open_tables(name)
    for words in ("status", "precompute eight", "query eight 123456780") if name == LATIN_1 else ():
        said = cli(*words.split(), "--outputs", name, cwd=tmp_path)
        assert (said.code, said.out) == (2, "")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("folder", ["/data/tables-8_x.old", "$HOME", "it's 'here'"])
def test_commands_name_other_folders_than_the_default(folder: str) -> None:
    assert format_rebuild_command("", Folder("outputs")) == "pipeline precompute"
    words = shlex.split(format_rebuild_command("eight", Folder(folder), force=True))
    assert words == ["pipeline", "precompute", "eight", "--force", "--outputs", folder]


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
        for name in ("deeper", "pipe"):
            with pytest.raises(NotAFile):
                read(name)
    with pytest.raises(NotAFile):
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
