"""What a killed build leaves: whoever holds the lock next empties it; checkpoints stay."""

from pathlib import Path

import numpy as np
import pytest

from puzzle_tablebase.pipeline.searches import checkpoints
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.stores import PART_SUFFIX, WORK
from puzzle_tablebase.stores.folder import Folder
from tests.support.build_recorder import TOURS, build_tables, contents, litter
from tests.support.shell import begin_python

WRITER = """
import signal, sys
from puzzle_tablebase.stores.folder import Folder

store = Folder(sys.argv[1])
with store.lock(), store.write_files("a.parquet", "a.idx"):
    print("begun", flush=True)
    signal.pause()
"""


def test_the_next_build_removes_files_of_a_killed_one(tmp_path: Path) -> None:
    with begin_python(WRITER, tmp_path) as writer:
        writer.kill()
    assert len(litter(tmp_path)) == 2
    build_tables(tmp_path, KNIGHT, TOURS)
    assert litter(tmp_path) == []
    assert not (tmp_path / WORK).exists()


def test_files_of_others_stay(tmp_path: Path) -> None:
    others = (tmp_path / f".others{PART_SUFFIX}", tmp_path / WORK / "note.txt")
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("of another program")
    build_tables(tmp_path, KNIGHT, TOURS)
    assert all(path.read_text() == "of another program" for path in others)
    assert {*contents(tmp_path)} == {TOURS.file, "manifest.json"}


def test_new_files_are_invisible_until_they_are_published(tmp_path: Path) -> None:
    store = Folder(tmp_path)
    store.write("a", b"old")
    with store.write_files("a", "b") as files:
        files[0].write(b"new")
        files[1].write(b"other")
        assert [size for size, _ in files.finish()] == [3, 5]
        assert store.list_names() == [WORK.rstrip("/"), "a"]
        assert store.read("a") == b"old"
        files.publish()
    assert (store.read("a"), store.read("b")) == (b"new", b"other")
    with store.write_files("a") as files:
        files[0].write(b"newer")
    assert store.read("a") == b"new"
    assert litter(tmp_path) == []


class Bucket(Folder):
    """A store without a lock, in which two builds may run at the same time."""

    has_locks = False


@pytest.mark.parametrize("kind", [Folder, Bucket])
def test_without_a_lock_checkpoints_stay_for_other_builds(
    kind: type[Folder], tmp_path: Path
) -> None:
    store = kind(tmp_path)
    saved = checkpoints(store, TOURS)
    tmp_path.joinpath(WORK).mkdir()
    saved.save("part", [np.arange(3)])
    for _ in range(2):  # missing, up to date
        build_tables(store, KNIGHT, TOURS)
        assert (saved.load("part") is None) == store.has_locks
    build_tables(store, KNIGHT, TOURS, force=True)
    assert saved.load("part") is None
