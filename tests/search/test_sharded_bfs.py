"""The sharded search: it finds what one machine finds, also where task results are lost."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pipeline.builders import block_shards
from pipeline.builders.block_shards import search_layer, search_shards
from pipeline.builders.registry import checkpoints
from pipeline.search.word_bfs import search_words
from pipeline.tasks import TaskRunner
from tablebase.errors import SearchError, StoreError
from tablebase.puzzles.sliding import move_tables
from tablebase.puzzles.sliding.definition import BoardWithTables, parse_board
from tablebase.puzzles.sliding.move_tables import SplitOrders
from tablebase.tables.checkpoints import Checkpoints
from tablebase.tables.store import Folder

BOARD = parse_board("2x4")
ROOT = BOARD.example


@pytest.fixture(autouse=True)
def _short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten rows, because a board of 8 cells can be split only where they are short."""
    monkeypatch.setattr(move_tables, "MAX_TAIL_TILES", 4)
    monkeypatch.setattr(move_tables, "_get_split_orders", cache(SplitOrders))
    monkeypatch.setattr(block_shards, "_blocks_by_name", {})


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def search_depths(board: BoardWithTables, goal: str) -> npt.NDArray[np.uint8]:
    depth = np.full(board.size, 255, dtype=np.uint8)
    search_words(board.make_words(goal), 2, lambda *layer: None, lambda: None, depth)
    return depth


def open_checkpoints(folder: Path, board: str = "2x4") -> Checkpoints:
    return checkpoints(Folder(folder), parse_board(board).tables[0])


@pytest.mark.parametrize(("name", "shards"), [("2x2", 3), ("2x3", 2), ("2x4", 1), ("2x4", 5)])
def test_shards_find_every_depth(
    pool: ThreadPoolExecutor, tmp_path: Path, name: str, shards: int
) -> None:
    board = parse_board(name)
    for number, goal in enumerate(board.layouts):
        store = checkpoints(Folder(tmp_path), board.tables[number])
        result = search_shards(
            board, goal, TaskRunner(pool, shards, checkpoints=store, is_remote=True)
        )
        expected = search_depths(board, goal)
        for _ in range(2):
            assert np.array_equal(np.concatenate([*result()]), expected)


def test_shards_respect_the_state_limit(
    pool: ThreadPoolExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_shards, "MAX_SHARD_STATES", 5000)
    work = TaskRunner(pool, 2, checkpoints=open_checkpoints(tmp_path), is_remote=True)
    shard_depths = [*search_shards(BOARD, ROOT, work)()]
    assert len(shard_depths) == 8 * 5  # blocks, and shards of at most 5,000 of 20,160 states
    assert max(map(len, shard_depths)) * 8 <= 5000


def test_a_search_resumes_from_checkpoints(
    pool: ThreadPoolExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tired(doing: str, done: int, total: int | None) -> None:
        if done == 20:
            raise KeyboardInterrupt

    store = open_checkpoints(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        search_shards(BOARD, ROOT, TaskRunner(pool, 3, tired, store, is_remote=True))
    begun = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    result = search_shards(BOARD, ROOT, TaskRunner(pool, 3, None, store, is_remote=True))
    assert {path: path.stat().st_mtime_ns for path in begun} == begun
    expected = search_depths(BOARD, ROOT)
    assert np.array_equal(np.concatenate([*result()]), expected)


def test_a_repeated_task_writes_the_same_bytes(pool: ThreadPoolExecutor, tmp_path: Path) -> None:
    store = open_checkpoints(tmp_path)
    search_shards(BOARD, ROOT, TaskRunner(pool, 3, None, store, is_remote=True))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    counts = [int(search_layer(store, BOARD, ROOT, number, 3, 18)[0][0]) for number in range(3)]
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert sum(counts) == 788  # A090035


def test_a_missing_task_result_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="a worker's result is missing"):
        search_layer(open_checkpoints(tmp_path), BOARD, ROOT, 0, 2, 1)


def test_depths_are_limited_to_a_byte(
    pool: ThreadPoolExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_shards, "UNREACHED", 7)
    with pytest.raises(SearchError, match="6 or more moves"):
        search_shards(
            BOARD, ROOT, TaskRunner(pool, 2, None, open_checkpoints(tmp_path), is_remote=True)
        )
