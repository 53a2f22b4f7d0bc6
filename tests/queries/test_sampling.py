"""Samples: the same tours as by single lookups, and every tour is equally likely."""

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from puzzle_tablebase.errors import BadRequest, NoAnswer, TableDamaged, TableMissing
from puzzle_tablebase.pipeline.recipes.tour_keys import decode_layer, encode_layer
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import PUZZLE, make_ranking_table
from puzzle_tablebase.queries import open_reader, open_tables
from puzzle_tablebase.queries.api import Tables
from puzzle_tablebase.queries.knight import sampling
from puzzle_tablebase.queries.knight.reader import KnightReader
from puzzle_tablebase.queries.knight.sampling import CHUNK_TOURS, sample_by_rank
from puzzle_tablebase.queries.samples import MAX_DISTINCT, SampleRequest
from puzzle_tablebase.stores.checkpoints import Arrays
from puzzle_tablebase.stores.folder import Folder
from tests import usual_or_nightly
from tests.support import oracles
from tests.support.asking import draw_distinct
from tests.support.build_recorder import build_tables
from tests.support.tampered import (
    corrupt_records,
    link_copy,
    place,
    replace_layer,
    replace_link,
    reseal,
)

LIMIT = 3.719
"""The standard errors that a normal variable deviates by once in 5,000 times."""


def read_tours(folder: Path, board: str, *, closed: bool = True, share: int = 1) -> pl.DataFrame:
    """Return every tour that has a number, or one in so many."""
    reader = open_reader("knight", Folder(folder))
    assert isinstance(reader, KnightReader)
    numbered = reader.open_ranked_tours(parse_board(board), closed=closed)
    counts = numbered.list_counts()
    return sample_by_rank(numbered, counts, np.arange(0, sum(counts), share))


CLOSED = [(board, True) for board in ("10x3", "5x6", "6x5")]
OPEN = [(board, False) for board in ("5x4", "5x5", "8x3")]


