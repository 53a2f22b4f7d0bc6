"""Builds in folders with files of other programs, or with a manifest that is of no use."""

import json
from pathlib import Path

import pytest

from puzzle_tablebase.errors import StoreError, TableVersionError
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.queries.scans import scan_table
from puzzle_tablebase.stores import BACKUP, MANIFEST
from puzzle_tablebase.stores.folder import Folder
from tests.support.build_recorder import COUNTS, TOURS, build_tables, contents
from tests.support.shell import Cli
from tests.support.tampered import seal_values


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build_tables(tmp_path, KNIGHT, TOURS, COUNTS)
    return tmp_path


@pytest.mark.parametrize("has_manifest", [False, True])
@pytest.mark.parametrize("force", [False, True])
def test_a_strangers_file_is_never_replaced(
    has_manifest: bool, force: bool, tmp_path: Path
) -> None:
    if has_manifest:
        build_tables(tmp_path, KNIGHT, COUNTS)
    (tmp_path / TOURS.file).write_bytes(b"somebody's rows")
    before = contents(tmp_path)
    with pytest.raises(StoreError, match="is there, and is not a table of this program"):
        build_tables(tmp_path, KNIGHT, TOURS, force=force)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("force", [False, True])
def test_a_strangers_manifest_is_never_replaced(force: bool, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text(json.dumps({"name": "somebody's app"}))
    with pytest.raises(StoreError, match="is there, and is not a manifest of this program"):
        build_tables(tmp_path, KNIGHT, TOURS, force=force)


def lose_both(folder: Path) -> None:
    for name in (MANIFEST, BACKUP):
        (folder / name).write_bytes(b"lost")


def test_without_a_manifest_and_its_copy_a_build_names_what_it_does_not_list(
    folder: Path, cli: Cli
) -> None:
    lose_both(folder)
    planned = cli("precompute", TOURS.name, "--dry-run", "--outputs", str(folder))
    note = f"{folder / MANIFEST} is damaged: its text or checksum was changed; "
    note += f"the new one does not list {COUNTS.file}"
    assert (planned.code, planned.err) == (0, f"pipeline: note: {note}\n")
    rows = (folder / COUNTS.file).read_bytes()
    built = build_tables(folder, KNIGHT, TOURS)
    assert built.notes == [note]
    assert built.reasons == {TOURS.name: "missing"}
    assert [*read_manifest(Folder(folder))] == [TOURS.name]
    assert (folder / COUNTS.file).read_bytes() == rows


@pytest.mark.parametrize("name", [MANIFEST, BACKUP])
def test_with_one_of_the_two_nothing_is_built(name: str, folder: Path) -> None:
    before = read_manifest(Folder(folder))
    (folder / name).write_bytes(b"lost")
    assert build_tables(folder, KNIGHT, TOURS, COUNTS).reasons == {}
    assert read_manifest(Folder(folder)) == before


def test_a_newer_manifest_is_replaced_only_by_force(folder: Path) -> None:
    (folder / MANIFEST).write_bytes(seal_values({"format_version": 5}))
    with pytest.raises(TableVersionError):
        build_tables(folder, KNIGHT, TOURS)
    built = build_tables(folder, KNIGHT, TOURS, force=True)
    assert built.notes[0].startswith(f"{folder / MANIFEST} has format version 5, not 4; ")
    assert [*read_manifest(Folder(folder))] == [TOURS.name]


def test_an_older_manifest_is_replaced(folder: Path) -> None:
    (folder / MANIFEST).write_bytes(seal_values({"format_version": 3}))
    with pytest.raises(TableVersionError, match=r"Run: pipeline precompute --outputs "):
        scan_table(Folder(folder), TOURS)
    assert build_tables(folder, KNIGHT, TOURS).reasons == {TOURS.name: "missing"}


def test_files_of_two_builds_are_built_again(folder: Path) -> None:
    store = Folder(folder)
    manifest = json.loads((folder / MANIFEST).read_bytes())
    del manifest["checksum"]
    (entry,) = manifest["tables"][TOURS.name]
    others = [entry | {"content": "0" * 64}, entry | {"content": "1" * 64}]
    for other in others:
        other["parquet"] = entry["parquet"] | {"sha256": "0" * 64}
    manifest["tables"][TOURS.name] = others
    (folder / MANIFEST).write_bytes(seal_values(manifest))
    assert build_tables(folder, KNIGHT, TOURS).reasons == {TOURS.name: "stopped between two files"}
    assert read_manifest(store)[TOURS.name].content == entry["content"]


def test_a_table_of_other_code_is_built_again(
    folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = "puzzle_tablebase.pipeline.searches.digest_code"
    with monkeypatch.context() as patch:
        patch.setattr(digest, lambda modules: "of another rule")
        assert build_tables(folder, KNIGHT, TOURS).reasons == {TOURS.name: "made by other code"}
    state = cli("status", "--json", "--outputs", str(folder))
    states = {row["table"]: row["state"] for row in json.loads(state.out)}
    assert (states[TOURS.name], states[COUNTS.name]) == ("made by other code", "published")
    assert build_tables(folder, KNIGHT, TOURS).reasons == {TOURS.name: "made by other code"}
