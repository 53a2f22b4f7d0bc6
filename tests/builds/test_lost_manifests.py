"""Tests of manifests that are lost, withheld or of another version, and of their backups."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tablebase.errors import OutputError, TableUnreadable, TableVersionError, Unreachable
from tablebase.output import write_output
from tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from tablebase.tables import BACKUP, MANIFEST, REPLACED
from tablebase.tables.manifest import read_manifest, read_pages, record_page, replace_manifest, seal
from tablebase.tables.store import PART_SUFFIX, Folder
from tests.support.build_recorder import Withheld, build_tables
from tests.support.lost_manifests import (
    COUNTS,
    CYCLES,
    TOURS,
    copy_published,
    damage_both,
    damage_manifest,
    read_tree,
    remove_both,
    remove_manifest,
)
from tests.support.shell import Cli


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """Return a folder of small tables, each of another kind."""
    return copy_published(tmp_path_factory, tmp_path)


@pytest.mark.parametrize("is_listed", [True, False])
@pytest.mark.parametrize("name", [MANIFEST, BACKUP])
def test_a_newer_manifest_or_backup_is_replaced_only_by_force(
    name: str, is_listed: bool, folder: Path
) -> None:
    newer = seal({"format_version": 4, "shelves": []})
    if is_listed:
        damage_manifest(folder)
    else:
        remove_manifest(folder)
    (folder / name).write_text(newer)
    with pytest.raises(TableVersionError):
        build_tables(folder, KNIGHT, TOURS)
    assert (folder / name).read_text() == newer
    assert len((build_tables(folder, KNIGHT, TOURS, force=True).recovery or ("", [], {}))[1]) == 4
    assert len(read_manifest(Folder(folder))) == 4


def test_an_older_manifest_is_replaced_without_force(folder: Path) -> None:
    (folder / MANIFEST).write_text(seal({"format_version": 2, "tables": {}}))
    assert build_tables(folder, KNIGHT, TOURS).reasons == {TOURS.name: "up to date"}
    assert len(read_manifest(Folder(folder))) == 4


def test_recovery_at_the_shell(folder: Path, cli: Cli) -> None:
    options = ["--outputs", str(folder)]
    damage_manifest(folder)
    refused = cli("status", *options)
    assert (refused.code, refused.out) == (3, "")
    assert refused.err.endswith(f" Run: pipeline precompute --outputs {folder}\n")
    built_again = cli("precompute", "sliding_2x3", *options)
    assert built_again.code == 0
    assert f"recovered: {CYCLES.name}, {COUNTS.name}, " in built_again.err
    assert "recovered" not in built_again.out
    assert cli("query", "knight", "--count", "--board", "5x9", *options).code == 0


@pytest.mark.parametrize(
    "error", [PermissionError(13, "Permission denied"), Unreachable("HTTP status 503", 503)]
)
@pytest.mark.parametrize("withheld", [MANIFEST, BACKUP, TOURS.file, CYCLES.index_file])
def test_a_file_that_may_not_be_read_is_no_damage(
    withheld: str, error: OSError, folder: Path
) -> None:
    """Conclude nothing from a file that the system or the network withholds."""
    damage_manifest(folder)
    before = read_tree(folder)
    with pytest.raises(TableUnreadable, match=withheld):
        build_tables(Withheld(folder, withheld, error), KNIGHT, COUNTS, force=True)
    assert read_tree(folder) == before


def test_a_link_to_nothing_is_no_manifest(folder: Path) -> None:
    listed = read_manifest(Folder(folder))
    (folder / MANIFEST).unlink()
    (folder / MANIFEST).symlink_to("nowhere")
    assert build_tables(folder, KNIGHT, TOURS).recovery is not None
    assert read_manifest(Folder(folder)) == listed


def test_a_repair_keeps_what_another_has_repaired_meanwhile(folder: Path) -> None:
    store = Folder(folder)
    listed = read_manifest(store)
    replace_manifest(store, {TOURS.name: listed[TOURS.name]}, {})
    assert read_manifest(store) == listed
    damage_manifest(folder)
    damaged = (folder / MANIFEST).read_bytes()
    replace_manifest(store, {TOURS.name: listed[TOURS.name]}, {})
    assert list(read_manifest(store)) == [TOURS.name]
    assert (folder / REPLACED).read_bytes() == damaged


def test_a_lost_manifest_is_amended_from_its_backup(folder: Path) -> None:
    listed = read_manifest(Folder(folder))
    (folder / MANIFEST).unlink()
    (folder / "report.html").write_text("a page")
    record_page(Folder(folder), str(folder / "report.html"), "report", listed)
    assert read_manifest(Folder(folder)) == listed


@pytest.mark.parametrize("lose", [damage_manifest, remove_manifest, damage_both, remove_both])
def test_an_output_never_replaces_a_table_of_a_lost_manifest(
    lose: Callable[[Path], None], folder: Path
) -> None:
    lose(folder)
    before = read_tree(folder)
    for name in (TOURS.file, CYCLES.index_file, MANIFEST):
        with pytest.raises(OutputError, match="belongs to the tables"):
            write_output(str(folder / name), b"answers")
    assert read_tree(folder) == before


def test_what_lies_under_a_temporary_name_is_not_written_to(folder: Path) -> None:
    """Link names like those that a writer of a manifest and of its backup takes to other files."""
    victim = folder.parent / "victim"
    victim.write_text("precious")
    for name in (MANIFEST, BACKUP):
        (folder / f".{name}{PART_SUFFIX}").symlink_to(victim)
    (folder / "report.html").write_text("a page")
    listed = read_manifest(Folder(folder))
    record_page(Folder(folder), str(folder / "report.html"), "report", listed)
    assert victim.read_text() == "precious"
    assert not (folder / MANIFEST).is_symlink()
    assert list(read_pages(Folder(folder))) == ["report.html"]
