"""The sharded search: it finds what one machine finds, also where task results are lost."""

import tracemalloc
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from puzzle_tablebase.errors import MemoryShort, StoreError
from puzzle_tablebase.frontier.word_bfs import iter_word_records, search_words
from puzzle_tablebase.pipeline.recipes import boards
from puzzle_tablebase.pipeline.recipes.boards import (
    Shard,
    collect_results,
    search_layer,
    search_shards,
)
from puzzle_tablebase.pipeline.searches import checkpoints
from puzzle_tablebase.pipeline.tasks import Tasks, run_in_threads
from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.stores import WORK
from puzzle_tablebase.stores.checkpoints import Checkpoints
from puzzle_tablebase.stores.folder import Folder
from tests import first

BOARD = parse_board("2x5")
ROOT = BOARD.example
Results = npt.NDArray[np.uint8]


@cache
def search_whole(name: str, goal: str) -> Results:
    """Search on one machine; return bit 1 of every depth."""
    _, planes = search_words(parse_board(name).make_words(goal), 2, run_in_threads)
    return np.concatenate([*iter_word_records(planes)])


def open_checkpoints(folder: Path, board: str = "2x5") -> Checkpoints:
    return checkpoints(Folder(folder), parse_board(board).tables[0])


def search_in_shards(
    folder: Path, name: str = "2x5", goal: str = ROOT, jobs: int = 2,
    executor: Executor | None = None, **options: Any,
) -> list[Results]:  # fmt: skip
    """Search in shards, two at a time; return their parts of bit 1 of every depth."""
    store = open_checkpoints(folder, name)
    with ThreadPoolExecutor(2) as pool:
        tasks = Tasks(executor or pool, jobs, checkpoints=store, is_remote=True, **options)
        _, names = search_shards(parse_board(name), goal, tasks)
    return [store.require(name)[0] for name in names]


CASES = [
    # too small for more than one shard
    *[("2x3", 1, 2), ("2x4", 0, 5), ("3x3", 2, 2)],
    *[("2x5", 0, 3), ("2x5", 0, 4), ("2x5", 2, 10), ("2x5", 1, 2)],
    *[(name, goal, 7) for name, goals in (("3x4", 4), ("2x6", 3)) for goal in range(goals)],
]


@pytest.mark.parametrize(("name", "number", "shards"), first(4, CASES, rest=pytest.mark.nightly))
def test_shards_find_bit_1_of_every_depth(
    tmp_path: Path, name: str, number: int, shards: int
) -> None:
    goal = [*parse_board(name).goals][number]
    found = search_in_shards(tmp_path, name, goal, shards)
    assert np.array_equal(np.concatenate(found), search_whole(name, goal))


@pytest.mark.parametrize("count", [1, 10, 60])
@pytest.mark.parametrize("name", ["2x5", "3x4", "2x7", "3x5", "4x4"])
def test_shards_are_equal_and_know_who_sends(name: str, count: int) -> None:
    board = parse_board(name)
    space = board.make_words(board.example)
    shards = [Shard(space, number, count) for number in range(count)]
    assert (shards[0].first, shards[-1].last) == (0, space.rows)
    assert all(shard.last == after.first for shard, after in pairwise(shards))
    sizes = [shard.rows for shard in shards]
    # of 2x5's 504 rows, 60 shards have one or two of 72 groups of 7
    assert max(sizes) <= (2 if (name, count) == ("2x5", 60) else 1.15) * min(sizes)
    pairs = {(shard, partner) for shard in range(count) for partner in shards[shard].partners}
    assert pairs == {(partner, shard) for shard, partner in pairs}


def test_shards_within_a_memory_limit_find_bit_1_of_every_depth(tmp_path: Path) -> None:
    limit = 300_000
    chunks = search_in_shards(tmp_path, memory=limit)
    assert np.array_equal(np.concatenate(chunks), search_whole("2x5", ROOT))
    assert len(chunks) == 10 * 4  # blocks, and shards: an even number, as there are two jobs
    assert max(map(len, chunks)) * 10 * 360 * boards.BYTES_PER_STATE <= 1.2 * limit


def test_a_shard_that_does_not_fit_a_worker_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreError):
        search_layer(open_checkpoints(tmp_path), str(BOARD), ROOT, 0, 2, 1)
    monkeypatch.setattr(boards, "get_free_memory", lambda: 200_000)
    with pytest.raises(MemoryShort) as caught:
        search_layer(open_checkpoints(tmp_path), str(BOARD), ROOT, 0, 2, 0)
    assert caught.value.needed == 1_814_400 * 0.5 / 2
    assert not [*tmp_path.iterdir()]


def test_a_task_keeps_to_the_memory_of_a_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measure what is allocated for a whole board, in few rows at a time as on a large board."""
    monkeypatch.setattr(boards, "ROWS_PER_STEP", 64)
    store, task, levels = open_checkpoints(tmp_path), (str(BOARD), ROOT, 0, 1), 0
    search_layer(store, *task, levels)  # makes the moves, and loads what is needed
    collect_results(store, *task, 1)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        while search_layer(store, *task, levels)[0][0]:
            levels += 1
        collect_results(store, *task, levels)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    constant = 200_000  # what does not grow with the board
    assert peak <= BOARD.size * boards.BYTES_PER_STATE + constant


def test_a_search_resumes_from_checkpoints(tmp_path: Path) -> None:
    def tired(doing: str, done: int, total: int | None) -> None:
        if done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_in_shards(tmp_path, jobs=3, on_step=tired)
    begun = {path: path.stat().st_mtime_ns for path in (tmp_path / WORK).iterdir()}
    found = search_in_shards(tmp_path, jobs=3)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / WORK).iterdir() if path in begun}
    assert len(kept) > 3 * 20 * 2  # layers, and tasks' results; messages are removed
    assert kept.items() <= begun.items()
    assert np.array_equal(np.concatenate(found), search_whole("2x5", ROOT))


class RepeatingExecutor(ThreadPoolExecutor):
    """Executor that runs every task of a search twice, as if the first worker had been killed."""

    def __init__(self, folder: Path) -> None:
        super().__init__(1)
        self.work, self.repeated = folder / WORK, 0

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        _, task, task_arguments = arguments
        old = {*self.work.glob("*")}
        task(*task_arguments)
        written = {path: path.read_bytes() for path in {*self.work.iterdir()} - old}
        future = super().submit(function, *arguments, **options)
        future.result()
        assert written == {path: path.read_bytes() for path in written} != {}
        self.repeated += 1
        return future


def test_a_repeated_task_writes_the_same_bytes(tmp_path: Path) -> None:
    with RepeatingExecutor(tmp_path) as executor:
        found = search_in_shards(tmp_path, executor=executor)
    assert executor.repeated == 2 * (56 + 1 + 1)  # shards; layers, an empty one, and the results
    assert np.array_equal(np.concatenate(found), search_whole("2x5", ROOT))


def search_small_boards() -> str:
    """Return the bits of two boards, as text."""
    results = []
    for name in ("2x3", "2x4"):
        with TemporaryDirectory() as folder:
            found = search_in_shards(Path(folder), name, parse_board(name).example, 1)
        results.append(np.concatenate(found).tobytes().hex())
    return " ".join(results)
