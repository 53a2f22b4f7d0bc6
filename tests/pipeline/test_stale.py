"""Why a table is built: it is missing, damaged, or made of other code or parameters."""

import json
from contextlib import nullcontext
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace

from puzzle_tablebase.formats.manifest import add_version, read_manifest, read_versions
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_count_table
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.stores import MANIFEST, Folder
from tests.support.build_recorder import (
    COUNTS,
    SMALL,
    TOURS,
    build_tables,
    contents,
    describe_anew,
)
from tests.support.default_tables import COUNT
from tests.support.shell import SCRIPT, Cli, with_a_disk
from tests.support.tampered import seal_values

UP_TO_DATE = "up to date: eight, eight_edge\n"

READ_ONLY = """
mount --bind {folder} {folder} && mount -o remount,ro,bind {folder} || exit 9
touch {folder}/probe 2>/dev/null && exit 9
{build}
"""


def test_only_tables_that_are_up_to_date_need_no_writable_disk(copy: Path) -> None:
    command = f"{SCRIPT} precompute --outputs {copy}"
    build = f"{command} && {command} --dry-run && {command} --force"
    result = with_a_disk(READ_ONLY.format(folder=copy, build=build))
    assert (result.code, "read-only file system" in result.err) == (3, True)
    first, second = result.out.splitlines()
    assert first == second
    assert first.count(",") == COUNT - 1


def test_up_to_date_tables_take_no_lock_unless_a_kill_left_something(copy: Path, cli: Cli) -> None:
    words = ("precompute", "eight", "--outputs", str(copy))
    assert cli(*words) == (0, UP_TO_DATE, "")
    assert not (copy / ".lock").exists()
    work = copy / ".work"
    for name in ("eight.0123.a1.kept", ".0123.unpublished"):
        work.mkdir()
        (work / name).write_bytes(b"")
        with Folder(copy).lock() if name.startswith("eight") else nullcontext():
            assert cli(*words).code == 0  # beside another build, too
        assert cli(*words) == (0, UP_TO_DATE, "")
        assert not work.exists()


def test_only_missing_tables_are_built(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "down"
    first = build_tables(folder, KNIGHT, *SMALL)
    assert first.reasons == {"knight_tours_3x4": "missing", "knight_counts": "missing"}
    assert first.finished == list(first.reasons)
    second = build_tables(folder, KNIGHT, *SMALL)
    assert (second.lines, second.finished) == ([], [])
    files = ["knight_counts.parquet", "knight_tours_3x4.parquet", "manifest.json"]
    assert sorted(contents(folder)) == files


def test_changed_parameters_cause_a_rebuild_and_descriptions_none(tmp_path: Path) -> None:
    build_tables(tmp_path, KNIGHT, *SMALL)
    changed = describe_anew(TOURS, "Some words"), make_count_table(((3, 4), (2, 2), (1, 1)))
    assert build_tables(tmp_path, KNIGHT, *changed).reasons == {COUNTS.name: "parameters changed"}
    assert build_tables(tmp_path, KNIGHT, *changed).reasons == {}
    assert pl.read_parquet(tmp_path / "knight_counts.parquet").height == 12 + 4 + 1


def test_a_damaged_or_missing_index_causes_a_rebuild(tmp_path: Path) -> None:
    (table,) = SLIDING.find_tables("sliding_2x3_6")
    index = tmp_path / table.index_file
    build_tables(tmp_path, SLIDING, table)
    whole = index.read_bytes()
    index.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    reasons = build_tables(tmp_path, SLIDING, table).reasons
    assert reasons == {table.name: f"{table.index_file} damaged"}
    index.unlink()
    reasons = build_tables(tmp_path, SLIDING, table).reasons
    assert reasons == {table.name: f"{table.index_file} missing"}
    assert index.read_bytes() == whole


def test_a_rebuild_needs_the_space_of_one_more_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Expect room for both indexes at first, and for the larger one once they are replaced."""
    required = list[tuple[str, int]]()
    monkeypatch.setattr(Folder, "require_space", lambda _, *call: required.append(call))
    tables = [SLIDING.find_tables(name)[0] for name in ("sliding_2x3_6", "sliding_2x4_8")]
    for _ in range(2):
        build_tables(tmp_path, SLIDING, *tables, force=True)
    small, large = ((tmp_path / table.index_file).stat().st_size for table in tables)
    assert small < large
    assert required == [("The build", small + large), ("The build", large)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build_tables(tmp_path, KNIGHT, TOURS, COUNTS)
    return tmp_path


def test_files_of_two_builds_are_built_again(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_bytes())
    del manifest["checksum"]
    (entry,) = manifest["tables"][TOURS.name]
    footer = entry["parquet"]["footer"] | {"sha256": "0" * 64}
    other = entry | {"parquet": entry["parquet"] | {"sha256": "0" * 64, "footer": footer}}
    manifest["tables"][TOURS.name] = [other | {"content": digit * 64} for digit in "01"]
    (folder / MANIFEST).write_bytes(seal_values(manifest))
    assert build_tables(folder, KNIGHT, TOURS).reasons == {TOURS.name: "interrupted"}
    assert read_manifest(Folder(folder))[TOURS.name].content == entry["content"]


def test_of_two_versions_with_the_same_bytes_the_newest_is_kept(folder: Path) -> None:
    newest = replace(read_manifest(Folder(folder))[TOURS.name], made_by="another")
    add_version(Folder(folder), TOURS.name, newest)
    assert build_tables(folder, KNIGHT, TOURS).reasons == {}
    assert read_versions(Folder(folder))[TOURS.name] == [newest]


def test_a_table_of_other_code_is_built_again(
    folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {TOURS.name: "code changed"}
    with monkeypatch.context() as patch:
        digest = "puzzle_tablebase.code_digest._digest_roots"
        patch.setattr(digest, lambda roots: "of another rule")
        assert build_tables(folder, KNIGHT, TOURS).reasons == other
    state = cli("status", "--json", "--outputs", str(folder))
    states = {row["table"]: row["state"] for row in json.loads(state.out)}
    assert other.items() <= states.items()
    assert states[COUNTS.name] == "published"
    assert build_tables(folder, KNIGHT, TOURS).reasons == other