@pytest.mark.parametrize(("board", "closed"), [*CLOSED, *OPEN])
def test_all_tours_differ_and_are_those_of_lookups(
    ranked_boards: Path, board: str, closed: bool
) -> None:
    result = read_tours(ranked_boards, board, closed=closed)
    assert result["path"].n_unique() == result.height
    assert {*result["board"]} == {board}
    numbers = pl.int_range(pl.len()) if closed else pl.int_range(pl.len()).over("start")
    assert result["rank"].equals(result.select(rank=numbers)["rank"])
    with open_tables(str(ranked_boards)) as tables:
        for row in result.gather_every(max(1, result.height // 40)).iter_rows(named=True):
            start, options = row.get("start", "a1"), {"rank": row["rank"], "board": board}
            assert row["path"] == tables.knight.probe(start, **options, closed=closed).path


def test_samples_are_uniform(ranked_boards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare a sample with all 164 open tours of 5x4, by chi-squared."""
    monkeypatch.setattr(sampling, "MAX_LISTED_SQUARES", 19)
    with open_tables(str(ranked_boards)) as tables:
        sample = tables.knight.sample(2_000, seed=7, board="5x4")
    all_tours = read_tours(ranked_boards, "5x4", closed=False)
    numbers = all_tours.with_row_index("number")
    drawn = sample.join(numbers, on=["board", "start", "rank", "path"], maintain_order="left")
    assert drawn.height == sample.height > CHUNK_TOURS
    # with so many kinds, the sum is nearly normal
    counts = np.bincount(drawn["number"].to_numpy(), minlength=all_tours.height)
    mean, kinds = sample.height / all_tours.height, all_tours.height - 1
    squares = float(((counts - mean) ** 2 / mean).sum())
    assert abs(squares - kinds) < LIMIT * (2 * kinds) ** 0.5


def test_closed_tours_are_drawn_by_rank(ranked_boards: Path) -> None:
    ranked = open_tables(str(ranked_boards)).knight
    drawn = draw_distinct(ranked, 16, board="10x3", closed=True)
    assert sorted(drawn["rank"]) == [*range(16)]
    with pytest.raises(BadRequest):
        draw_distinct(ranked, 17, board="10x3", closed=True)
    with pytest.raises(NoAnswer):
        ranked.sample(1, board="5x5", closed=True)


@pytest.mark.parametrize("replacement", [True, False])
def test_samples_are_drawn_in_chunks(replacement: bool) -> None:
    request = SampleRequest(20, 1, replacement, chunk_numbers=7).check()
    parts = [part.tolist() for part in request.draw_numbers(1000, "tour")]
    assert [len(part) for part in parts] == [7, 7, 6]
    assert all(0 <= number < 1000 for part in parts for number in part)


def test_open_tours_are_sampled_from_their_list(outputs: Path) -> None:
    all_tours = pl.read_parquet(outputs / "knight_tours_5x5.parquet")
    with open_tables(str(outputs)) as tables:
        drawn = tables.knight.sample(300, seed=1, board="5x5")
        (chosen,) = SampleRequest(300, 1).check().draw_numbers(all_tours.height, "tour")
        assert drawn.equals(all_tours[chosen])
        assert draw_distinct(tables.knight, 1728, board="5x5")["path"].n_unique() == 1728
        assert tables.knight.sample(1)["board"].to_list() == ["6x6"]


def test_open_tours_of_larger_boards_are_sampled_by_rank(
    ranked_boards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "MAX_LISTED_SQUARES", 19)
    with open_tables(str(ranked_boards)) as tables:
        knight = tables.knight
        all_drawn = draw_distinct(knight, 164, board="5x4")
        assert all_drawn.columns == ["board", "start", "rank", "path"]
        assert all_drawn["path"].n_unique() == 164
        assert all_drawn["start"].equals(all_drawn["path"].str.head(2).alias("start"))
        drawn = knight.sample(40, seed=5, board="5x4")
        assert drawn.equals(knight.sample(40, seed=5, board="5x4"))
        for start, number, path in drawn.drop("board").rows():
            assert knight.rank(path, board="5x4") == number
            assert knight.probe(start, rank=number, board="5x4").path == path


@pytest.mark.parametrize(
    ("size", "seed"),
    [*((size, 0) for size in (0, 2.5, True, "3", 10**30)), (1, -1), (1, None)],
)
def test_invalid_sizes_and_seeds_are_rejected(tables: Tables, size: Any, seed: Any) -> None:
    with pytest.raises(BadRequest):
        tables.knight.sample(size, seed, board="5x5")
    with pytest.raises(BadRequest):
        SampleRequest(MAX_DISTINCT + 1, replacement=False).check()


def test_sampling_reports_damage(ranked_boards: Path, tmp_path: Path) -> None:
    folder = link_copy(ranked_boards, tmp_path)
    path = replace_link(folder / "knight_closed_ranks_6x6.idx")
    original = path.read_bytes()
    data = bytearray(original)
    data[4096 * 9 + 7] ^= 1
    path.write_bytes(data)
    with pytest.raises(TableDamaged, match="checksum of block 9 is wrong"):
        open_tables(str(folder)).knight.sample(10, board="6x6", closed=True)
    data = bytearray(original)
    for record in range(80):
        data[place(data, record) + 2] ^= data[place(data, record)] == 6
    path.write_bytes(reseal(data))
    with pytest.raises(TableDamaged, match="there are fewer drawings than were counted"):
        open_tables(str(folder)).knight.sample(10, board="6x6", closed=True)
    with pytest.raises(TableMissing):
        open_tables(str(folder)).knight.sample(10, board="8x8", closed=True)


@pytest.mark.parametrize(
    ("layer", "change", "problem"),
    [
        (11, lambda numbers: numbers // 2 + 1, "there are fewer drawings than were counted"),
        (12, lambda numbers: numbers // 2 + 1, "the state .* has drawings"),
    ],
)
def test_sampling_reports_wrong_counts_of_states(
    layer: int, change: Callable[[Any], Any], problem: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def changed(records: Arrays) -> Iterable[Any]:
        firsts, _, states = records
        keys, numbers = decode_layer(firsts, states)
        return encode_layer(keys, change(numbers), states.itemsize)

    replace_layer(monkeypatch, layer, changed)
    build_tables(tmp_path, PUZZLE, make_ranking_table(KnightBoard(6, 6), closed=True))
    with pytest.raises(TableDamaged, match=problem):
        read_tours(tmp_path, "6x6", share=10)


@pytest.mark.parametrize(("board", "closed"), [("6x6", True), ("5x5", False)])
def test_corrupt_records_give_a_tour_or_an_error(
    ranked_boards: Path, tmp_path: Path, board: str, closed: bool
) -> None:
    """Change some bytes of some records, with valid checksums in every block."""
    folder, randomness, files = link_copy(ranked_boards, tmp_path), random.Random(7), int(board[0])
    path = replace_link(folder / f"knight_{'closed_' * closed}ranks_{board}.idx")
    original, refused = path.read_bytes(), 0
    for _ in range(usual_or_nightly(12, 1000)):
        path.write_bytes(corrupt_records(original, randomness))
        try:
            result = read_tours(folder, board, closed=closed, share=97)
        except TableDamaged:
            refused += 1
            continue
        for tour in result["path"]:
            oracles.read_tour(files, files, tour)
    assert refused
