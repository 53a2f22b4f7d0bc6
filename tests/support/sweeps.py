"""Sweeps over boards: their tours counted in this process, and the layers of their halves."""

from concurrent.futures import ThreadPoolExecutor

from puzzle_tablebase.pipeline.recipes.tour_counts import Totals, count_tours
from puzzle_tablebase.pipeline.recipes.tour_sweep import (
    Layer,
    Step,
    advance_layer,
    make_first_layer,
    make_steps,
)
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tour_ranker import Sweep
from puzzle_tablebase.tour_frontier.states import FREE


def count_board(files: int, ranks: int, *, paths: bool = True) -> Totals:
    with ThreadPoolExecutor(2) as pool:
        return count_tours(KnightBoard(files, ranks), Tasks(Workers(pool, 2)), paths=paths)


def list_counts(totals: Totals) -> tuple[list[int], int]:
    """Return the tours from each square, and the closed tours."""
    tours, closed = totals
    assert tours is not None
    return tours.tolist(), closed


def sweep_half(files: int, ranks: int) -> tuple[Sweep, list[Step], list[Layer]]:
    """Sweep through half of a board; return the sweep, its steps, and all layers."""
    sweep = Sweep(KnightBoard(files, ranks), paths=True)
    steps = make_steps(sweep, mirrored=True)
    layers = [make_first_layer([FREE] * sweep.cells)]
    for step in steps:
        layers.append(advance_layer(layers[-1], step, lambda: None))
    return sweep, steps, layers
