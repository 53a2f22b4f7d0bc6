"""Builder of the table that ranks a board's tours: the encoded layers of a half sweep.

Each layer is made from the one before it. Large layers are saved as checkpoints, so that a killed
build resumes. The last layer has the states at the cut, each with the number of cycles through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from pipeline.build_context import BuildContext
from pipeline.builders.sweep_driver import (
    DEFAULT_SETTINGS,
    SweepSettings,
    combine_halves,
    load_or_compute,
)
from pipeline.builders.tour_columns import Array
from pipeline.search.tour_counting.expand import Step
from pipeline.search.tour_counting.halves import cut_board
from pipeline.search.tour_counting.hash_table import CountOverflow
from pipeline.search.tour_counting.sweep import Layer, advance_layer, sum_cycles
from pipeline.tasks import Chunks, TableData, TaskRunner
from tablebase.errors import SearchError
from tablebase.frontier.compiled import decode_layer, encode_layer
from tablebase.puzzle import Puzzle
from tablebase.puzzles.knight.memory import estimate_rank_cost
from tablebase.puzzles.knight.tables import ClosedTourRanking, get_sides
from tablebase.puzzles.knight.tour_ranker import Route, Sweep
from tablebase.schema import Table
from tablebase.tables.checkpoints import Arrays

CHUNK_RECORDS = 1 << 14
"""Records in a chunk."""


def make(
    recipe: ClosedTourRanking,
    puzzle: Puzzle,
    table: Table,
    context: BuildContext,
    settings: SweepSettings = DEFAULT_SETTINGS,
) -> TableData:
    """Sweep through half of the board and return its layers as rows and as records."""
    board, paths = recipe.board, recipe.is_open
    runner = context.tasks
    context.reserve_memory(table, estimate_rank_cost(get_sides(board), closed=not paths))
    *_, (_, form) = table.index
    sweep = Sweep(board, paths=paths)
    try:
        layers = [*_iter_layers(sweep, int(form[:-1]), runner, settings)]
    except CountOverflow:
        raise SearchError(f"The tours of {board} are too many to number (2^63).") from None
    count = sum(len(firsts) for firsts, *_ in layers)
    rows, records = (_iter_records(layers, count, runner) for _ in range(2))
    return TableData(rows, records, count)


def _iter_layers(
    sweep: Sweep, width: int, runner: TaskRunner, settings: SweepSettings
) -> Iterator[Arrays]:
    """Iterate over the layers' records: first keys, sums before them, and states."""
    board = sweep.upright
    later_neighbours = [
        [to for to in board.list_neighbours(square) if to > square]
        for square in range(board.squares)
    ]
    board_halves = cut_board(later_neighbours, sweep.rows, paths=sweep.paths, mirrored=False)
    # no caller needs the number of cycles that use each edge
    board_halves = board_halves._replace(between=board_halves.between * (1, 1, 0))
    layer_count = 1 + sweep.routes[-1].cut
    layers_made = list[Arrays]()

    def save_layer(make_layer: Callable[[], Layer]) -> Arrays:
        records = load_or_compute(
            f"layer {len(layers_made)}",
            lambda: encode_layer(*make_layer(), width),
            runner,
            settings,
        )
        layers_made.append([*records])
        return layers_made[-1]

    def load_layer(number: int) -> Layer:
        firsts, _, states = layers_made[number]
        return Layer(*decode_layer(firsts, states))

    def make_next_layer(number: int, step: Step) -> Layer:
        keys, ways = advance_layer(
            load_layer(number),
            step,
            partial(runner.report_progress, "steps", len(layers_made), layer_count),
        )
        order = np.argsort(keys)
        return Layer(keys[order], ways[order])

    def make_cut_layer(route: Route) -> Layer:
        name = f"layer {len(layers_made)} of {layer_count}, where the halves meet"
        in_cut = route.start >= sweep.longer
        halves = (
            board_halves.require_edge(sweep.find_cell(route.start, sweep.longer))
            if in_cut
            else board_halves
        )
        states, onward, _ = combine_halves(
            load_layer(route.layers[-1]), load_layer(sweep.shorter), halves, name, runner, settings
        )
        sum_cycles(states.ways, onward)
        has_completions = onward > 0
        return Layer(
            states.keys[has_completions], states.ways[has_completions] * onward[has_completions]
        )

    yield save_layer(lambda: board_halves.first)
    for square, step in enumerate(board_halves.steps):
        yield save_layer(partial(make_next_layer, square, step))
    for route in sweep.routes:
        for square in sweep.list_own_squares(route.start):
            step = board_halves.steps[square]
            if square == route.start:
                step = step._replace(wanted=step.others.tolist().index(0))
            yield save_layer(partial(make_next_layer, route.layers[square], step))
        yield save_layer(partial(make_cut_layer, route))


def _iter_records(layers: list[Arrays], count: int, runner: TaskRunner) -> Chunks:
    done = 0
    for number, (firsts, sums, states) in enumerate(layers):
        for first in range(0, len(firsts), CHUNK_RECORDS):
            runner.report_progress("records", done, count)
            span = slice(first, first + CHUNK_RECORDS)
            key = firsts[span]
            layer: Array = np.full(len(key), number)
            yield {"layer": layer, "key": key, "before": sums[span], "states": states[span]}
            done += len(key)
