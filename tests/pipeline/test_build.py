"""Tests of builds: why a table is built, in parallel, resumed, with which bytes and counts."""

import io
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from puzzle_tablebase.errors import SearchError, TableError
from puzzle_tablebase.formats import parquet
from puzzle_tablebase.formats.counts import sum_up_depths
from puzzle_tablebase.formats.manifest import add_version, read_manifest, read_versions
from puzzle_tablebase.graph import Graph
from puzzle_tablebase.pipeline import build, tasks
from puzzle_tablebase.pipeline.kinds import checkpoints
from puzzle_tablebase.pipeline.proofs.claims import VerifyFailed
from puzzle_tablebase.pipeline.recipes import tour_meet, tour_rankings
from puzzle_tablebase.pipeline.recipes.tour_sweep import CountOverflow, Layer, advance_layer
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.terminal import format_repair
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_count_table, make_ranking_table
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.queries.published import count_states, list_counts
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.registry import MODULES, get_puzzle
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import MANIFEST, Folder
from puzzle_tablebase.stores.checkpoints import list_checkpoint_files
from puzzle_tablebase.stores.new_files import TemporaryFiles
from tests import first
from tests.support import sliding_oracle
from tests.support.build_recorder import (
    COUNTS,
    SMALL,
    Recorder,
    build_all,
    build_tables,
    contents,
    litter,
)
from tests.support.pancakes import PUZZLE as PANCAKES
from tests.support.pancakes import Pancakes
from tests.support.shell import Cli
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import edit_manifest

# ---- in parallel ----------------------------------------------------------------------------


def build_pair(folder: Path, *, second_fails: bool) -> Recorder:
    """Build two puzzles in parallel: neither makes its graph until both have begun to."""
    barrier, failed = threading.Barrier(2), threading.Event()

    class Half(Pancakes):
        def __init__(self, name: str) -> None:
            super().__init__()
            (old,) = self.tables
            self.name = name
            self.tables = (Table(name, "", old.rank, old.columns, old.recipe, old.index, old.rows),)

        def make_graph(self) -> Graph:
            barrier.wait(60)
            if second_fails and self.name == "second":
                failed.set()
                raise SearchError("the second")
            if second_fails:
                failed.wait(60)
                time.sleep(1)  # until the build knows, which nothing tells
            return super().make_graph()

    puzzles = Half("first"), Half("second")
    return build_all(Folder(folder), [(puzzle, puzzle.tables) for puzzle in puzzles], jobs=2)


def test_independent_tables_are_built_in_parallel(tmp_path: Path) -> None:
    assert {*build_pair(tmp_path, second_fails=False).finished} == {"first", "second"}
    assert {*json.loads(contents(tmp_path)["manifest.json"])["tables"]} == {"first", "second"}


def test_a_failing_table_cancels_the_others(tmp_path: Path) -> None:
    with pytest.raises(SearchError, match="the second"):
        build_pair(tmp_path, second_fails=True)
    assert (contents(tmp_path), litter(tmp_path)) == ({}, [])
    assert build_tables(tmp_path, PANCAKES).finished == ["pancakes"]


def test_a_build_that_was_killed_at_its_end_is_ended(tmp_path: Path) -> None:
    """All files have their names, and the old version is listed still."""
    store = Folder(tmp_path)
    build_tables(store, PANCAKES)
    (entry,) = read_versions(store)["pancakes"]
    assert entry.parquet
    add_version(store, "pancakes", replace(entry, parquet=replace(entry.parquet, bytes=1)))
    assert build_tables(store, PANCAKES).finished == []
    assert read_versions(store)["pancakes"] == [entry]


def test_checkpoints_of_other_tables_are_removed_before_a_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        assert list_checkpoint_files(store, COUNTS.name) == []
        raise SearchError("at once")

    store = Folder(tmp_path)
    checkpoints(store, make_count_table(((3, 4),))).save("part", [np.ones(3)])
    assert list_checkpoint_files(store, COUNTS.name)
    monkeypatch.setattr(build, "make", fail)
    with pytest.raises(SearchError, match="at once"):
        build_tables(store, KNIGHT, COUNTS)


