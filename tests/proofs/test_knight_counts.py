"""The proof of tour counts: every way in which a board is counted again, and its limits."""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, permutations, product
from pathlib import Path

import numpy as np
import pytest

from puzzle_tablebase.pipeline.proofs import knight_counts
from puzzle_tablebase.pipeline.proofs.knight_counts import (
    Counts,
    count_listed,
    count_tours_from,
    find_lists,
    prove_counts,
    recount_by_sweep,
    recount_tours,
)
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.schema import Recipe, Table
from tests.conftest import make_once
from tests.support import oracles
from tests.support.build_recorder import build_tables
from tests.support.count_boards import (
    LIMITS,
    TABLE,
    list_proved,
    open_counts,
)
from tests.support.tampered import open_one, run, story
from tests.support.tour_lists import all_tours


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lists = [make_tour_table(KnightBoard(*sides)) for sides in ((2, 2), (3, 4), (4, 3))]
    return make_once(
        tmp_path_factory, "counts", lambda place: build_tables(place, KNIGHT, TABLE, *lists)
    )


def test_counts_of_every_kind_are_proved(
    folder: Path, golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    swept = list[tuple[str, bool]]()

    def sweep(board: KnightBoard, *, is_open: bool) -> Counts:
        swept.append((str(board), is_open))
        return recount_by_sweep(board, is_open=is_open)

    monkeypatch.setattr(knight_counts, "recount_by_sweep", sweep)
    listed, proved = open_counts(folder), list_proved(folder, "2x2", "3x4", "4x3")
    result = run(listed, prove_counts(listed, proved, LIMITS))
    assert swept == [("4x5", True), ("5x4", True), ("5x6", False), ("6x5", False), ("7x3", True)]
    golden("claims_knight_counts", story(result))


def test_a_list_of_one_tour_a_pair_counts_nothing(folder: Path) -> None:
    pairs = open_one(folder, "knight_tours_3x4")
    recipe = Recipe("one tour a pair", board="3x4")
    old = pairs.definition
    table = Table(old.name, old.meaning, old.rank, old.columns, recipe)
    boards = {"3x4": KnightBoard(3, 4)}
    assert find_lists(boards, {pairs.name: replace(pairs, table=table)}) == {}
    assert find_lists(boards, {pairs.name: pairs}) == {"3x4": pairs}


def test_listed_tours_are_counted_by_their_start(folder: Path) -> None:
    for sides in ((3, 4), (2, 2)):
        name = "{}x{}".format(*sides)
        (listed,) = list_proved(folder, name).values()
        found = count_listed(listed, KnightBoard(*sides))
        assert {key: values.tolist() for key, values in found.items()} == list_expected(*sides)


BOARDS = [(3, 4), (4, 3), (4, 4), (4, 5), pytest.param(3, 7, marks=pytest.mark.slow)]


def list_expected(files: int, ranks: int) -> dict[str, list[int]]:
    listed = all_tours(files, ranks)
    closed = [sum(oracles.is_closed(files, tour) for tour in tours) for tours in listed]
    return {"tours": [len(tours) for tours in listed], "closed": closed}


@pytest.mark.parametrize(("files", "ranks"), BOARDS)
def test_the_recount_sweep_counts_all_listed_tours(files: int, ranks: int) -> None:
    result = recount_by_sweep(KnightBoard(files, ranks))
    assert {**result, "closed": [result["closed"]] * files * ranks} == list_expected(files, ranks)


def test_closed_tours_of_a_narrow_board_are_swept() -> None:
    for board in (KnightBoard(10, 3), KnightBoard(3, 10)):
        assert recount_by_sweep(board, is_open=False) == {"closed": 32}


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
            closed = sum((path[-1], start) in joined for path in tours)
            assert count_tours_from(near, start) == (len(tours), closed)
            closed_ones += closed
    assert closed_ones > 300


def recount() -> str:
    return repr([recount_tours(KnightBoard(*sides)) for sides in ((1, 1), (3, 4), (4, 3), (3, 5))])
