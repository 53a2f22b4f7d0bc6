"""The search shard by shard: what it finds is what one machine finds, also where parts are lost."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pipeline.builders import block_shards
from pipeline.builders.block_shards import layer, search
from pipeline.builders.registry import checkpoints
from pipeline.search.block_bfs import in_blocks
from pipeline.tasks import Work
from tablebase.errors import OutputsError, SearchError
from tablebase.puzzles.sliding import move_tables
from tablebase.puzzles.sliding.definition import parse_board
from tablebase.puzzles.sliding.move_tables import Cut
from tablebase.tables.checkpoints import Kept
from tablebase.tables.store import Folder

BOARD = parse_board("2x4")
ROOT = BOARD.example


@pytest.fixture(autouse=True)
def _short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A board of 8 cells has stretches to share out only where its rows are short."""
    monkeypatch.setattr(move_tables, "TAIL", 4)
    monkeypatch.setattr(move_tables, "_cut", cache(Cut))
    monkeypatch.setattr(block_shards, "_space", {})


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def kept_in(folder: Path, board: str = "2x4") -> Kept:
    return checkpoints(Folder(folder), parse_board(board).tables[0])


@pytest.mark.parametrize(("name", "shards"), [("2x2", 3), ("2x3", 2), ("2x4", 1), ("2x4", 5)])
def test_shards_find_every_depth(
    pool: ThreadPoolExecutor, tmp_path: Path, name: str, shards: int
) -> None:
    board = parse_board(name)
    for number, goal in enumerate(board.layouts):
        kept = checkpoints(Folder(tmp_path), board.tables[number])
        found = search(board, goal, Work(pool, shards, kept=kept, elsewhere=True))
        expected = in_blocks(board.blocks(goal), 2, lambda level, depth: None, lambda: None)
        for _ in range(2):
            assert np.array_equal(np.concatenate([*found()]), expected)


def test_as_many_shards_as_a_machine_has_room_for(
    pool: ThreadPoolExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_shards, "STATES", 5000)
    work = Work(pool, 2, kept=kept_in(tmp_path), elsewhere=True)
    stretches = [*search(BOARD, ROOT, work)()]
    assert len(stretches) == 8 * 5  # blocks, and shards of at most 5,000 of 20,160 states
    assert max(map(len, stretches)) * 8 <= 5000


def test_a_search_goes_on_from_what_is_in_the_store(
    pool: ThreadPoolExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tired(doing: str, done: int, total: int | None) -> None:
        if done == 20:
            raise KeyboardInterrupt

    kept = kept_in(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        search(BOARD, ROOT, Work(pool, 3, tired, kept, elsewhere=True))
    begun = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    found = search(BOARD, ROOT, Work(pool, 3, None, kept, elsewhere=True))
    assert {path: path.stat().st_mtime_ns for path in begun} == begun
    expected = in_blocks(BOARD.blocks(ROOT), 2, lambda level, depth: None, lambda: None)
    assert np.array_equal(np.concatenate([*found()]), expected)


def test_a_part_that_is_done_twice_leaves_the_same(
    pool: ThreadPoolExecutor, tmp_path: Path
) -> None:
    kept = kept_in(tmp_path)
    search(BOARD, ROOT, Work(pool, 3, None, kept, elsewhere=True))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    counts = [int(layer(kept, BOARD, ROOT, number, 3, 18)[0][0]) for number in range(3)]
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert sum(counts) == 788  # A090035


def test_a_shard_without_what_it_needs_says_so(tmp_path: Path) -> None:
    with pytest.raises(OutputsError, match="a part that a worker made is not there"):
        layer(kept_in(tmp_path), BOARD, ROOT, 0, 2, 1)


def test_depths_end_where_a_byte_does(
    pool: ThreadPoolExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_shards, "UNREACHED", 7)
    with pytest.raises(SearchError, match="6 or more moves"):
        search(BOARD, ROOT, Work(pool, 2, None, kept_in(tmp_path), elsewhere=True))
