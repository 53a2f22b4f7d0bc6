"""Recipe of the numbers of tours from each square, counted without a list.

Two half sweeps lead to the cut, and one sweep back counts the tours by their start. A board and the
board turned by 90 degrees are counted together. Large layers are saved as checkpoints, so that few
of them are in memory and a killed build resumes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats.encoder import Part, Parts, TableData
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.recipes.tour_meet import make_cut, meet_halves
from puzzle_tablebase.pipeline.recipes.tour_sweep import (
    COUNT_LIMIT,
    CountOverflow,
    Layer,
    Step,
    advance_layer,
    count_onward,
    make_first_layer,
    make_steps,
    sum_cycles,
)
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tour_ranker import Sweep
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tour_frontier.states import FREE

SLICE_NEEDS = 1 << 12
"""Needs of one slice, the backward counts of whose states one thread computes at a time."""

Totals = tuple[Array | None, int]
"""The tours of a board by starting square, or None; and the closed tours from each square."""


def make(table: Table, tasks: Tasks) -> TableData:
    """Return the rows of the boards; each board is counted when its rows are consumed."""
    return TableData(_iter_parts(table, tasks))


def _iter_parts(table: Table, tasks: Tasks) -> Parts:
    totals = dict[tuple[int, int], Totals]()
    for name in table.recipe.parameters["boards"]:
        board, closed_only = parse_board(name), name in table.recipe.parameters["closed"]
        # boards are counted with files <= ranks
        sides = board.sorted_sides
        if sides not in totals or (totals[sides][0] is None and not closed_only):
            totals[sides] = count_tours(KnightBoard(*sides), tasks, paths=not closed_only)
        tours, closed = totals[sides]
        if tours is None or closed_only:
            nothing = np.zeros(board.squares, dtype=np.int64)
            tours = np.ma.MaskedArray(nothing, mask=True)
        elif board.files > board.ranks:
            tours = tours.reshape(board.files, board.ranks).T.ravel()
        rows = {
            "board": np.full(board.squares, str(board).encode()),
            "files": np.full(board.squares, board.files),
            "ranks": np.full(board.squares, board.ranks),
            "start": np.array(board.list_enum_codes()),
            "tours": tours,
            "closed": np.full(board.squares, closed),
        }
        yield Part(rows)


def count_tours(board: KnightBoard, tasks: Tasks, *, paths: bool) -> Totals:
    """Count a board's tours; it must have at most as many files as ranks.

    Its squares are numbered along its files.
    """
    if board.files < 3 or board.ranks < 4:
        # one file has no jumps, on two files a knight reaches only every second rank, and no jump
        # leads out of the middle of nine squares; the tour of one square is counted once, since its
        # start is its end
        tours_by_start = [1] if board.squares == 1 else [0] * board.squares
        return np.array(tours_by_start), 0
    # each cycle is a closed tour from every square, in two directions
    closed = 2 * count_cycles(board, tasks, paths=False)[0]
    if closed >= COUNT_LIMIT:
        raise CountOverflow
    return count_cycles(board, tasks, paths=True)[1] if paths else None, closed


def count_cycles(
    board: KnightBoard, tasks: Tasks, *, paths: bool, modulus: int = 0
) -> tuple[int, Array]:
    """Count the cycles through all squares, and those that use each square's virtual edge.

    The virtual edge of a square leads to the virtual square. `modulus`: for closed tours, count
    modulo a number of up to 32 bits.
    """
    sweep, name = Sweep(board, paths=paths), f"{board} {'open' if paths else 'closed'}"
    name += f" modulo {modulus}" * (modulus > 0)
    steps, rows = make_steps(sweep, mirrored=True, modulus=modulus), board.files
    layers = sweep_forward(sweep, steps, name, tasks)
    meet = partial(_meet, layers, sweep, modulus, name, tasks)
    onward, uses, (total,) = tasks.load_or_make(f"{name}, met", meet)
    ends = np.zeros((board.ranks, rows), dtype=np.int64)
    by_square = ends.ravel()
    if not paths or not total:
        return int(total), by_square
    by_square[len(steps) :][: 2 * rows] = uses[0].diagonal()[1 : 2 * rows + 1]
    after = layers[-1]()._replace(ways=onward)
    for number in reversed(range(len(steps))):
        tasks.report(f"{name}, steps back", len(steps) - number, len(steps))
        layer = layers[number]()
        by_square[number], onward = count_layer_back(layer, steps[number], after, tasks)
        after = layer._replace(ways=onward)
        del layer, onward  # large
    # an edge at a square of a state is an edge at the square's image in the state's image
    half = ends[: len(steps) // rows + 2]
    half[:] = (half + half[:, ::-1]) // 2
    ends[-len(half) :] = half[::-1]
    if by_square.sum() != 2 * total:
        raise SearchError(f"The paths of {board} do not have two ends each.")
    return int(total), by_square


def sweep_forward(
    sweep: Sweep, steps: Sequence[Step], name: str, tasks: Tasks
) -> list[Callable[[], Layer]]:
    """Make all layers of the longer half; return a function for each that returns or loads it."""
    layer = make_first_layer([FREE] * sweep.cells, steps[0].modulus)
    layers: list[Callable[[], Layer]] = [partial(Layer, *layer)]
    for done, step in enumerate(steps):
        on_step = partial(tasks.report, f"{name}, steps", done, len(steps))
        advance = partial(advance_layer, layer, step, on_step, tasks.run_in_threads)
        layer, load = make_layer(f"{name}, layer {done + 1}", advance, tasks)
        layers.append(load)
    return layers


def make_layer(
    name: str, make: Callable[[], Layer], tasks: Tasks
) -> tuple[Layer, Callable[[], Layer]]:
    """Make a layer, or load it from the store; return it, and a function that returns it again."""
    arrays, load = tasks.make_reloadable(name, make)
    return Layer(*arrays), lambda: Layer(*load())


def _meet(
    layers: Sequence[Callable[[], Layer]], sweep: Sweep, modulus: int, name: str, tasks: Tasks
) -> list[Array]:
    """Return the ways to complete each state at the cut, uses of virtual edges, and the cycles."""
    longer = layers[sweep.longer]()
    shorter = longer if sweep.shorter == sweep.longer else layers[sweep.shorter]()
    cut = make_cut(sweep, mirrored=True, modulus=modulus)
    onward, uses = meet_halves(longer, shorter, cut, f"{name}, where the halves meet", tasks)
    return [onward, uses, np.array([sum_cycles(longer.ways, onward, modulus)])]


def count_layer_back(layer: Layer, step: Step, after: Layer, tasks: Tasks) -> tuple[int, Array]:
    """Count the cycles that use a step's edge to the virtual square, and the ways to complete each
    state of the layer."""
    slices = ((part, step, after) for part in layer.iter_slices(SLICE_NEEDS))
    onward, uses = list[Array](), 0
    for counts, uses_found in tasks.run_in_threads(count_onward, slices):
        onward.append(counts)
        uses += int(uses_found[step.others == 0].sum())
    return uses, np.concatenate([layer.ways[:0], *onward])
