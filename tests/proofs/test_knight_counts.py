"""The proof of tour counts: every way in which a board is counted again, and its limits."""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, permutations, product
from pathlib import Path

import numpy as np
import pytest

from puzzle_tablebase.pipeline.proofs import Claim, knight_counts
from puzzle_tablebase.pipeline.proofs.knight_counts import (
    CountLimits,
    Counts,
    count_tours_from,
    prove_counts,
    recount_by_sweep,
    recount_tours,
)
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from tests.conftest import make_once
from tests.support import oracles
from tests.support.build_recorder import build_tables
from tests.support.count_boards import (
    LIMITS,
    TABLE,
    list_earlier,
    open_counts,
)
from tests.support.tampered import Story
from tests.support.tour_lists import all_tours


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_once(tmp_path_factory, "counts", lambda place: build_tables(place, KNIGHT, TABLE))


def test_counts_of_every_kind_are_proved(
    folder: Path, golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    reported, swept = Story(), list[tuple[str, bool]]()

    def sweep(board: KnightBoard, *, is_open: bool) -> Counts:
        swept.append((str(board), is_open))
        return recount_by_sweep(board, is_open=is_open)

    monkeypatch.setattr(knight_counts, "recount_by_sweep", sweep)
    published = open_counts(folder, reported)
    reported.clear()
    earlier = list_earlier("3x4", "4x3") | list_earlier("2x2")
    prove_counts(published, earlier, LIMITS)
    assert swept == [("4x5", True), ("5x4", True), ("5x6", False), ("6x5", False), ("7x3", True)]
    golden("claims_knight_counts", "".join(reported))


def test_lists_are_compared_with_what_a_table_counts(folder: Path) -> None:
    """Of a table with one tour a pair nothing is taken, and of one board only closed tours."""
    claims = list[Claim]()
    published = open_counts(folder, lambda claim, done: claims.append(claim))
    pairs, tours = list_earlier("4x4"), {"tours": [99] * 30, "closed": [16] * 30}
    ((name, pair),) = pairs.items()
    earlier = {name: replace(pair, result=None), "knight_tours_5x6": replace(pair, result=tours)}
    prove_counts(published, earlier, CountLimits(0, 0, 0, 0))
    compared = [claim.claim for claim in claims if claim.passed and "own table" in claim.claim]
    assert len(compared) == 1
    assert compared[0].startswith("on 5x6: ")


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
