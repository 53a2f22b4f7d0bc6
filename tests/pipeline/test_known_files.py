"""Large files are hashed once, and again when anything says that they may have changed."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from puzzle_tablebase.formats.manifest import File, IndexEntry, find_mismatch
from puzzle_tablebase.pipeline import known_files
from puzzle_tablebase.pipeline.known_files import KNOWN
from puzzle_tablebase.stores import Folder
from tests.support.shell import Cli

TABLE = "knight_tours_5x5"
UP_TO_DATE = f"up to date: {TABLE}\n"


@pytest.fixture
def folder(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a table that counts as large."""
    monkeypatch.setattr(known_files, "MIN_BYTES", 1)
    assert cli("precompute", TABLE, "--quiet", "--outputs", str(tmp_path)).code == 0
    return tmp_path


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of the files that are hashed."""
    names = list[str]()

    def note(store: Folder, file: File | IndexEntry) -> str:
        names.append(file.file)
        return find_mismatch(store, file)

    monkeypatch.setattr(known_files, "find_mismatch", note)
    return names


def precompute(cli: Cli, folder: Path, *options: str) -> str:
    completed = cli("precompute", TABLE, "--outputs", str(folder), *options)
    assert completed.code == 0
    return completed.out


def test_a_file_that_was_built_is_not_hashed(folder: Path, cli: Cli, hashed: list[str]) -> None:
    for _ in range(2):
        assert precompute(cli, folder) == UP_TO_DATE
    assert hashed == []


def touch(file: Path) -> None:
    os.utime(file, ns=(1, 1))


def replace(file: Path) -> None:
    status = file.stat()
    shutil.copy(file, f"{file}.new")
    os.utime(f"{file}.new", ns=(status.st_atime_ns, status.st_mtime_ns))
    os.replace(f"{file}.new", file)


def forget(file: Path) -> None:
    (file.parent / KNOWN).unlink()


def damage(file: Path) -> None:
    (file.parent / KNOWN).write_bytes(b"\xff")


def swap_files(file: Path) -> None:
    """Give the file another hash in the record, as if the manifest listed another version."""
    known = file.parent / KNOWN
    record = json.loads(known.read_bytes())
    record[file.name][0] = "0" * 64
    known.write_text(json.dumps(record))


@pytest.mark.parametrize("change", [touch, replace, forget, damage, swap_files])
def test_a_file_that_may_have_changed_is_hashed_once(
    folder: Path, cli: Cli, hashed: list[str], change: Callable[[Path], None]
) -> None:
    change(folder / f"{TABLE}.parquet")
    before = (folder / KNOWN).read_bytes() if (folder / KNOWN).exists() else None
    assert precompute(cli, folder, "--dry-run") == UP_TO_DATE
    after = (folder / KNOWN).read_bytes() if (folder / KNOWN).exists() else None
    assert after == before, "a dry run writes nothing"
    for _ in range(3):
        assert precompute(cli, folder) == UP_TO_DATE
    assert len(hashed) == 2


def test_a_file_that_changes_while_it_is_hashed_is_hashed_again(
    folder: Path, cli: Cli, hashed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(folder / f"{TABLE}.parquet")

    def find_and_touch(store: Folder, file: File | IndexEntry) -> str:
        hashed.append(file.file)
        problem = find_mismatch(store, file)
        touch(folder / file.file)
        return problem

    with monkeypatch.context() as patch:
        patch.setattr(known_files, "find_mismatch", find_and_touch)
        assert precompute(cli, folder) == UP_TO_DATE
    for _ in range(2):
        assert precompute(cli, folder) == UP_TO_DATE
    assert len(hashed) == 2


def test_only_a_proof_finds_damage_that_the_system_does_not_date(folder: Path, cli: Cli) -> None:
    file = folder / f"{TABLE}.parquet"
    status, data = file.stat(), bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    with file.open("r+b") as opened:
        opened.write(data)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert precompute(cli, folder) == UP_TO_DATE
    assert cli("verify", TABLE, "--outputs", str(folder)).code != 0
    touch(file)
    assert f"{TABLE}.parquet damaged" in precompute(cli, folder, "--dry-run")


def test_small_files_are_hashed_each_time_and_not_recorded(
    folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, hashed: list[str]
) -> None:
    (folder / KNOWN).unlink()
    monkeypatch.setattr(known_files, "MIN_BYTES", 1 << 30)
    for _ in range(2):
        assert precompute(cli, folder) == UP_TO_DATE
    assert len(hashed) == 2
    assert not (folder / KNOWN).exists()
