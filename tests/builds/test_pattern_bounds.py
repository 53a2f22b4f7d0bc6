"""The tables of patterns' bounds, beside the 8-puzzle's table and a slow search of patterns."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from pipeline.build_context import BuildContext
from pipeline.builders import bounds_table
from pipeline.tasks import TaskRunner
from queries.report.writer import write_report
from tablebase.build_errors import SearchError
from tablebase.puzzles.fifteen.bounds import (
    PARTITIONS_BY_BOARD,
    PatternBounds,
    make_bounds_table,
)
from tablebase.puzzles.fifteen.definition import PUZZLE
from tablebase.tables.manifest import read_manifest, read_pages
from tablebase.tables.store import Folder
from tests.support import fifteen_oracle as oracle
from tests.support.shell import Cli
from tests.support.tampered import write_manifest

NAME = "pattern_bounds_3x3"


@pytest.mark.parametrize("partition", PARTITIONS_BY_BOARD["3x3"])
def test_every_state_has_the_bound_of_a_slow_search(
    bounds_3x3: Path, outputs: Path, partition: str
) -> None:
    patterns = [
        [int(tile) for tile in tiles.split()]
        for tiles in PARTITIONS_BY_BOARD["3x3"][partition].split("/")
    ]
    known = [oracle.distances(3, 3, tiles) for tiles in patterns]
    states = pl.read_parquet(outputs / "eight.parquet").filter(goal="corner")
    counts = Counter[tuple[int, int]]()
    for state, distance in states.select("state", "distance").rows():
        cells = {int(tile): cell for cell, tile in enumerate(state)}
        bound = sum(
            depths[tuple(cells[tile] for tile in tiles)]
            for depths, tiles in zip(known, patterns, strict=True)
        )
        counts[distance, bound] += 1
    rows = pl.read_parquet(bounds_3x3 / f"{NAME}.parquet").filter(partition=partition)
    result = rows.select("distance", "bound", "states").rows()
    assert result == [(*key, states) for key, states in sorted(counts.items())]
    if partition == "manhattan":
        summed = states.group_by("distance", "manhattan").len().sort("distance", "manhattan")
        assert result == summed.rows()


@pytest.mark.parametrize("board", PARTITIONS_BY_BOARD)
def test_a_partition_has_every_tile_once(board: str) -> None:
    recipe = make_bounds_table(board).recipe
    assert isinstance(recipe, PatternBounds)
    for partition in recipe.list_partitions().values():
        tiles = [tile for pattern in partition.patterns for tile in pattern.tiles]
        assert sorted(tiles) == list(range(1, recipe.board.cells))


def test_a_bound_above_a_distance_is_an_error(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = bounds_table.make_flat_table
    monkeypatch.setattr(bounds_table, "make_flat_table", lambda *given: make(*given) + 1)
    table = make_bounds_table("3x3")
    assert isinstance(table.recipe, PatternBounds)
    with ThreadPoolExecutor(1) as pool:
        context = BuildContext(TaskRunner(pool, 1), Folder(outputs))
        rows, *_ = bounds_table.make(table.recipe, PUZZLE, table, context)
        with pytest.raises(SearchError, match="The bound of manhattan is larger than a distance"):
            list(rows)


def test_the_commands_know_the_table(bounds_3x3: Path, cli: Cli) -> None:
    place = ("--outputs", str(bounds_3x3))
    again = cli("precompute", "fifteen", "--bounds", "3x3", *place)
    assert (again.code, again.err) == (0, "")
    assert "up to date" in again.out
    (status,) = [
        row for row in json.loads(cli("status", "--json", *place).out) if row["table"] == NAME
    ]
    assert status["command"].startswith("pipeline precompute fifteen --bounds 3x3 ")
    said = cli("verify", *place)
    assert (said.code, f"{NAME}.parquet" in said.out, "proved" in said.out) == (0, True, True)
    bad = cli("precompute", "fifteen", "--bounds", "5x5", *place)
    assert (bad.code, "3x3, 3x4" in bad.err) == (2, True)


def test_the_report_has_a_chapter(
    bounds_3x3: Path, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("vl_convert")
    (copy / f"{NAME}.parquet").symlink_to(bounds_3x3 / f"{NAME}.parquet")
    (entry,) = read_manifest(Folder(bounds_3x3)).values()
    write_manifest(Folder(copy), {**read_manifest(Folder(copy)), NAME: entry})
    monkeypatch.setattr("queries.report.writer.list_sections", list)
    target = copy / "report.html"
    write_report(Folder(copy), target)
    page = target.read_text("utf-8")
    assert page.count("<h2>Patterns on 3x3</h2>") == 1
    assert "The bound of 4-4 is 3.8 moves too low, that of Manhattan 8.0" in page
    assert "3-3-2 5.77 moves, exact for 4.1%" in page
    assert f"<code>{NAME}.parquet</code>" in page
    assert read_pages(Folder(copy))["report.html"].made_from == {NAME: entry.content}
    write_report(Folder(bounds_3x3), tmp_path / "alone.html")
    assert "Patterns on 3x3" in (tmp_path / "alone.html").read_text("utf-8")
