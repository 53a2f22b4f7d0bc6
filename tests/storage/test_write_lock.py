"""Files that are being written are distinguished from those whose writer was killed."""

import fcntl
import os
import sys
from pathlib import Path

import pytest

import puzzle_tablebase.atomic_write
from puzzle_tablebase.atomic_write import atomic_write, is_being_written, lock_file
from puzzle_tablebase.output import write_output
from puzzle_tablebase.pipeline.builders import checkpoints
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.tables.store import PART_SUFFIX, Folder
from tests.support.build_recorder import TOURS, build_tables
from tests.support.shell import begin_python, program, run

WRITER = """
import os, signal, sys
from puzzle_tablebase.output import open_output
from puzzle_tablebase.tables.store import Folder

folder, name = sys.argv[1:]
if name == "answers.csv":
    stack = open_output(os.path.join(folder, name))
else:
    stack = Folder(folder).write_atomically(name)
with stack as file:
    print("begun", flush=True)
    signal.pause()
"""

LOOK = """
import sys
from puzzle_tablebase.atomic_write import is_being_written
print(is_being_written(sys.argv[1]))
"""

LOOK_FOR_A_MOMENT = """
import fcntl, sys, time
with open(sys.argv[1], "rb") as file:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("begun", flush=True)
    time.sleep(0.2)
"""


def seems_written(path: str) -> bool:
    """Return whether another process finds that a file is being written."""
    said = run([program("python"), "-c", LOOK, path])
    assert said.out in ("True\n", "False\n"), said
    return said.out == "True\n"


def test_checkpoints_being_written_are_removed_only_after_the_writer_dies(tmp_path: Path) -> None:
    stored = checkpoints(Folder(tmp_path), TOURS)
    with begin_python(WRITER, tmp_path, f"{stored!r}.{'0' * 16}.kept") as writer:
        (part,) = tmp_path.glob(f"*{PART_SUFFIX}")
        assert is_being_written(str(part))
        stored.clear_others()
        for force in (False, False, True):  # missing, up to date, forced
            build_tables(tmp_path, KNIGHT, TOURS, force=force)
            assert part.exists()
        writer.kill()
    assert part.exists()
    assert not is_being_written(str(part))
    build_tables(tmp_path, KNIGHT, TOURS)
    assert not part.exists()


def test_output_of_a_killed_command_is_removed_by_the_next(tmp_path: Path) -> None:
    other = f".others.csv.{'0' * 16}{PART_SUFFIX}"
    (tmp_path / other).write_bytes(b"of another output")
    words = WRITER, tmp_path, "answers.csv"
    with begin_python(*words) as killed, begin_python(*words) as writer:
        killed.kill()
        killed.wait()
        write_output(str(tmp_path / "answers.csv"), b"answers")
        remaining = sorted(path.name for path in tmp_path.glob(f".*{PART_SUFFIX}"))
        assert len(remaining) == 2, "the other writer's, and that of another output"
        writer.kill()
    write_output(str(tmp_path / "answers.csv"), b"more answers")
    assert [path.name for path in tmp_path.glob(f".*{PART_SUFFIX}")] == [other]
    assert (tmp_path / "answers.csv").read_bytes() == b"more answers"


def test_the_lock_lasts_until_the_file_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []
    replace = os.replace

    def look(part: str, path: str) -> None:
        held.append(seems_written(part))
        replace(part, path)

    monkeypatch.setattr(os, "replace", look)
    with atomic_write((str(tmp_path / "file"), str(tmp_path / "part"))) as (file,):
        file.write(b"all of it")
    assert held == [True]
    assert not seems_written(str(tmp_path / "file"))


def test_a_file_removed_before_locking_is_reopened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed: list[int] = []

    def remove_first(descriptor: int, *, wait: bool = False) -> bool:
        if not removed:
            removed.append(descriptor)
            (tmp_path / "part").unlink()
        return lock_file(descriptor, wait=wait)

    monkeypatch.setattr(puzzle_tablebase.atomic_write, "lock_file", remove_first)
    with atomic_write((str(tmp_path / "file"), str(tmp_path / "part"))) as (file,):
        file.write(b"all of it")
    assert len(removed) == 1
    assert (tmp_path / "file").read_bytes() == b"all of it"


def test_without_locks_every_file_counts_as_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "part").touch()
    assert not is_being_written(str(tmp_path / "part"))
    assert is_being_written(str(tmp_path / "nothing"))
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert is_being_written(str(tmp_path / "part"))
    write_output(str(tmp_path / "answers.csv"), b"answers")
    assert (tmp_path / "answers.csv").read_bytes() == b"answers"


def test_a_writer_waits_for_whoever_looks_at_its_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that gave up its lock would be taken for a killed one."""
    part, flock = str(tmp_path / "part"), fcntl.flock

    def look_first(descriptor: int, operation: int) -> None:
        monkeypatch.undo()
        with begin_python(LOOK_FOR_A_MOMENT, part):
            flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", look_first)
    with atomic_write((str(tmp_path / "file"), part)) as (file,):
        file.write(b"all of it")
        assert seems_written(part)


def test_another_users_abandoned_file_does_not_stop_an_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with begin_python(WRITER, tmp_path, "answers.csv") as writer:
        writer.kill()
    (old_file,) = tmp_path.glob(f".*{PART_SUFFIX}")
    unlink = os.unlink

    def refuse(path: str, **options: int) -> None:
        if str(path) == str(old_file):
            raise PermissionError(1, "Operation not permitted")
        unlink(path, **options)

    monkeypatch.setattr(os, "unlink", refuse)
    write_output(str(tmp_path / "answers.csv"), b"answers")
    assert (tmp_path / "answers.csv").read_bytes() == b"answers"
    assert old_file.exists()
