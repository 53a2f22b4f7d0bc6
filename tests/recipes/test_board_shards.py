"""The sharded search: it finds what one in memory finds, whatever is killed or lost on the way."""

import os
import pickle
import shutil
import time
import tracemalloc
from collections.abc import Container, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from puzzle_tablebase.errors import StoreError
from puzzle_tablebase.formats.encoder import HiddenFile
from puzzle_tablebase.formats.index import read_records
from puzzle_tablebase.formats.index_writer import IndexWriter, make_seed
from puzzle_tablebase.pipeline.kinds import checkpoints
from puzzle_tablebase.pipeline.parallel import run_in_threads
from puzzle_tablebase.pipeline.recipes import board_shards
from puzzle_tablebase.pipeline.recipes.board_shards import (
    SHARDS,
    Part,
    Search,
    collect_bits,
    search_layer,
    search_shards,
    write_bits,
)
from puzzle_tablebase.pipeline.tasks import Step, Tasks
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.puzzles.sliding import SlidingBoard, parse_board
from puzzle_tablebase.schema import BITS_INDEX, ROW_BYTES, Table
from puzzle_tablebase.stores import WORK, Folder
from puzzle_tablebase.stores.checkpoints import Checkpoints
from puzzle_tablebase.two_bit_bfs import shards as bfs_shards
from puzzle_tablebase.two_bit_bfs.search import iter_word_records, search_words
from puzzle_tablebase.two_bit_bfs.shards import Shard, count_shards
from tests import first
from tests.support import reference_numbers

BOARD = parse_board("2x5")
ROOT = BOARD.example
SEARCHED = "sliding_3x5_15"
Results = npt.NDArray[np.uint8]


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda number: None)


@cache
def search_whole(name: str, goal: str) -> Results:
    """Search in memory; return bit 1 of every depth."""
    _, planes = search_words(parse_board(name).make_words(goal), 2, run_in_threads)
    return np.concatenate([*iter_word_records(planes)])


def open_checkpoints(folder: Path, board: str = "2x5") -> Checkpoints:
    return checkpoints(Folder(folder), parse_board(board).tables[0])


def search_in_shards(
    folder: Path, name: str = "2x5", goal: str = ROOT, shards: int = 2,
    executor: Executor | None = None, on_step: Step | None = None,
) -> Results:  # fmt: skip
    """Search in shards, two at a time; return bit 1 of every depth.

    `executor`: workers of other machines, if they search.
    """
    store, board = open_checkpoints(folder, name), parse_board(name)
    with ThreadPoolExecutor(2) as pool:
        workers = Workers(executor or pool, 2, is_remote=executor is not None)
        build = Tasks(workers, on_step, store)
        _, search = search_shards(board, goal, shards, build)
        return write_and_read(folder, search, name)


def make_table(board: SlidingBoard) -> Table:
    """Make the table of a board as if it were large."""
    space, small = board.make_words(board.example), board.tables[0]
    return Table(small.name, "", "", (), small.recipe, BITS_INDEX, space.blocks * space.rows)


def write_and_read(folder: Path, search: Search, name: str) -> Results:
    """Let the shards write their records to a file; return these."""
    store, table = Folder(folder), make_table(parse_board(name))
    assert table.rows
    with store.write_files("index") as files:
        writer = IndexWriter(files[0], table, table.rows)
        hidden = HiddenFile(store, files.get_hidden_name(0))
        for written in search.write_bits(table, hidden):
            writer.add(written)
        writer.finish()
        files.finish()
        with files.reopen(0) as file:
            parts = [*read_records(file, table, table.rows, make_seed(table))]
    return np.concatenate(parts)["bits"].view(np.uint8).reshape(-1, ROW_BYTES)


CASES = [
    *[("2x3", 1, 1), ("2x4", 0, 1), ("3x3", 2, 2)],
    *[("2x5", 0, 3), ("2x5", 0, 4), ("2x5", 2, 10), ("2x5", 1, 1)],
    *[(name, goal, 7) for name, goals in (("3x4", 4), ("2x6", 3)) for goal in range(goals)],
]


@pytest.mark.parametrize(("name", "number", "shards"), first(4, CASES, rest=pytest.mark.nightly))
def test_shards_find_bit_1_of_every_depth(
    tmp_path: Path, name: str, number: int, shards: int
) -> None:
    goal = [*parse_board(name).goals][number]
    found = search_in_shards(tmp_path, name, goal, shards)
    assert np.array_equal(found, search_whole(name, goal))


