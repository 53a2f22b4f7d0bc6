"""Tests of builds: why a table is built, and which tables are built in parallel."""

import io
import json
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats import parquet
from puzzle_tablebase.formats.index import write_index
from puzzle_tablebase.graph import Graph
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_count_table
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.folder import Folder
from tests.support.build_recorder import (
    COUNTS,
    SMALL,
    TOURS,
    Recorder,
    build_all,
    build_tables,
    contents,
    describe_anew,
    litter,
)
from tests.support.pancakes import PUZZLE as PANCAKES
from tests.support.pancakes import Pancakes

# ---- reasons ------------------------------------------------------------------------------------


def test_only_missing_tables_are_built(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "down"
    first = build_tables(folder, KNIGHT, *SMALL)
    assert first.reasons == {"knight_tours_3x4": "missing", "knight_counts": "missing"}
    assert first.finished == list(first.reasons)
    second = build_tables(folder, KNIGHT, *SMALL)
    assert (second.lines, second.finished) == ([], [])
    files = ["knight_counts.parquet", "knight_tours_3x4.parquet", "manifest.json"]
    assert sorted(contents(folder)) == files


def test_changed_parameters_cause_a_rebuild_and_descriptions_none(tmp_path: Path) -> None:
    build_tables(tmp_path, KNIGHT, *SMALL)
    changed = describe_anew(TOURS, "Some words"), make_count_table(((3, 4), (2, 2), (1, 1)))
    assert build_tables(tmp_path, KNIGHT, *changed).reasons == {COUNTS.name: "parameters changed"}
    assert build_tables(tmp_path, KNIGHT, *changed).reasons == {}
    assert pl.read_parquet(tmp_path / "knight_counts.parquet").height == 12 + 4 + 1


# ---- in parallel ----------------------------------------------------------------------------


class Pair:
    """Two puzzles built in parallel: neither makes its graph until both have begun to."""

    def __init__(self, second_fails: bool) -> None:
        barrier = threading.Barrier(2)
        self.failed = threading.Event()

        def graph(pancakes: Pancakes) -> Graph:
            barrier.wait(60)
            if pancakes is self.second and second_fails:
                self.failed.set()
                raise SearchError("the second")
            if second_fails:
                self.failed.wait(60)
                time.sleep(1)  # until the build knows, which nothing tells
            return Pancakes.make_graph(pancakes)

        self.first, self.second = Pancakes(), Pancakes()
        for puzzle, name in ((self.first, "first"), (self.second, "second")):
            (old,) = puzzle.tables
            puzzle.name = name
            columns, rank = old.columns, old.rank
            puzzle.tables = (Table(name, "", rank, columns, old.recipe, old.index, old.rows),)
            puzzle.make_graph = partial(graph, puzzle)  # type: ignore[method-assign]

    def build(self, folder: Path) -> Recorder:
        tables = [(puzzle, puzzle.tables) for puzzle in (self.first, self.second)]
        return build_all(Folder(folder), tables, jobs=2)


def test_independent_tables_are_built_in_parallel(tmp_path: Path) -> None:
    assert {*Pair(second_fails=False).build(tmp_path).finished} == {"first", "second"}
    assert {*json.loads(contents(tmp_path)["manifest.json"])["tables"]} == {"first", "second"}


def test_a_failing_table_cancels_the_others(tmp_path: Path) -> None:
    with pytest.raises(SearchError, match="the second"):
        Pair(second_fails=True).build(tmp_path)
    assert (contents(tmp_path), litter(tmp_path)) == ({}, [])
    assert build_tables(tmp_path, PANCAKES).finished == ["pancakes"]


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


def test_an_index_with_a_wrong_number_of_records_is_refused() -> None:
    with pytest.raises(SearchError, match=r"The index of pancakes has 3 records, not 4\."):
        write_index(
            io.BytesIO(),
            PANCAKES.tables[0],
            4,
            iter([{"distance": np.arange(3), "solutions": np.arange(3)}]),
            "00" * 32,
        )
