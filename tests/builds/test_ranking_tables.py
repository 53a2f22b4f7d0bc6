"""Tests of tables that rank tours: requested, refused, resumed, listed and removed."""

import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from pipeline.builders import checkpoints, tour_sweeps
from pipeline.builders.tour_sweeps import SweepSettings, make_ranking
from pipeline.search.tour_sweep import CountOverflow, Layer, advance_layer
from pipeline.tasks import BuildContext, MemoryLimit, TableData, TaskRunner
from queries.dispatch import open_reader
from queries.knight.reader import KnightReader
from queries.knight.sampling import count_ranked_tours
from queries.status import list_status
from tablebase.errors import SearchError
from tablebase.puzzles.knight.board import KnightBoard, parse_board
from tablebase.puzzles.knight.tables import (
    PUZZLE,
    TourRanking,
    make_ranking_table,
)
from tablebase.tables.manifest import list_parameters, read_manifest
from tablebase.tables.store import Folder
from tests import first
from tests.support.build_recorder import build_tables, contents
from tests.support.shell import Cli

SIX = make_ranking_table(KnightBoard(6, 6), closed=True)
NAME = SIX.name


def test_a_ranking_table_is_published_and_listed(ranked_boards: Path, tmp_path: Path) -> None:
    rows = {row["table"]: row for row in list_status(Folder(ranked_boards))}
    assert rows[NAME]["state"] == "published"
    assert rows[NAME]["command"] == (
        f"pipeline precompute knight_closed_ranks_6x6 --outputs {ranked_boards}"
    )
    published = read_manifest(Folder(ranked_boards))
    listed = [table.name for table in PUZZLE.list_published(list_parameters(published))]
    expected = [f"closed_ranks_{board}" for board in ("10x3", "5x6", "6x5", "6x6")]
    expected += [f"ranks_{board}" for board in ("5x4", "5x5", "8x3")]
    assert listed[-7:] == [f"knight_{name}" for name in expected]
    build_tables(tmp_path, PUZZLE, SIX)
    assert contents(tmp_path)[f"{NAME}.idx"] == (ranked_boards / f"{NAME}.idx").read_bytes()
    assert build_tables(tmp_path, PUZZLE, SIX).reasons == {NAME: "up to date"}


def test_ranking_tables_are_built_on_request_and_removed(copy: Path, cli: Cli) -> None:
    options = ["--outputs", str(copy)]
    text = cli("precompute", "knight_closed_ranks_5x6", *options)
    assert text.code == 0, text.err
    assert "knight_closed_ranks_5x6" in text.out
    assert (copy / "knight_closed_ranks_5x6.idx").stat().st_size == 20_480
    text = cli("precompute", "knight_ranks_5x4", *options)
    assert text.code == 0, text.err
    assert "knight_ranks_5x4" in text.out
    assert cli("query", "knight", "b1", "--board", "5x4", "--rank", "6", *options).code == 0
    assert cli("remove", "knight_closed_ranks_5x6", "knight_ranks_5x4", *options).code == 0
    assert not [*copy.glob("knight_closed_ranks*"), *copy.glob("knight_ranks*")]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("knight_closed_ranks_4x5", 1, "4x5 has no closed tour."),
        ("knight_closed_ranks_9x8", 2, "9x8 has too many closed tours to count."),
        ("knight_closed_ranks_6", 2, "'6' is not a board"),
        ("knight_ranks_3x3", 1, "3x3 has no tour."),
        ("knight_ranks_2x9", 1, "2x9 has no tour."),
        (
            "knight_ranks_8x8",
            2,
            "8x8 has too many open tours to rank. knight_closed_ranks_8x8 has every closed tour by",
        ),
        (
            "knight_ranks_9x9",
            2,
            "9x9 has too many open tours to rank. The largest board is",
        ),
        ("knight_ranks_4x4", 1, "4x4 has no tour."),
        ("knight_tours_7x7", 1, "7x7 has too many tours to list (1.2 TB). knight_ranks_7x7"),
        *(
            (f"eight --memory {size}", 2, "--memory needs a number of gigabytes above 0, not")
            for size in ("1e400", "inf", "nan", "-1", "0")
        ),
        (
            "knight_closed_ranks_8x8 --memory 1",
            3,
            "knight_closed_ranks_8x8 needs 2.35 GB of memory; available: 1.00 GB",
        ),
    ],
)
def test_invalid_requests_are_refused(
    words: str, code: int, message: str, copy: Path, cli: Cli
) -> None:
    result = cli("precompute", *shlex.split(words), "--outputs", str(copy))
    assert (result.code, result.out) == (code, "")
    assert message in result.err


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
    tours = counted["tours"].to_list()
    assert count_ranked_tours(ranked) == tours
    assert [ranked.count_tours(start) for start in range(parsed_board.squares)] == tours


class KilledError(Exception):
    """An error in the middle of a build, in place of a kill."""


def test_a_killed_build_resumes_from_the_saved_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer_sizes, is_killed = list[int](), True

    def advance(layer: Layer, *arguments: object) -> Layer:
        layer_sizes.append(len(layer.keys))
        return advance_layer(layer, *arguments)  # type: ignore[arg-type]  # passed on unchanged

    def on_progress(doing: str, done: int, total: int | None) -> None:
        if doing == "layer 13 of 14, where the halves meet" and is_killed:
            raise KilledError

    def rebuild() -> TableData:
        assert isinstance(SIX.recipe, TourRanking)
        with ThreadPoolExecutor(1) as pool:
            work = TaskRunner(pool, 1, on_progress, checkpoints(Folder(tmp_path), SIX))
            context = BuildContext(work, Folder(tmp_path), MemoryLimit(1 << 40))
            # a record and what it begins with
            return make_ranking(
                SIX.recipe, PUZZLE, SIX, context, SweepSettings(min_stored_bytes=2000)
            )

    monkeypatch.setattr(tour_sweeps, "advance_layer", advance)
    with pytest.raises(KilledError):
        rebuild()
    assert len(layer_sizes) == 12
    layer_sizes.clear()
    is_killed = False
    data = rebuild()
    assert data.record_count == sum(len(stretch["key"]) for stretch in data.rows)
    assert layer_sizes
    assert max(layer_sizes) < 300, "what follows larger layers is kept"
    layer_sizes.clear()
    rebuild()
    assert len(layer_sizes) < 12


def test_too_many_tours_to_rank_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overflow(*_: object) -> int:
        raise CountOverflow

    monkeypatch.setattr(tour_sweeps, "sum_cycles", overflow)
    table = make_ranking_table(parse_board("5x6"), closed=True)
    with pytest.raises(SearchError, match="The tours of 5x6 are too many to number"):
        build_tables(tmp_path, PUZZLE, table)
    assert not [*tmp_path.glob("*.idx")]
