"""The sharded search: it finds what one machine finds, also where task results are lost."""

import os
import tracemalloc
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from puzzle_tablebase.errors import MemoryShort, StoreError
from puzzle_tablebase.frontier.word_bfs import iter_word_records, search_words
from puzzle_tablebase.pipeline import tasks
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
        build = Tasks(executor or pool, jobs, checkpoints=store, is_remote=True, **options)
        _, names = search_shards(parse_board(name), goal, build)
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


def name_files(store: Checkpoints, level: int) -> dict[str, str]:
    """Name a file of each kind that a search in three shards has when it has made a layer."""
    result = tasks.name_result(search_layer, (store, str(BOARD), ROOT, 1, 3, level))
    names = {
        "layer": boards.LAYER.format(level, 1, 3),
        "old layer": boards.LAYER.format(4, 2, 3),
        "message": boards.MESSAGE.format(0, 1, 3, level + 1),
        "result": result,
        "shards": boards.SHARDS,
    }
    return {kind: store.format_file_name(name) for kind, name in names.items()}


def interrupt_search(folder: Path, level: int = 20, **options: Any) -> None:
    def tired(doing: str, done: int, total: int | None) -> None:
        if done == level:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_in_shards(folder, on_step=tired, **options)


def test_a_search_resumes_from_checkpoints(tmp_path: Path) -> None:
    interrupt_search(tmp_path, jobs=3)
    begun = {path: path.stat().st_mtime_ns for path in (tmp_path / WORK).iterdir()}
    found = search_in_shards(tmp_path, jobs=3)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / WORK).iterdir() if path in begun}
    assert len(kept) > 3 * 20 * 2  # layers, and tasks' results; messages are removed
    assert kept.items() <= begun.items()
    assert np.array_equal(np.concatenate(found), search_whole("2x5", ROOT))


@pytest.mark.parametrize("kind", ["layer", "old layer", "message", "result"])
@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_search_that_lost_a_file_goes_on(tmp_path: Path, kind: str, is_damaged: bool) -> None:
    """Lose what a crash of the machine may lose, or a disk."""
    interrupt_search(tmp_path, jobs=3)
    store = open_checkpoints(tmp_path)
    lost = tmp_path / name_files(store, 20)[kind]
    whole = lost.read_bytes()
    if is_damaged:
        lost.write_bytes(whole[:-1])
    else:
        lost.unlink()
    kept = store.format_file_name(boards.LAYER.format(10, 0, 3))
    before = (tmp_path / kept).stat().st_mtime_ns
    if is_damaged and "layer" in kind:  # it is noticed when it is read
        with pytest.raises(StoreError, match="run the command again") as caught:
            search_in_shards(tmp_path, jobs=3)
        assert lost.name in str(caught.value)
    found = search_in_shards(tmp_path, jobs=3)
    assert np.array_equal(np.concatenate(found), search_whole("2x5", ROOT))
    assert (tmp_path / kept).stat().st_mtime_ns == before, "what is whole is not made again"


def test_a_search_that_lost_all_layers_of_two_distances_goes_on(tmp_path: Path) -> None:
    interrupt_search(tmp_path, jobs=3)
    store = open_checkpoints(tmp_path)
    for level, number in product((8, 9), range(3)):
        store.remove(boards.LAYER.format(level, number, 3))
    found = search_in_shards(tmp_path, jobs=3)
    assert np.array_equal(np.concatenate(found), search_whole("2x5", ROOT))


def test_results_that_were_lost_are_collected_again(tmp_path: Path) -> None:
    search_in_shards(tmp_path, jobs=3)
    store = open_checkpoints(tmp_path)
    lost = tmp_path / store.format_file_name(boards.RESULTS.format(5, 1, 3))
    for damage in (lost.unlink, lambda: lost.write_bytes(b"damaged")):
        damage()
        with suppress(StoreError):
            search_in_shards(tmp_path, jobs=3)
        found = search_in_shards(tmp_path, jobs=3)
        assert np.array_equal(np.concatenate(found), search_whole("2x5", ROOT))


def test_a_search_resumes_with_other_cores_and_another_memory(tmp_path: Path) -> None:
    interrupt_search(tmp_path, jobs=3)
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / WORK).iterdir()}
    found = search_in_shards(tmp_path, jobs=2, memory=300_000)
    assert len(found) == 10 * 3, "blocks, and the shards with which it began"
    assert np.array_equal(np.concatenate(found), search_whole("2x5", ROOT))
    store = open_checkpoints(tmp_path)
    for level in range(20):
        layer = tmp_path / store.format_file_name(boards.LAYER.format(level, 0, 3))
        assert layer.stat().st_mtime_ns == made[layer]


def test_a_search_that_lost_its_number_of_shards_leaves_no_old_ones(tmp_path: Path) -> None:
    interrupt_search(tmp_path, jobs=3)
    store = open_checkpoints(tmp_path)
    (tmp_path / name_files(store, 20)["shards"]).unlink()
    old = tmp_path / name_files(store, 20)["layer"]
    assert old.exists()
    found = search_in_shards(tmp_path, jobs=2)
    assert np.array_equal(np.concatenate(found), search_whole("2x5", ROOT))
    assert not old.exists()


def test_layers_are_synced_before_their_results_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, fsync, replace = list[str](), os.fsync, os.replace

    def record_sync(number: int) -> None:
        place = Path(os.readlink(f"/proc/self/fd/{number}"))
        if place.is_relative_to(tmp_path):
            steps.append("folder" if place.is_dir() else "file")
        fsync(number)

    def record_rename(source: str, target: str) -> None:
        if Path(target).is_relative_to(tmp_path):
            steps.append(Path(target).name)
        replace(source, target)

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(os, "replace", record_rename)
    search_in_shards(tmp_path, "2x3", parse_board("2x3").example, 1)
    store = open_checkpoints(tmp_path, "2x3")
    work = (store, "2x3", parse_board("2x3").example, 0, 1)
    layer, result = (
        store.format_file_name(name).removeprefix(WORK)
        for name in (boards.LAYER.format(9, 0, 1), tasks.name_result(search_layer, (*work, 9)))
    )
    at = steps.index(layer)
    assert steps[at - 1] == "file"
    assert steps[at + 1] == "folder"
    assert steps.index(result) > at + 1


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
