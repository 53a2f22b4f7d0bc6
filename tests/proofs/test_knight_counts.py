"""The proof of tour counts: every way in which a board is counted again, and its limits."""

import random
from dataclasses import replace
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from puzzle_tablebase.notation.knight import ChessBoard
from puzzle_tablebase.pipeline.proofs import knight_counts
from puzzle_tablebase.pipeline.proofs.knight_counts import (
    choose_way,
    count_tours_from,
    recount_by_sweep,
    recount_tours,
)
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_count_table
from puzzle_tablebase.schema import Recipe, Table
from tests.support import oracles
from tests.support.build_recorder import build_tables
from tests.support.tampered import open_one
from tests.support.tour_lists import all_tours


@pytest.mark.parametrize(
    ("name", "is_open", "kind", "way"),
    [
        ("6x6", True, "tour_list", "list"),
        ("6x6", True, "tour_pairs", "walk"),
        ("7x3", False, "", "sweep"),
        ("7x7", True, "", "sweep"),
        ("10x5", True, "", "sweep"),
        ("7x8", True, "", ""),
        ("8x8", True, "", "totals"),
        ("8x8", False, "", "sweep"),
        ("10x7", False, "", ""),
        ("8x9", False, "", "totals"),
        ("10x8", False, "", "totals"),
        ("8x9", True, "", ""),
    ],
)
def test_each_board_is_counted_in_the_strongest_way(
    name: str, is_open: bool, kind: str, way: str, outputs: Path
) -> None:
    tours = open_one(outputs, "knight_tours_6x6")
    old = tours.definition
    table = Table(old.name, old.meaning, old.rank, old.columns, Recipe(kind, board=name))
    proved = {tours.name: replace(tours, table=table)} if kind else {}
    assert choose_way(parse_board(name), is_open=is_open, proved=proved) == way


BOARDS = [(3, 4), (4, 3), (4, 4), (4, 5), (3, 7)]


def list_expected(files: int, ranks: int) -> dict[str, list[int]]:
    listed = all_tours(files, ranks)
    closed = [sum(oracles.is_closed(files, tour) for tour in tours) for tours in listed]
    return {"tours": [len(tours) for tours in listed], "closed": closed}


@pytest.mark.parametrize(("files", "ranks"), BOARDS)
def test_the_recount_sweep_counts_all_listed_tours(files: int, ranks: int) -> None:
    result = recount_by_sweep(KnightBoard(files, ranks))
    assert {**result, "closed": [result["closed"]] * files * ranks} == list_expected(files, ranks)


@pytest.mark.parametrize(("files", "ranks"), [(1, 1), *BOARDS[:3]])
def test_tours_are_counted_path_by_path(files: int, ranks: int) -> None:
    result = recount_tours(KnightBoard(files, ranks))
    assert {name: counts.tolist() for name, counts in result.items()} == list_expected(files, ranks)


def test_paths_of_any_two_coloured_graph_are_counted() -> None:
    """Include graphs with closed tours, which no board of this size has."""
    draw = random.Random(7)
    all_edges = [*product(range(4), range(4, 8))]
    closed_ones = 0
    for edges in (draw.sample(all_edges, size) for size in [0, *range(7, 17)] * 4):
        near = np.zeros(8, dtype=np.int64)
        for one, two in edges:
            near[one] |= 1 << two
            near[two] |= 1 << one
        joined = {*edges, *(edge[::-1] for edge in edges)}
        for start, ours, others in ((0, (1, 2, 3), (4, 5, 6, 7)), (7, (4, 5, 6), (0, 1, 2, 3))):
            turns = product(permutations(ours), permutations(others))
            paths = [(start, d, a, e, b, f, c, g) for (a, b, c), (d, e, f, g) in turns]
            tours = [path for path in paths if joined.issuperset(pairwise(path))]
            ends = [path[-1] for path in tours]
            assert count_tours_from(near, start).tolist() == [ends.count(at) for at in range(8)]
            closed_ones += sum((end, start) in joined for end in ends)
    assert closed_ones > 300


def recount() -> str:
    return repr([recount_tours(KnightBoard(*sides)) for sides in ((1, 1), (3, 4), (4, 3), (3, 5))])


@pytest.mark.parametrize(
    ("tours", "closed", "wrong"),
    [
        (164, {(4, 5): 0, (5, 6): 16}, 0),
        (166, {(4, 5): 0, (5, 6): 16}, 1),
        (164, {(4, 5): 0, (5, 6): 18}, 1),
        (164, {(4, 5): 2, (5, 6): 16}, 1),
    ],
)
def test_totals_are_compared_with_published_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tours: int, closed: dict[Any, int], wrong: int
) -> None:
    build_tables(tmp_path, KNIGHT, make_count_table(((4, 5),), ((5, 6),)))
    rows = pl.read_parquet(tmp_path / "knight_counts.parquet").with_row_index("row")
    monkeypatch.setattr(knight_counts, "PUBLISHED_BOARD", "4x5")
    monkeypatch.setattr(knight_counts, "PUBLISHED_TOURS", tours)
    monkeypatch.setattr(knight_counts, "PUBLISHED_CLOSED", closed)
    boards = [ChessBoard(4, 5), ChessBoard(5, 6)]
    found = [*knight_counts.compare_totals(rows, boards)]
    assert len(found) == wrong
