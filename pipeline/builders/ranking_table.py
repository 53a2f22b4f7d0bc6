"""The numbers of a board's tours: all layers of a sweep through half of it, packed.

Each layer is made from the one before it. Large ones are kept beside the table, so that a killed
build goes on; the last layer has the states at the cut, each with the cycles that pass it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from pipeline.builders.sweep_driver import large, meeting
from pipeline.builders.tour_columns import Array
from pipeline.search.tour_counting.expand import Step
from pipeline.search.tour_counting.halves import halves
from pipeline.search.tour_counting.sweep import Layer, TooMany, cycles, forward
from pipeline.tasks import Made, Stretches, Work
from tablebase.errors import SearchError
from tablebase.frontier.layer_codec import packed, unpacked
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles.knight.count_recipe import numbering
from tablebase.puzzles.knight.definition import NumberedCycles, sides
from tablebase.puzzles.knight.tour_ranker import Route, Sweep
from tablebase.tables.checkpoints import Arrays

STRETCH = 1 << 14
"""Records at a time."""


def make(recipe: NumberedCycles, puzzle: Puzzle, table: Table, work: Work) -> Made:
    board, paths = recipe.board, recipe.paths
    work.require_memory(table.name, numbering(sides(board), closed=not paths))
    *_, (_, form) = table.index
    sweep = Sweep(board, paths=paths)
    try:
        layers = [*_layers(sweep, int(form[:-1]), work)]
    except TooMany:
        raise SearchError(f"The tours of {board} are too many to number (2^63).") from None
    count = sum(len(firsts) for firsts, *_ in layers)
    return _records(layers, count, work), _records(layers, count, work), count


def _layers(sweep: Sweep, width: int, work: Work) -> Iterator[Arrays]:
    """Each layer's records: first keys, sums before them, and states."""
    board = sweep.upright
    later = [[to for to in board.neighbours(at) if to > at] for at in range(board.squares)]
    both = halves(later, sweep.rows, paths=sweep.paths, mirrored=False)
    both = both._replace(between=both.between * (1, 1, 0))  # nobody asks who uses which
    every = 1 + sweep.routes[-1].cut
    found = list[Arrays]()

    def kept(made: Callable[[], Layer]) -> Arrays:
        records = large(f"layer {len(found)}", lambda: packed(*made(), width), work)
        found.append([*records])
        return found[-1]

    def layer(number: int) -> Layer:
        firsts, _, states = found[number]
        return Layer(*unpacked(firsts, states))

    def after(number: int, step: Step) -> Layer:
        keys, ways = forward(layer(number), step, partial(work.told, "steps", len(found), every))
        order = np.argsort(keys)
        return Layer(keys[order], ways[order])

    def at_the_cut(route: Route) -> Layer:
        name = f"layer {len(found)} of {every}, where the halves meet"
        in_cut = route.start >= sweep.longer
        halves = both.through(sweep.cell(route.start, sweep.longer)) if in_cut else both
        states, onward, _ = meeting(
            layer(route.layers[-1]), layer(sweep.shorter), halves, name, work
        )
        cycles(states.ways, onward)
        some = onward > 0
        return Layer(states.keys[some], states.ways[some] * onward[some])

    yield kept(lambda: both.first)
    for square, step in enumerate(both.steps):
        yield kept(partial(after, square, step))
    for route in sweep.routes:
        for square in sweep.own(route.start):
            step = both.steps[square]
            if square == route.start:
                step = step._replace(wanted=step.others.tolist().index(0))
            yield kept(partial(after, route.layers[square], step))
        yield kept(partial(at_the_cut, route))


def _records(layers: list[Arrays], count: int, work: Work) -> Stretches:
    done = 0
    for number, (firsts, sums, states) in enumerate(layers):
        for at in range(0, len(firsts), STRETCH):
            work.told("records", done, count)
            some = slice(at, at + STRETCH)
            key = firsts[some]
            layer: Array = np.full(len(key), number)
            yield {"layer": layer, "key": key, "before": sums[some], "states": states[some]}
            done += len(key)
