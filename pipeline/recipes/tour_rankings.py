"""Recipe of rankings of a board's tours: the encoded layers of a half sweep.

The last layer of a route has the states at the cut, each with the number of cycles through it. All
layers stay in memory, as records; large ones are saved as checkpoints, so that a killed build
resumes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from puzzle_tablebase.formats.encoder import Part, Parts, TableData
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.recipes.tour_meet import Cut, make_cut, meet_halves
from puzzle_tablebase.pipeline.recipes.tour_sweep import (
    Layer,
    Step,
    advance_layer,
    make_first_layer,
    make_steps,
    sum_cycles,
)
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.knight.board import parse_board
from puzzle_tablebase.puzzles.knight.tour_ranker import Route, Sweep
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tour_frontier.keys import decode_layer, encode_layer
from puzzle_tablebase.tour_frontier.states import FREE

CHUNK_RECORDS = 1 << 14
"""Records in a chunk."""

Records = Sequence[Array]
"""A layer's records as three arrays: first keys, sums before them, and states."""

Origin = tuple[int, Step | Route]
"""What a layer is made of: the number of an earlier layer, and a step of the sweep, or the route at
whose cut the halves meet."""


def make(table: Table, tasks: Tasks) -> TableData:
    """Sweep through half of the board and return its layers as records."""
    board = parse_board(table.recipe.parameters["board"])
    sweep = Sweep(board, paths=not table.recipe.parameters["closed"])
    *_, (_, form) = table.index
    layers = make_layers(sweep, int(form[:-1]), tasks)
    count = sum(len(firsts) for firsts, *_ in layers)
    return TableData(_iter_parts(layers, count, tasks), count)


def list_origins(sweep: Sweep) -> list[Origin]:
    """List what each layer but the first is made of."""
    steps = make_steps(sweep, mirrored=False)
    origins: list[Origin] = [*enumerate(steps)]
    for route in sweep.routes:
        for square in sweep.list_own_squares(route.start):
            step = steps[square]
            if square == route.start:  # its first edge leads to the virtual square
                step = step._replace(wanted=0)
            origins.append((route.layers[square], step))
        origins.append((route.layers[-1], route))
    return origins


def make_layers(sweep: Sweep, width: int, tasks: Tasks) -> list[Records]:
    """Make the records of all layers, each with so many bytes of states."""
    origins, cut = list_origins(sweep), make_cut(sweep, mirrored=False)
    first = make_first_layer([FREE] * sweep.cells)
    layers: list[Records] = [encode_layer(first.keys, first.ways, width)]
    for number in range(1, len(origins) + 1):
        make_records = partial(_make_records, number, origins, layers, sweep, cut, width, tasks)
        layers.append(tasks.load_or_make(f"layer {number}", make_records))
    return layers


def _make_records(
    number: int, origins: Sequence[Origin], layers: Sequence[Records], sweep: Sweep, cut: Cut,
    width: int, tasks: Tasks,
) -> Records:  # fmt: skip
    """Make a layer's records from those of the layer that it follows.

    At the cut these are the longer half's states that can be completed, with their cycles as ways.
    """
    source, following = origins[number - 1]
    layer = _decode(layers[source])
    if isinstance(following, Route):
        name = f"layer {number} of {len(origins) + 1}, where the halves meet"
        if following.start >= sweep.longer:  # it needs its edge to the virtual square
            edge = 0, sweep.find_cell(following.start, sweep.longer)
            cut = cut._replace(wanted=1 << cut.own.index(edge))
        onward, _ = meet_halves(layer, _decode(layers[sweep.shorter]), cut, name, tasks)
        sum_cycles(layer.ways, onward)
        is_completed = onward > 0
        keys, ways = layer.keys[is_completed], (layer.ways * onward)[is_completed]
    else:
        on_step = partial(tasks.report, "steps", number, len(origins) + 1)
        layer = advance_layer(layer, following, on_step, tasks.run_in_threads)
        keys, ways = layer.keys, layer.ways
    return encode_layer(keys, ways, width)


def _decode(records: Records) -> Layer:
    firsts, _, states = records
    return Layer.from_keys(*decode_layer(firsts, states))


def _iter_parts(layers: Sequence[Records], count: int, tasks: Tasks) -> Parts:
    done = 0
    for number, (firsts, sums, states) in enumerate(layers):
        for first in range(0, len(firsts), CHUNK_RECORDS):
            tasks.report("records", done, count)
            span = slice(first, first + CHUNK_RECORDS)
            key = firsts[span]
            layer: Array = np.full(len(key), number)
            fields = {"layer": layer, "key": key, "before": sums[span], "states": states[span]}
            yield Part(records=fields)
            done += len(key)
