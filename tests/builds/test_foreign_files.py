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


@pytest.mark.parametrize("name", [TOURS.file, MANIFEST])
@pytest.mark.parametrize("has_manifest", [False, True])
@pytest.mark.parametrize("force", [False, True])
def test_a_strangers_file_is_never_replaced(
    name: str, has_manifest: bool, force: bool, tmp_path: Path
) -> None:
    if has_manifest and name != MANIFEST:
        build_tables(tmp_path, KNIGHT, COUNTS)
    (tmp_path / name).write_text(json.dumps({"name": "somebody's app"}))
    before = contents(tmp_path)
    with pytest.raises(StoreError, match=f"{name} is there, and is not a file of this program"):
        build_tables(tmp_path, KNIGHT, TOURS, force=force)
    assert contents(tmp_path) == before


def test_without_a_manifest_and_its_copy_a_build_names_what_it_does_not_list(
    folder: Path, cli: Cli
) -> None:
    for name in (MANIFEST, BACKUP):
        (folder / name).write_bytes(b"lost")
    planned = cli("precompute", TOURS.name, "--dry-run", "--outputs", str(folder))
    assert planned.err.endswith(f"; the new one does not list {COUNTS.file}\n")
    rows = (folder / COUNTS.file).read_bytes()
    built = build_tables(folder, KNIGHT, TOURS)
    assert [f"pipeline: note: {note}\n" for note in built.notes] == [planned.err]
    assert built.reasons == {TOURS.name: "missing"}
    assert [*read_manifest(Folder(folder))] == [TOURS.name]
    assert (folder / COUNTS.file).read_bytes() == rows


@pytest.mark.parametrize("name", [MANIFEST, BACKUP])
def test_with_one_of_the_two_nothing_is_built(name: str, folder: Path) -> None:
    before = read_manifest(Folder(folder))
    (folder / name).write_bytes(b"lost")
    assert build_tables(folder, KNIGHT, TOURS, COUNTS).reasons == {}
    assert read_manifest(Folder(folder)) == before


@pytest.mark.parametrize("version", [3, 5])
def test_an_older_manifest_is_replaced_and_a_newer_one_only_by_force(
    version: int, folder: Path
) -> None:
    (folder / MANIFEST).write_bytes(seal_values({"format_version": version}))
    with pytest.raises(TableVersionError):
        scan_table(Folder(folder), TOURS)
    if version > 4:
        with pytest.raises(TableVersionError):
            build_tables(folder, KNIGHT, TOURS)
    built = build_tables(folder, KNIGHT, TOURS, force=version > 4)
    assert f"has format version {version}, not 4; " in built.notes[0]
    assert [*read_manifest(Folder(folder))] == [TOURS.name]


def test_files_of_two_builds_are_built_again(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_bytes())
    del manifest["checksum"]
    (entry,) = manifest["tables"][TOURS.name]
    other = entry | {"parquet": entry["parquet"] | {"sha256": "0" * 64}}
    manifest["tables"][TOURS.name] = [other | {"content": digit * 64} for digit in "01"]
    (folder / MANIFEST).write_bytes(seal_values(manifest))
    assert build_tables(folder, KNIGHT, TOURS).reasons == {TOURS.name: "stopped between two files"}
    assert read_manifest(Folder(folder))[TOURS.name].content == entry["content"]


def test_a_table_of_other_code_is_built_again(
    folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {TOURS.name: "made by other code"}
    with monkeypatch.context() as patch:
        digest = "puzzle_tablebase.pipeline.searches.digest_code"
        patch.setattr(digest, lambda modules: "of another rule")
        assert build_tables(folder, KNIGHT, TOURS).reasons == other
    state = cli("status", "--json", "--outputs", str(folder))
    states = {row["table"]: row["state"] for row in json.loads(state.out)}
    assert other.items() <= states.items()
    assert states[COUNTS.name] == "published"
    assert build_tables(folder, KNIGHT, TOURS).reasons == other
