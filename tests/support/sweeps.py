"""Sweeps over boards: their tours counted in this process, and the boards cut in two."""

from concurrent.futures import ThreadPoolExecutor

from puzzle_tablebase.pipeline.builders.tour_sweeps import (
    DEFAULT_SETTINGS,
    SweepSettings,
    TourTotals,
    count_tours,
)
from puzzle_tablebase.pipeline.search.tour_sweep import Halves, cut_board
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.knight.board import KnightBoard


def count_board(
    files: int,
    ranks: int,
    settings: SweepSettings = DEFAULT_SETTINGS,
    *,
    paths: bool = True,
) -> TourTotals:
    with ThreadPoolExecutor(2) as pool:
        return count_tours(KnightBoard(files, ranks), Tasks(pool, 2), settings, paths=paths)


def list_counts(totals: TourTotals) -> tuple[list[int], int]:
    """Return the tours from each square, and the closed tours."""
    assert totals.tours is not None
    return totals.tours.tolist(), totals.closed


def cut_into_halves(files: int, ranks: int) -> Halves:
    board = KnightBoard(files, ranks)
    later = [[to for to in board.list_neighbours(at) if to > at] for at in range(board.squares)]
    return cut_board(later, files, paths=True)
