"""Tests of large boards whose builds are killed and resumed: a part of the nightly run."""

import random
import time
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.stores import Folder
from tests.support import reference_numbers
from tests.support.build_recorder import read_log
from tests.support.shell import SCRIPT, Cli, run, start_build

pytestmark = [pytest.mark.nightly, pytest.mark.long]

LAYERS = {"3x4": (53, 18), "2x6": (80, 2)}
"""The last layer of each board, from the last corner, and its states."""


def read_peak(folder: Path) -> int:
    """Read the peak memory of the builds that ended, in bytes."""
    peaks: list[int] = [each["peak_memory"] for each in read_log(folder)]
    return max(peaks)


@pytest.mark.parametrize("board", LAYERS)
def test_a_board_of_12_cells_after_kills(cli: Cli, tmp_path: Path, board: str) -> None:
    draw = random.Random(board)
    for _ in range(3):
        killed = start_build(tmp_path, f"sliding_{board}", "--quiet")
        time.sleep(draw.uniform(1, 6))
        killed.kill()
        killed.communicate()
    words = (f"sliding_{board}", "--outputs", str(tmp_path))
    assert run([SCRIPT, "precompute", *words]).code == 0  # its memory is measured
    counted = cli("histogram", "sliding", "--board", board, "--outputs", str(tmp_path))
    tables = [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")]
    assert sorted(tables) == ["manifest.json", f"sliding_{board}_12.idx"]
    assert read_peak(tmp_path) < 1 << 29
    lines = counted.out.splitlines()
    assert tuple(map(int, lines[-2].split()[:2])) == LAYERS[board]
    assert lines[-1].split() == ["all", "239,500,800"]
    (verdict,) = verify(Folder(tmp_path)).verdicts
    assert verdict.verdict == "proved"


@pytest.mark.parametrize("board", ["7x7", "8x8"])
def test_the_tours_of_a_large_board_are_counted(copy: Path, board: str) -> None:
    """Kill the build twice; of 8x8, count only closed tours, which the source has undirected."""
    kept = set[str]()
    table = f"knight_{'closed_' * (board == '8x8')}counts_{board}"
    for _ in range(2):
        killed = start_build(copy, table, "--quiet")
        while len(new := {path.name for path in copy.glob(f".work/{table}.*.kept")} - kept) < 2:
            assert killed.poll() is None
            time.sleep(0.1)
        kept |= new
        killed.kill()
        killed.communicate()
    # in a process of its own, whose memory is that of the build alone
    assert run([SCRIPT, "precompute", table, "--outputs", copy]).code == 0
    assert read_peak(copy) < 2 << 30
    rows = pl.read_parquet(copy / f"{table}.parquet")
    if board == "7x7":
        assert rows["tours"].sum() == reference_numbers.numbers("knight.txt", "n x n")[6]
        assert rows["closed"].to_list() == [0] * 49
    else:
        (undirected,) = reference_numbers.numbers("knight.txt", "closed 8x8")
        assert rows["closed"].to_list() == [2 * undirected] * 64
        assert rows["tours"].null_count() == 64