def test_the_lock_is_left_when_no_thread_publishes_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a table fail while another one is being published."""
    is_locked, is_publishing, failed = threading.Event(), threading.Event(), threading.Event()
    seen, publish, lock = list[bool](), TemporaryFiles.publish, Folder.lock

    def publish_slowly(files: TemporaryFiles) -> None:
        is_publishing.set()
        assert failed.wait(60)
        time.sleep(0.3)  # until the build has ended, unless it waits
        seen.append(is_locked.is_set())
        publish(files)

    @contextmanager
    def watch_lock(store: Folder) -> Iterator[None]:
        with lock(store):
            is_locked.set()
            try:
                yield
            finally:
                is_locked.clear()

    class Failing(Pancakes):
        name = "failing"

        def __init__(self) -> None:
            super().__init__()
            (old,) = self.tables
            self.tables = (Table("failing", "", old.rank, old.columns, old.recipe, old.index),)

        def make_graph(self) -> Graph:
            assert is_publishing.wait(60)
            failed.set()
            raise SearchError("in the middle")

    monkeypatch.setattr(TemporaryFiles, "publish", publish_slowly)
    monkeypatch.setattr(Folder, "lock", watch_lock)
    failing, recorder = Failing(), Recorder()
    tables = [(PANCAKES, PANCAKES.tables), (failing, failing.tables)]
    with pytest.raises(SearchError, match="in the middle"):
        build_all(Folder(tmp_path), tables, recorder, jobs=2)
    assert len(seen) > 1
    assert all(seen)


def test_any_number_of_jobs_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Make row groups so small that the list of 8x8 has several."""
    monkeypatch.setattr(parquet, "ROW_GROUP_ROWS", 300)
    for jobs in (1, 2, 7):
        build_tables(tmp_path / str(jobs), KNIGHT, *SMALL, KNIGHT.tables[2], jobs=jobs)
    first, *others = (contents(tmp_path / str(jobs)) for jobs in (1, 2, 7))
    assert len(first) == 5
    assert others == [first, first]
    rows = tmp_path / "1" / KNIGHT.tables[2].file
    assert pq.read_metadata(rows).num_row_groups == 7


@pytest.mark.parametrize("size", [1, 299, 300, 301, 1728])
def test_row_groups_do_not_depend_on_how_rows_arrive(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP_ROWS", 300)
    rows = {column.name: np.arange(1728) % 100 for column in COUNTS.columns}
    rows["board"], written = np.full(1728, b"8x8"), list[bytes]()
    for step in (1728, size):
        file = io.BytesIO()
        with parquet.TableWriter(file, COUNTS) as writer:
            for first in range(0, 1728, step):
                writer.write({name: part[first : first + step] for name, part in rows.items()})
        written.append(file.getvalue())
    assert written[0] == written[1]
    assert pq.read_metadata(io.BytesIO(written[1])).num_row_groups == 6


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name == "senet"))
        for name in MODULES
        if get_puzzle(name).tables
    ],
)
def test_a_table_built_again_is_the_one_published(name: str, outputs: Path, tmp_path: Path) -> None:
    puzzle, published = get_puzzle(name), read_manifest(Folder(outputs))
    # the largest list is left to the tests of `precompute`
    names = {table.name for table in puzzle.tables} - {"knight_tours_6x6"}
    build_tables(tmp_path, puzzle, *(table for table in puzzle.tables if table.name in names))
    assert read_manifest(Folder(tmp_path)) == {table: published[table] for table in names}
    files = {file.file for table in names for file in published[table].all_files}
    assert len(files) >= len(names) > 0
    for file in files:
        assert (tmp_path / file).read_bytes() == (outputs / file).read_bytes()


# ---- tables that rank tours -----------------------------------------------------------------

SIX = make_ranking_table(KnightBoard(6, 6), closed=True)


@pytest.mark.parametrize("board", first(1, ["4x6", "5x6", "6x6", "12x3", "8x5"]))
def test_ranked_open_tours_match_the_counts_of_each_square(
    board: str, outputs: Path, tmp_path: Path
) -> None:
    parsed_board = parse_board(board)
    build_tables(tmp_path, KNIGHT, make_ranking_table(parsed_board, closed=False))
    counted = pl.read_parquet(outputs / "knight_counts.parquet").filter(pl.col("board") == board)
    with open_tables(str(tmp_path)) as tables:
        ranked = tables.knight._prober.open_ranked_tours(parsed_board, closed=False)
        assert ranked.list_counts() == counted["tours"].to_list()


def test_a_killed_build_resumes_from_the_saved_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    advanced, is_killed = list[int](), True

    def advance(layer: Layer, *arguments: object) -> Layer:
        advanced.append(len(layer.keys))
        return advance_layer(layer, *arguments)  # type: ignore[arg-type]  # passed on unchanged

    def on_progress(doing: str, done: int, total: int | None) -> None:
        if doing == "layer 13 of 14, where the halves meet" and is_killed:
            raise KeyboardInterrupt

    monkeypatch.setattr(tasks, "MIN_SAVED_BYTES", 2000)  # a record and what it begins with
    monkeypatch.setattr(tour_rankings, "advance_layer", advance)
    with ThreadPoolExecutor(1) as pool:
        six = Tasks(Workers(pool, 1), on_progress, checkpoints(Folder(tmp_path), SIX))
        with pytest.raises(KeyboardInterrupt):
            tour_rankings.make(SIX, six)
        assert len(advanced) == 12
        advanced.clear()
        is_killed = False
        data = tour_rankings.make(SIX, six)
    assert data.record_count == sum(len((part.records or {})["key"]) for part in data.parts)
    assert max(advanced) < 300, "what follows larger layers is kept"


