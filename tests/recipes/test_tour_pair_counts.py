"""Counting by both ends: small boards, known sums, counts that differ, and resuming."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.costs import estimate_tour_pair_counts
from puzzle_tablebase.pipeline.kinds import checkpoints
from puzzle_tablebase.pipeline.recipes import tour_counts, tour_pair_counts
from puzzle_tablebase.pipeline.recipes.tour_pair_counts import count_tours_by_pair
from puzzle_tablebase.pipeline.recipes.tour_sweep import Layer, advance_layer
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE, make_pair_counts
from puzzle_tablebase.stores import Folder
from puzzle_tablebase.tour_sizes import estimate_states, estimate_sweep_bytes
from tests.support.build_recorder import build_tables
from tests.support.tour_lists import all_tours


def count(files: int, ranks: int) -> Array:
    with ThreadPoolExecutor(2) as pool:
        return count_tours_by_pair(KnightBoard(files, ranks), Tasks(Workers(pool, 2)))


# sides both odd, one of them, and none; the shorter side is odd where no state stands for its image
@pytest.mark.parametrize(
    ("files", "ranks"), [(3, 4), (3, 7), (3, 8), (4, 5), (4, 6), (4, 4), (3, 6)]
)
def test_between_two_squares_are_as_many_tours_as_are_listed(files: int, ranks: int) -> None:
    expected = np.zeros((files * ranks,) * 2, dtype=np.int64)
    for tour in (tour for tours in all_tours(files, ranks) for tour in tours):
        expected[tour[0], tour[-1]] += 1
    assert count(files, ranks).tolist() == expected.tolist()


@pytest.mark.parametrize("side", [5, 6])
def test_the_tours_of_a_square_board_are_those_of_its_list(outputs: Path, side: int) -> None:
    squares = {name: at for at, name in enumerate(KnightBoard(side, side).name_squares())}
    file = outputs / f"knight_tours_{side}x{side}.parquet"
    rows = pl.read_parquet(file, columns=["start", "finish"])
    expected = np.zeros((side * side,) * 2, dtype=np.int64)
    for start, finish, tours in rows.group_by("start", "finish").len().iter_rows():
        expected[squares[start], squares[finish]] = tours
    assert count(side, side).tolist() == expected.tolist()


@pytest.mark.parametrize("board", ["5x6", "5x7", pytest.param("5x8", marks=pytest.mark.nightly)])
def test_the_tours_to_all_squares_are_those_of_the_start(board: str, outputs: Path) -> None:
    counts = pl.read_parquet(outputs / "knight_counts.parquet").filter(pl.col("board") == board)
    sides = KnightBoard(*map(int, board.split("x")))
    tours = count(sides.files, sides.ranks)
    assert tours.sum(axis=1).tolist() == counts["tours"].to_list()
    jumps = [
        [sides.is_jump(one, to) for to in range(sides.squares)] for one in range(sides.squares)
    ]
    assert (tours * np.array(jumps)).sum(axis=1).tolist() == counts["closed"].to_list()


def test_rows_of_a_wide_board_are_those_of_the_upright_one(tmp_path: Path) -> None:
    boards = KnightBoard(4, 5), KnightBoard(5, 4)
    build_tables(tmp_path, PUZZLE, *map(make_pair_counts, boards))
    upright, wide = (
        {
            (board.parse_square(start), board.parse_square(finish)): tours
            for start, finish, tours in pl.read_parquet(
                tmp_path / f"knight_pair_counts_{board}.parquet",
                columns=["start", "finish", "tours"],
            ).iter_rows()
        }
        for board in boards
    )
    assert [*wide] == boards[1].list_pairs()
    turned = {at: at // 4 + 5 * (at % 4) for at in range(20)}
    assert wide == {(turned[one], turned[to]): tours for (one, to), tours in upright.items()}


def test_two_counts_that_differ_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Change what one lane counts: an image of the pair is counted by another lane."""
    sweep = tour_pair_counts._sweep_lane

    def change(half: object, squares: tuple[int, ...], back: object) -> list[Array]:
        uses, *ways = sweep(half, squares, back)  # type: ignore[arg-type]
        return [uses + 2 * (np.arange(len(uses)) == 2 * (squares == (0,))), *ways]

    monkeypatch.setattr(tour_pair_counts, "_sweep_lane", change)
    with pytest.raises(SearchError, match="Two counts of the tours between"):
        count(5, 5)


def test_tours_without_two_ends_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tour_pair_counts, "sum_cycles", lambda ways, onward: 7)
    with pytest.raises(SearchError, match=r"The paths of 3x4 do not have two ends each\."):
        count(3, 4)


def test_the_other_half_is_met_from_as_few_squares_as_needed() -> None:
    """Count a square board: from the corner, images have all that the other squares would find."""
    names = set[str]()
    with ThreadPoolExecutor(1) as pool:
        tasks = Tasks(Workers(pool, 1), lambda doing, *_: names.add(doing))
        count_tours_by_pair(KnightBoard(5, 5), tasks)
    assert {name for name in names if "from square" in name and "steps" not in name} == {
        "5x5 pairs, from square 0 to the cut",
        "5x5 pairs, from square 20",
    }


@pytest.mark.parametrize(("files", "ranks"), [(4, 7), (5, 6)])
def test_the_states_of_a_count_are_as_many_as_estimated(
    files: int, ranks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sweep over a board whose states represent their images too, and one where none does."""
    board, sizes = KnightBoard(files, ranks), list[int]()

    def advance(*given: Any) -> Layer:
        layer = advance_layer(*given)
        sizes.append(len(layer.ways))
        return layer

    monkeypatch.setattr(tour_counts, "advance_layer", advance)
    count(files, ranks)
    times = max(sizes) / estimate_states(board, closed=False)
    assert times == pytest.approx(round(times), abs=0.2)
    memory = estimate_tour_pair_counts(make_pair_counts(board)).memory
    assert memory == estimate_sweep_bytes(board, closed=False, factor=round(times))


def test_a_killed_count_resumes_from_its_lanes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Resume after some lanes; sweep those again whose arrays were not saved: none."""
    monkeypatch.setattr("puzzle_tablebase.pipeline.tasks.MIN_SAVED_BYTES", 0)
    sweep, lanes = tour_pair_counts._sweep_lane, list[tuple[int, ...]]()

    def note(half: object, squares: tuple[int, ...], back: object) -> list[Array]:
        lanes.append(squares)
        if len(lanes) == 3:
            raise KeyboardInterrupt
        return sweep(half, squares, back)  # type: ignore[arg-type]

    monkeypatch.setattr(tour_pair_counts, "_sweep_lane", note)
    board = KnightBoard(4, 6)
    with ThreadPoolExecutor(1) as pool:
        saved = checkpoints(Folder(tmp_path), make_pair_counts(board))
        with pytest.raises(KeyboardInterrupt):
            count_tours_by_pair(board, Tasks(Workers(pool, 1), checkpoints=saved))
        tours = count_tours_by_pair(board, Tasks(Workers(pool, 1), checkpoints=saved))
    assert lanes == [(0, 3), (1, 2), (4, 7), (4, 7), (5, 6)]
    monkeypatch.undo()
    assert tours.tolist() == count(4, 6).tolist()
