"""Tests of tables that rank tours: requested, refused, resumed, listed and removed."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import polars as pl
import pytest

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.pipeline import tasks
from puzzle_tablebase.pipeline.recipes import tour_rankings
from puzzle_tablebase.pipeline.recipes.tour_sweep import CountOverflow, Layer, advance_layer
from puzzle_tablebase.pipeline.searches import checkpoints
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import PUZZLE, make_ranking_table
from puzzle_tablebase.queries import open_reader
from puzzle_tablebase.queries.knight.reader import KnightReader
from puzzle_tablebase.stores.folder import Folder
from tests import first
from tests.support.build_recorder import build_tables

SIX = make_ranking_table(KnightBoard(6, 6), closed=True)


@pytest.mark.parametrize("board", first(1, ["4x6", "5x6", "6x6", "12x3", "8x5"]))
def test_ranked_open_tours_match_the_counts_of_each_square(
    board: str, outputs: Path, tmp_path: Path
) -> None:
    parsed_board = parse_board(board)
    build_tables(tmp_path, PUZZLE, make_ranking_table(parsed_board, closed=False))
    counted = pl.read_parquet(outputs / "knight_counts.parquet").filter(pl.col("board") == board)
    reader = open_reader("knight", Folder(tmp_path))
    assert isinstance(reader, KnightReader)
    ranked = reader.open_ranked_tours(parsed_board, closed=False)
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
        of_table = Tasks(pool, 1, on_progress, checkpoints(Folder(tmp_path), SIX))
        with pytest.raises(KeyboardInterrupt):
            tour_rankings.make(SIX, PUZZLE, of_table)
        assert len(advanced) == 12
        advanced.clear()
        is_killed = False
        data = tour_rankings.make(SIX, PUZZLE, of_table)
    assert data.record_count == sum(len(stretch["key"]) for stretch in data.rows)
    assert advanced
    assert max(advanced) < 300, "what follows larger layers is kept"


def test_too_many_tours_to_rank_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tour_rankings, "sum_cycles", Mock(side_effect=CountOverflow))
    with pytest.raises(SearchError):
        build_tables(tmp_path, PUZZLE, make_ranking_table(parse_board("5x6"), closed=True))
    assert not [*tmp_path.glob("*.idx")]