@pytest.mark.parametrize(
    ("module", "function"), [(tour_rankings, "sum_cycles"), (tour_meet, "add_completions")]
)
def test_too_many_tours_to_rank_are_refused(
    tmp_path: Path, module: ModuleType, function: str
) -> None:
    """The second function runs in threads, whose errors end the build as they are."""
    overflow = patch.object(module, function, side_effect=CountOverflow)
    with overflow, pytest.raises(SearchError):
        build_tables(tmp_path, KNIGHT, make_ranking_table(parse_board("5x6"), closed=True))
    assert not [*tmp_path.glob("*.idx")]


# ---- counts of states -----------------------------------------------------------------------

GOAL = "12345670"
LAYERS = Counter(sliding_oracle.distances(GOAL, 2, 4).values())


def build_board(folder: Path, executor: ThreadPoolExecutor | None = None) -> None:
    tables = SLIDING.find_tables("sliding_2x4")
    build_all(Folder(folder), [(SLIDING, tables)], None, executor, jobs=2)


def test_the_default_tables_are_counted(outputs: Path, cli: Cli, tmp_path: Path) -> None:
    """Compare the goals with sums of rows; other tests have the plies of Senet."""
    file = tmp_path / "counts.parquet"
    assert cli("histogram", "--output", str(file)).code == 0
    assert cli("histogram").code == cli("histogram", "eight", "--output", "counts.csv").code == 2
    counts = pl.read_parquet(file)
    assert list_counts(Folder(outputs)).equals(counts)
    tables = [pl.read_parquet(outputs / f"{name}.parquet") for name in ("eight", "eight_edge")]
    states = [
        group for table in tables for group in table.group_by("goal", "distance").len().rows()
    ]
    assert {*counts.filter(puzzle="eight").select("goal", "distance", "states").rows()} == {*states}


@pytest.mark.parametrize("is_remote", [False, True])
@pytest.mark.parametrize("is_large", [False, True])
def test_every_search_of_a_board_counts_its_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_remote: bool, is_large: bool
) -> None:
    if is_large:
        treat_as_large(monkeypatch, 8)
    with ThreadPoolExecutor(2) as executor:
        build_board(tmp_path, executor if is_remote else None)
    amounts = read_manifest(Folder(tmp_path))["sliding_2x4_8"].list_amounts()
    assert amounts == ({"records": 56, "states": 20_160} if is_large else {"rows": 20_160})
    counts = count_states("sliding", Folder(tmp_path), "4x2").filter(pl.col("goal") == GOAL)
    assert counts.rows() == [(GOAL, *layer) for layer in sorted(LAYERS.items())]
    verify(Folder(tmp_path)).require_no_trouble()


def test_a_false_number_of_a_search_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    treat_as_large(monkeypatch, 8)  # such a board has only an index with a bit for each state
    build_board(tmp_path)
    with edit_manifest(tmp_path) as entries:
        (counts,) = entries["sliding_2x4_8"]["counts"]
        counts["states"][1:3] = counts["states"][1] + 1, counts["states"][2] - 1
    with pytest.raises(VerifyFailed, match="at distance 1") as caught:
        verify(Folder(tmp_path))
    assert caught.value.file == str(tmp_path / MANIFEST)
    command = f"pipeline precompute sliding_2x4_8 --force --outputs {tmp_path}"
    assert format_repair(caught.value) == command


@pytest.mark.parametrize("is_large", [False, True])
def test_a_table_without_numbers_is_refused_and_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_large: bool
) -> None:
    if is_large:
        treat_as_large(monkeypatch, 8)
    build_board(tmp_path)
    manifest = (tmp_path / MANIFEST).read_bytes()
    with edit_manifest(tmp_path) as entries:
        del entries["sliding_2x4_8"]["counts"]
    for read in (list_counts, lambda store: count_states("sliding", store, "2x4")):
        call = re.escape(f"pt.precompute('sliding_2x4_8', outputs='{tmp_path}')")
        with pytest.raises(TableError, match=call):
            read(Folder(tmp_path))
    with pytest.raises(VerifyFailed, match="at distance 0: 0, expected 1") as caught:
        verify(Folder(tmp_path))
    assert caught.value.file == str(tmp_path / MANIFEST)
    again = build_tables(tmp_path, SLIDING, SLIDING.find_tables("sliding_2x4_8")[0])
    assert again.reasons == {"sliding_2x4_8": "counts missing"}
    assert (tmp_path / MANIFEST).read_bytes() == manifest


def test_distances_without_states_are_counted_too() -> None:
    counts = sum_up_depths({("a", 2): 3, ("a", 0): 1, (None, None): 4})
    assert [(each.goal, each.states) for each in counts] == [("a", [1, 0, 3]), (None, [])]
    assert [each.unreachable for each in counts] == [0, 4]
