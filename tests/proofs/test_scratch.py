"""Proofs beyond memory: the same verdicts by arrays in a file, of which nothing stays."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from puzzle_tablebase.errors import MachineLimit
from puzzle_tablebase.pipeline.proofs.board_layers import measure_arrays
from puzzle_tablebase.pipeline.proofs.scratch import Scratch, open_scratch
from puzzle_tablebase.pipeline.proofs.verdicts import Verdict
from puzzle_tablebase.pipeline.verify import Room, verify
from puzzle_tablebase.puzzles.sliding import PUZZLE
from puzzle_tablebase.resources import PROCESS_BYTES
from puzzle_tablebase.stores import WORK, Folder, open_store
from tests import first
from tests.support.build_recorder import build_tables
from tests.support.false_tables import BIT_CASES, Case
from tests.support.hosts import serve
from tests.support.made_once import make_once
from tests.support.shell import environment
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import falsify, get_refutation, story

NAME = "sliding_2x4_8"
VERIFY = "puzzle_tablebase.pipeline.verify"
LITTLE = PROCESS_BYTES + 1000
"""Bytes of memory that the table's arrays exceed, if no part of a file is kept in memory."""


@pytest.fixture
def bits(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return a folder in which a board of 8 cells is treated as large."""
    treat_as_large(monkeypatch, 8)
    monkeypatch.setattr(f"{VERIFY}.MIN_HELD_BYTES", 0)
    tables = PUZZLE.find_tables("sliding_2x4")
    made = make_once(
        tmp_path_factory, "bits_2x4", lambda folder: build_tables(folder, PUZZLE, *tables)
    )
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the folder of each scratch file."""
    folders, real = list[str](), open_scratch

    def record(work: str, folder: str, size: int, held: int) -> object:
        folders.append(folder)
        return real(work, folder, size, held)

    monkeypatch.setattr(f"{VERIFY}.open_scratch", record)
    return folders


def test_a_proof_by_a_file_is_that_in_memory(bits: Path, opened: list[str]) -> None:
    store = Folder(bits)
    in_memory = verify(store)
    assert opened == []
    by_file = verify(store, room=Room(LITTLE))
    assert opened == [str(bits / WORK.rstrip("/"))]
    assert [each.verdict for each in by_file.verdicts] == [Verdict.PROVED]
    assert by_file.verdicts == in_memory.verdicts
    assert story(*by_file.results) == story(*in_memory.results)
    assert not (bits / WORK).exists()


def test_what_a_proof_keeps_of_a_file_fits_its_memory_twice(
    bits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, (table,) = list[int](), PUZZLE.find_tables("sliding_2x4")

    def record(work: str, folder: str, size: int, held: int) -> object:
        kept.append(held)
        return open_scratch(work, folder, size, held)

    monkeypatch.setattr(f"{VERIFY}.open_scratch", record)
    assert verify(Folder(bits), room=Room(LITTLE)).troubles == []
    (held,) = kept
    _, in_memory = measure_arrays(table)
    assert 0.9 * LITTLE < PROCESS_BYTES + in_memory + 2 * held <= LITTLE
    assert held > 0


@pytest.mark.parametrize("case", BIT_CASES, ids=lambda case: case[2])
def test_a_false_table_is_refuted_as_in_memory(
    case: Case, bits: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory = falsify(bits, NAME, case[0])
    assert opened == []
    monkeypatch.setattr(f"{VERIFY}.get_free_memory", lambda: LITTLE)
    assert str(get_refutation(bits, NAME)) == str(in_memory)
    assert len(opened) == (not case[2].startswith("header"))  # which needs no memory
    assert not (bits / WORK).exists()


def test_the_folder_may_be_named_and_must_be_for_a_host(
    bits: Path, tmp_path: Path, opened: list[str]
) -> None:
    other = tmp_path / "scratch"
    other.mkdir()
    with serve(bits) as host:
        store = open_store(host.url)
        (trouble,) = verify(store, room=Room(LITTLE)).troubles
        assert isinstance(trouble, MachineLimit)
        assert "Name one by --scratch" in str(trouble)
        verified = verify(store, room=Room(LITTLE, str(other)))
    assert [each.verdict for each in verified.verdicts] == [Verdict.PROVED]
    assert opened == [str(other)]
    assert [*other.iterdir()] == []


def fill_disk(*_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("fstatvfs", lambda _: os.statvfs_result((1, 1, 1, 1, 7, 0, 0, 0, 0, 255)), "0.00 GB"),
        ("posix_fallocate", fill_disk, "no space left on device"),
    ],
)
def test_what_does_not_fit_the_disk_has_no_verdict(
    bits: Path, name: str, change: object, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, name, change)
    verified = verify(Folder(bits), room=Room(LITTLE))
    (trouble,) = verified.troubles
    assert isinstance(trouble, MachineLimit)
    assert trouble.exit_code == 3
    assert message in str(trouble)
    assert f"The proof of {NAME}" in str(trouble)
    assert verified.verdicts == []
    assert not (bits / WORK).exists()


def test_a_large_board_says_what_it_would_need(tmp_path: Path) -> None:
    """Of 3x5, only the estimate is made."""
    (table,) = PUZZLE.find_tables("sliding_3x5")
    size, in_memory = measure_arrays(table)
    assert (round(size / 1e9, 1), round(in_memory / 1e9, 1)) == (174.4, 1.5)
    text = rf"The proof of x needs 174\.36 GB of disk; free in {tmp_path}: \d+\.\d\d GB\."
    with (
        pytest.raises(MachineLimit, match=text),
        open_scratch("The proof of x", str(tmp_path), size, 1),
    ):
        pass


def read_file_pages() -> int:
    """Return the bytes of files that are mapped into this process and in memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("RssFile"))


def test_arrays_of_a_file_leave_the_memory_and_keep_their_values(tmp_path: Path) -> None:
    size = 1 << 26
    with open_scratch("A test", str(tmp_path), size, 1 << 22) as space:
        array, before = space.allocate((size // 8,), np.uint64), read_file_pages()
        assert not array.any()
        [*space.bound([1], size)]
        parts = range(0, len(array), 1 << 17)
        most = 0

        def fill() -> Iterator[int]:
            nonlocal most
            for part in parts:
                array[part : part + (1 << 17)] = np.arange(part, part + (1 << 17))
                most = max(most, read_file_pages())
                yield part

        for _ in space.bound(fill(), 1 << 20):
            pass
        assert most - before < 3 * (1 << 22)
        for part in space.bound(iter(parts), 1 << 20):
            assert np.array_equal(array[part : part + 9], np.arange(part, part + 9))
        assert [*tmp_path.iterdir()] == []
    assert [*Scratch().bound([1, 2], 1 << 40)] == [1, 2]


PAUSED = f"""
import sys, time
from puzzle_tablebase.process import take_over_signals, watch_signals

take_over_signals()
watch_signals()  # before libraries start threads
import pytest
from puzzle_tablebase.pipeline import verify
from puzzle_tablebase.pipeline.proofs import board_layers
from puzzle_tablebase.pipeline.run import main
from tests.support.sliding_tables import treat_as_large

treat_as_large(pytest.MonkeyPatch(), 8)
verify.MIN_HELD_BYTES = 0
find_next = board_layers.Layers.find_next

def pause(layers, distance):
    if distance == 9:
        print("begun", flush=True)
        time.sleep(60)
    return find_next(layers, distance)

board_layers.Layers.find_next = pause
sys.argv[1:] = ["verify", "--memory", "{LITTLE / 1e9}", "--outputs", sys.argv[1]]
main()
"""


@pytest.mark.parametrize("number", first(2, [signal.SIGINT, signal.SIGKILL, signal.SIGTERM]))
def test_a_proof_that_is_ended_leaves_no_scratch(bits: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", PAUSED, str(bits)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        descriptors = [os.readlink(each) for each in Path(f"/proc/{process.pid}/fd").iterdir()]
        assert any(str(bits / WORK) in each and "(deleted)" in each for each in descriptors)
        process.send_signal(number)
        process.wait()
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    names = [path.name for path in bits.rglob("*") if path.is_file()]
    assert not [name for name in names if name.endswith(".unpublished")]
    if number != signal.SIGKILL:
        assert not (bits / WORK).exists()
        return
    assert [*(bits / WORK).iterdir()] == []
    build_tables(bits, PUZZLE, *PUZZLE.find_tables("sliding_2x4"), force=True)
    assert not (bits / WORK).exists()
