"""The numbers of a board's closed tours: all layers of a sweep through half of it, packed.

Each layer is made from the one before it. Large ones are kept beside the table, so that a killed
build goes on; the last layer has the states at the cut, each with the cycles that pass it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from pipeline.making.boards import Array
from pipeline.making.cycles import large, meeting
from pipeline.search.frontier import Step
from pipeline.search.halves import halves
from pipeline.search.sweep import Layer, TooMany, cycles, forward
from pipeline.work import Made, Stretches, Work
from tablebase.errors import SearchError
from tablebase.packed import packed, unpacked
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles.knight import NumberedCycles, sides
from tablebase.puzzles.knight_board import Board
from tablebase.puzzles.tour_counts import numbering
from tablebase.tables.kept import Arrays

STRETCH = 1 << 14
"""Records at a time."""


def make(recipe: NumberedCycles, puzzle: Puzzle, table: Table, work: Work) -> Made:
    board = recipe.board
    work.require_memory(table.name, numbering(sides(board)).memory)
    *_, (_, form) = table.index
    try:
        layers = [*_layers(Board(*sorted(sides(board))), int(form[:-1]), work)]
    except TooMany:
        raise SearchError(f"The closed tours of {board} are too many to number (2^63).") from None
    count = sum(len(firsts) for firsts, *_ in layers)
    return _records(layers, count, work), _records(layers, count, work), count


def _layers(board: Board, width: int, work: Work) -> Iterator[Arrays]:
    """Each layer's records: first keys, sums before them, and states."""
    later = [[to for to in board.neighbours(at) if to > at] for at in range(board.squares)]
    both = halves(later, board.files, mirrored=False)
    told = partial(work.told, "steps")
    found = list[Arrays]()

    def kept(made: Callable[[], Layer]) -> Arrays:
        records = large(f"layer {len(found)}", lambda: packed(*made(), width), work)
        found.append([*records])
        return found[-1]

    def layer(number: int) -> Layer:
        firsts, _, states = found[number]
        return Layer(*unpacked(firsts, states))

    def after(step: Step) -> Layer:
        keys, ways = forward(layer(-1), step, partial(told, len(found) - 1, len(both.steps)))
        order = np.argsort(keys)
        return Layer(keys[order], ways[order])

    yield kept(lambda: both.first)
    for step in both.steps:
        yield kept(partial(after, step))

    def at_the_cut() -> Layer:
        meets = partial(work.told, "where the halves meet")
        states, onward, _ = meeting(layer(-1), layer(both.shorter), both, meets)
        cycles(states.ways, onward)
        some = onward > 0
        return Layer(states.keys[some], states.ways[some] * onward[some])

    yield kept(at_the_cut)


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