LAYOUTS = [(name, count) for count in (1, 10, 60) for name in ("2x5", "3x4", "2x7", "3x5", "4x4")]


@pytest.mark.parametrize(("name", "count"), first(len(LAYOUTS) - 1, LAYOUTS))
def test_shards_are_equal_and_each_group_is_read_once(name: str, count: int) -> None:
    board = parse_board(name)
    space = board.make_words(board.example)
    shards = [Shard(space, number, count) for number in range(count)]
    assert (shards[0].first, shards[-1].last) == (0, space.rows)
    assert all(shard.last == after.first for shard, after in pairwise(shards))
    sizes = [shard.rows for shard in shards]
    # of 2x5's 504 rows, 60 shards have one or two of 72 groups of 7
    assert max(sizes) <= (2 if (name, count) == ("2x5", 60) else 1.17) * min(sizes)
    assert all(shard.rows % shard.group == 0 for shard in shards)
    for block in (0, space.blocks // 2):
        read, rows = list[tuple[int, int]](), 0
        for shard in shards:
            for source in shard.list_sources(block):
                assert len(source.numbers) == len(source.rows)
                read += [(source.shard, number) for number in source.numbers.tolist()]
                rows += len(source.rows)
        assert len({*read}) == len(read) == rows


def test_shards_fit_the_memory_and_are_as_many_for_each_job() -> None:
    space = parse_board("2x7").make_words(parse_board("2x7").example)
    for limit in (3 << 28, 1 << 30, 3 << 30):
        count = count_shards(space, limit, 2)
        assert count % 2 == 0
        assert Shard(space, 0, count).estimate_bytes() <= limit
        assert Shard(space, 0, max(1, count - 3)).estimate_bytes() > 0.6 * limit
    # no less than the largest units that a move stays in
    assert count_shards(space, 1, 2) == space.rows // 7


def test_a_task_keeps_to_the_memory_of_a_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measure what is allocated for a whole board."""
    monkeypatch.setattr(bfs_shards, "allocate_pages", bytearray)  # which is measured
    board = parse_board("3x4")
    store, levels = open_checkpoints(tmp_path, "3x4"), 33
    parts = [Part(store, "3x4", board.example, number, 2) for number in range(2)]
    with ThreadPoolExecutor(1) as pool:  # a thread of its own, which has no memory yet
        for level in range(levels - 1):
            for part in parts:
                pool.submit(search_layer, *part, level).result()
    table, _ = make_table(board), (tmp_path / "hidden").write_bytes(b"")
    tracemalloc.start()
    with ThreadPoolExecutor(1) as pool:
        before, _ = tracemalloc.get_traced_memory()
        pool.submit(search_layer, *parts[0], levels - 1).result()
        bits = [level for level in range(levels) if level & 2]
        pool.submit(collect_bits, *parts[0], 0, bits, levels).result()
        hidden = HiddenFile(Folder(tmp_path), "hidden")
        pool.submit(write_bits, *parts[0], 0, bits, table, hidden).result()
        peak = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
    shard = parts[0].open_shard()
    constant = 1_500_000  # what does not grow with the board: the moves
    assert 0.7 * shard.estimate_bytes() <= peak <= shard.estimate_bytes() + constant


def test_a_thread_takes_other_memory_for_shards_of_another_size() -> None:
    """Let this thread take the memory of tasks as it goes from search to search."""
    for name, count in (("2x3", 1), ("2x5", 1), ("2x5", 3), ("2x4", 1)):
        board = parse_board(name)
        shard = Shard(board.make_words(board.example), 0, count)
        memory = board_shards._get_memory(shard)
        assert len(memory.last.frontier) == shard.most_rows * shard.most_blocks
        assert len(memory.incoming.frontier) == shard.most_rows
        assert board_shards._get_memory(shard) is memory


# ---- kills ------------------------------------------------------------------------------------


class Killed(BaseException):
    """The end of the process."""


@contextmanager
def killing(folder: Path, step: int) -> Iterator[list[str]]:
    """Stop before the file of this number gets its name, or is removed; yield what was done."""
    steps, rename, unlink = list[str](), os.replace, os.unlink

    def note(path: Any) -> None:
        if Path(path).is_relative_to(folder) and str(path).endswith(".kept"):
            if len(steps) >= step:
                raise Killed
            steps.append(str(path))

    def replace(source: Any, target: Any) -> None:
        note(target)
        rename(source, target)

    def remove(path: Any) -> None:
        note(path)
        unlink(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", replace)
        patch.setattr(os, "unlink", remove)
        yield steps


def run_and_kill(folder: Path, step: int, shards: int = 2) -> bool:
    """Search until a step, and return whether the search was killed before it ended."""
    with killing(folder, step):
        try:
            search_in_shards(folder, shards=shards)
        except Killed:
            return True
    return False


def is_kept(part: Part, name: str, files: Container[str]) -> bool:
    return part.checkpoints.format_file_name(name) in files


def list_kept(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*.kept")}


def require_files(folder: Path, collected: Sequence[int]) -> None:
    """Require the files that a search leaves for its records: the number of shards, and of each
    shard the layers with the bit that are not collected, the empty layer after the last, and the
    bits of layers before its level in `collected`."""
    store, names = open_checkpoints(folder), [SHARDS]
    for number, end in enumerate(collected):
        part = Part(store, "2x5", ROOT, number, len(collected))
        names += [part.name_layer(level) for level in range(end, 56) if level % 4 > 1]
        names += [part.name_layer(56), *[part.name_bits(end)] * (end > 0)]
    assert list_kept(folder) == {*map(store.format_file_name, names)}


def read_times(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.kept")}


STEPS = [63, 101, 102, 229, 5, 303, *range(0, 310, 7)]


@pytest.mark.parametrize("step", first(2, STEPS, rest=pytest.mark.nightly))
def test_a_search_that_is_killed_before_any_step_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    monkeypatch.setattr(board_shards, "KEPT_BYTES_PER_STATE", 0.01)  # bits are collected often
    run_and_kill(tmp_path, step)
    there = read_times(tmp_path)
    assert not run_and_kill(tmp_path, 10_000)
    made = read_times(tmp_path)
    assert all(made.get(path, at) == at for path, at in there.items()), "it is not made again"
    found = search_in_shards(tmp_path)
    assert np.array_equal(found, search_whole("2x5", ROOT))


def test_a_search_that_is_killed_again_and_again_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_shards, "KEPT_BYTES_PER_STATE", 0.01)
    kills, there = 0, dict[Path, int]()
    while run_and_kill(tmp_path, 25):
        kills += 1
        assert kills < 40
        made = read_times(tmp_path)
        assert all(made.get(path, at) == at for path, at in there.items()), "it is not made again"
        there = made
    assert kills > 5
    found = search_in_shards(tmp_path)
    assert np.array_equal(found, search_whole("2x5", ROOT))
    # where it was killed decides at which level each shard collects bits
    parts = [Part(open_checkpoints(tmp_path), "2x5", ROOT, number, 2) for number in range(2)]
    files = {*parts[0].checkpoints.list_files()}
    ends = [
        max(level for level in range(56) if is_kept(part, part.name_bits(level), files))
        for part in parts
    ]
    require_files(tmp_path, ends)
    assert ends[-1] > 20


LAST = 49
"""The level at which searches are interrupted: not far from the end, which is searched often."""


def interrupt_search(folder: Path, level: int = LAST, **options: Any) -> int:
    """Search to a level at which all files are there; return the first one that was searched."""
    begun = list[str]()

    def tired(doing: str, done: int, total: int | None) -> None:
        begun.append(doing)
        if doing == f"layer {level}: shards" and done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_in_shards(folder, on_step=tired, **options)
    return int(begun[0].removeprefix("layer ").removesuffix(": shards"))


def name_files() -> dict[str, str]:
    """Name each kind of file that an interrupted search in three shards has."""
    part = Part(None, "2x5", ROOT, 1, 3)  # type: ignore[arg-type]  # names need no store
    return {
        "last layer": part.name_layer(LAST),
        "layer before": part.name_layer(LAST - 1),
        "kept layer": part.name_layer(LAST - 2),
        "bits": part.name_bits(LAST - 5),
        "shards": SHARDS,
    }


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a search that was interrupted, which each test copies."""
    folder = tmp_path_factory.mktemp("unfinished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda number: None)
        patch.setattr(board_shards, "KEPT_BYTES_PER_STATE", 1e-4)
        interrupt_search(folder, shards=3)
    return folder


@pytest.fixture
def interrupted(tmp_path: Path, unfinished: Path, monkeypatch: pytest.MonkeyPatch) -> Checkpoints:
    monkeypatch.setattr(board_shards, "KEPT_BYTES_PER_STATE", 1)
    shutil.copytree(unfinished, tmp_path, dirs_exist_ok=True)
    return open_checkpoints(tmp_path)


@pytest.mark.parametrize(
    ("what", "level"),
    [
        *(("", LAST + 1), ("last layer", LAST), ("layer before", LAST - 1)),
        *(("kept layer", 0), ("bits", 0), ("shards", 0)),
    ],
)
def test_a_search_that_lost_a_file_goes_on_after_the_last_whole_level(
    tmp_path: Path, interrupted: Checkpoints, what: str, level: int
) -> None:
    if what:
        (tmp_path / interrupted.format_file_name(name_files()[what])).unlink()
    assert interrupt_search(tmp_path, level=level + 2, shards=3) == level
    if level or what == "bits":
        found = search_in_shards(tmp_path, shards=3)
        assert np.array_equal(found, search_whole("2x5", ROOT))
        require_files(tmp_path, [LAST - 5 if level else 0] * 3)
    else:
        there = list_kept(tmp_path)
        (tmp_path / "new").mkdir()
        interrupt_search(tmp_path / "new", level=level + 2, shards=3)
        assert there == list_kept(tmp_path / "new"), "no old ones are left"


def test_what_some_shards_made_of_the_next_layer_is_not_made_again(
    tmp_path: Path, interrupted: Checkpoints
) -> None:
    """Lose one shard's file of the last layer, as if the others had been faster."""
    names = [Part(interrupted, "2x5", ROOT, number, 3).name_layer(LAST) for number in range(3)]
    lost, *others = [tmp_path / interrupted.format_file_name(name) for name in names]
    lost.unlink()
    before = [file.stat().st_mtime_ns for file in others]
    interrupt_search(tmp_path, shards=3)
    assert lost.exists()
    assert [file.stat().st_mtime_ns for file in others] == before


def test_of_collected_bits_the_last_are_kept(tmp_path: Path, interrupted: Checkpoints) -> None:
    """Leave a shard's earlier bits, as if a crash had undone their removal."""
    part = Part(interrupted, "2x5", ROOT, 1, 3)
    ends = (LAST - 9, LAST - 5)
    earlier, last = [tmp_path / interrupted.format_file_name(part.name_bits(end)) for end in ends]
    earlier.write_bytes(last.read_bytes())
    before = last.stat().st_mtime_ns
    assert interrupt_search(tmp_path, level=LAST + 1, shards=3) == LAST + 1
    assert not earlier.exists()
    assert last.stat().st_mtime_ns == before


DAMAGE = [
    *(("last layer", -30), ("last layer", 0), ("kept layer", 0), ("bits", 0), ("bits", -1)),
    *(("last layer", -1), ("kept layer", -1), ("kept layer", -30), ("bits", -30)),
]


@pytest.mark.parametrize(("what", "at"), first(5, DAMAGE))
def test_a_damaged_file_is_noticed_when_it_is_read_and_made_again(
    tmp_path: Path, interrupted: Checkpoints, what: str, at: int
) -> None:
    damaged = tmp_path / interrupted.format_file_name(name_files()[what])
    data = bytearray(damaged.read_bytes())
    data[at] ^= 1
    damaged.write_bytes(data)
    with pytest.raises(StoreError, match="run the command again") as caught:
        search_in_shards(tmp_path, shards=3)
    assert damaged.name in str(caught.value)
    assert not damaged.exists()
    begin = LAST if what == "last layer" else 0
    assert interrupt_search(tmp_path, level=begin + 2, shards=3) == begin
    if begin:
        found = search_in_shards(tmp_path, shards=3)
        assert np.array_equal(found, search_whole("2x5", ROOT))


def test_damage_is_noticed_in_groups_that_are_read_apart(
    tmp_path: Path, interrupted: Checkpoints
) -> None:
    """Damage the last of some groups that another shard reads, and not the ones between."""
    part = Part(interrupted, "2x5", ROOT, 1, 3)
    sizes = part.require_layer(LAST).sizes
    first, *_, last = np.flatnonzero(sizes)
    assert part.require_layer(LAST).load_groups(np.array([first, last])).starts[-1] > 0
    file = tmp_path / interrupted.format_file_name(part.name_layer(LAST))
    data = bytearray(file.read_bytes())
    data[sizes[: last + 1].sum() - 1] ^= 1
    file.write_bytes(data)
    rows = part.require_layer(LAST)
    rows.load_groups(np.array([first, last - 1]))
    with pytest.raises(StoreError, match="missing or damaged"):
        rows.load_groups(np.array([first, last]))
    assert not file.exists(), "it is made again"


def test_a_search_that_lost_its_number_of_shards_leaves_no_old_ones(
    tmp_path: Path, interrupted: Checkpoints
) -> None:
    (tmp_path / interrupted.format_file_name(SHARDS)).unlink()
    found = search_in_shards(tmp_path, shards=2)
    assert np.array_equal(found, search_whole("2x5", ROOT))
    require_files(tmp_path, [0, 0])


def test_only_files_that_a_later_layer_or_the_result_needs_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = [0.0]

    def measure(doing: str, done: int, total: int | None) -> None:
        sizes = [path.stat().st_size for path in tmp_path.rglob("*.kept")]
        most[0] = max(most[0], sum(sizes) / BOARD.size)

    found = search_in_shards(tmp_path, shards=1, on_step=measure)
    assert np.array_equal(found, search_whole("2x5", ROOT))
    assert most[0] <= board_shards.STORED_BYTES_PER_STATE


def test_a_folder_has_the_files_of_at_most_a_hundred_shards(tmp_path: Path) -> None:
    checkpoints = open_checkpoints(tmp_path)
    parts = [Part(checkpoints, "2x5", ROOT, number, 320) for number in range(320)]
    for names in ([part.name_layer(7) for part in parts], [part.name_bits(7) for part in parts]):
        files = [Path(parts[0].checkpoints.format_file_name(name)) for name in names]
        folders = [file.parent for file in files]
        assert max(folders.count(folder) for folder in folders) == 100
        assert len({*files}) == 320


def test_files_are_synced_before_they_get_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, replace = list[str](), os.replace

    def record_sync(number: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{number}"))
        if path.is_relative_to(tmp_path):
            steps.append("folder" if path.is_dir() else "file")

    def record_rename(source: str, target: str) -> None:
        if Path(target).is_relative_to(tmp_path):
            steps.append(Path(target).name)
        replace(source, target)

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(os, "replace", record_rename)
    monkeypatch.setattr(board_shards, "KEPT_BYTES_PER_STATE", 0)
    root = parse_board("2x3").example
    search_in_shards(tmp_path, "2x3", root, 1)
    part = Part(open_checkpoints(tmp_path, "2x3"), "2x3", root, 0, 1)
    for name in (part.name_layer(9), part.name_bits(20), SHARDS):
        at = steps.index(Path(part.checkpoints.format_file_name(name)).name)
        assert steps[at - 1] == "file"
        assert steps[at + 1] == "folder"


class RepeatingExecutor(ThreadPoolExecutor):
    """Executor that runs every task of a search twice, as if the first worker had been killed."""

    def __init__(self, folder: Path) -> None:
        super().__init__(1)
        self.work, self.repeated = folder / WORK, 0

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        _, task, task_arguments = arguments
        old = {*self.work.rglob("*.kept")}
        result = task(*task_arguments)
        new = {path: path.read_bytes() for path in {*self.work.rglob("*.kept")} - old}
        for path in new:
            path.unlink()
        future = super().submit(function, *arguments, **options)
        assert pickle.dumps(future.result()) == pickle.dumps(result)
        assert {path: path.read_bytes() for path in {*self.work.rglob("*.kept")} - old} == new
        self.repeated += len(new) or 1
        return future


def test_a_repeated_task_writes_the_same_bytes(tmp_path: Path) -> None:
    with RepeatingExecutor(tmp_path) as executor:
        found = search_in_shards(tmp_path, executor=executor)
    assert executor.repeated >= 2 * (56 + 1 + 1)  # shards; layers, an empty one, and the records
    assert np.array_equal(found, search_whole("2x5", ROOT))


@pytest.mark.nightly
def test_the_first_layers_of_3x5_are_the_published_ones(tmp_path: Path) -> None:
    """Search a board that does not fit the memory, as far as a minute allows."""
    board, published = parse_board("3x5"), reference_numbers.numbers("sliding.txt", SEARCHED)
    assert board.tables[0].name == SEARCHED
    parts = [
        Part(open_checkpoints(tmp_path, "3x5"), "3x5", board.example, number, 24)
        for number in range(24)
    ]
    found, end = list[int](), time.monotonic() + 40  # the last layer may take ten seconds more
    with ThreadPoolExecutor(2) as pool:
        search = Search(
            parts, board.size, Tasks(Workers(pool, 2), checkpoints=parts[0].checkpoints)
        )
        while len(found) < 12 or time.monotonic() < end:
            found.append(search.find_layer(len(found)))
    assert found == published[: len(found)]


def search_small_boards() -> str:
    """Return the bits of two boards, as text."""
    results = []
    for name in ("2x3", "2x4"):
        with TemporaryDirectory() as folder:
            found = search_in_shards(Path(folder), name, parse_board(name).example, 1)
        results.append(found.tobytes().hex())
    return " ".join(results)
