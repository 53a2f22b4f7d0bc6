"""Recipe of one tour for each ordered pair of squares that a tour can join.

There is one task for each start. A tour is found depth first, the same in every build. The search
tries the neighbour with the fewest free neighbours first, and orders ties by random numbers from a
seed. It drops a branch when a free node other than the end has fewer than two free neighbours.
After `MAX_VISITED` nodes it restarts with the next seed; seeds begin at 0. The random numbers are
splitmix64, so that the tours are the same on every machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats.encoder import Part, Parts, TableData
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.recipes.tour_lists import make_tour_columns
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.checkpoints import Arrays

MAX_VISITED = 2_000
MAX_SEEDS = 1_000

# The kernels hold every number as an unsigned word: so they compile in half the time, and need not
# test whether an index is negative.
WORD = np.uint64
ZERO, ONE, TWO = WORD(0), WORD(1), WORD(2)
USED = WORD(1 << 8)
"""Added to the exits of each node on the path; no node has so many."""
NONE = WORD(2**64 - 1)
"""A key after those of all neighbours."""
# a neighbour's key: its exits, 47 bits of its random number, and its position in its row
EXITS_SHIFT, DRAW_SHIFT, POSITION_BITS = WORD(55), WORD(17), WORD(8)
POSITION_MASK = WORD((1 << 8) - 1)
USED_KEY, DEAD_END_KEY = USED << EXITS_SHIFT, TWO << EXITS_SHIFT
# splitmix64
GAMMA, MIX_1, MIX_2 = WORD(0x9E3779B97F4A7C15), WORD(0xBF58476D1CE4E5B9), WORD(0x94D049BB133111EB)
SHIFT_1, SHIFT_2, SHIFT_3 = WORD(30), WORD(27), WORD(31)


def make(table: Table, tasks: Tasks) -> TableData:
    """Return the rows and the records of a board's tours, one for each pair."""
    board = parse_board(table.recipe.parameters["board"])
    pairs = board.count_pairs()
    return TableData(_iter_parts(board, tasks, pairs), pairs)


def _iter_parts(board: KnightBoard, tasks: Tasks, pairs: int) -> Parts:
    starts = ((board.files, board.ranks, start) for start in range(board.squares))
    names = np.array([name.encode() for name in board.name_squares()])
    done = 0
    tasks.report("pairs", 0, pairs)
    for start, (tours,) in enumerate(tasks.run(find_tours_to_each, starts)):
        finish = tours[:, -1]
        done += len(tours)
        closed = np.isin(finish, board.list_neighbours(start))
        rows = make_tour_columns(board, start, 0, finish, closed, names[tours])
        yield Part(rows, {"squares": tours.view(f"S{board.squares}").ravel()})
        tasks.report("pairs", done, pairs)


def find_tours_to_each(files: int, ranks: int, start: int) -> Arrays:
    """Find a tour from a start to each possible end, in the order of the ends.

    A tour is a row of squares.
    """
    board = KnightBoard(files, ranks)
    neighbours = [board.list_neighbours(square) for square in range(board.squares)]
    width = max(map(len, neighbours))
    padded = np.array([row + [-1] * (width - len(row)) for row in neighbours], dtype=np.int64)
    ends = [end for end in range(board.squares) if start != end and board.can_join(start, end)]
    pairs = np.array([(start, end) for end in ends], dtype=np.int64).reshape(-1, 2)
    tours = find_paths(padded, pairs)
    for end, tour in zip(ends, tours, strict=True):
        if tour[0] != start or tour[-1] != end:
            pair = f"{board.name_square(start)} to {board.name_square(end)}"
            raise SearchError(f"No tour of {board} from {pair} was found.")
    return [tours]


def find_paths(neighbours: Array, ends: Array) -> npt.NDArray[np.uint8]:
    """Find for each (start, end) a path from one to the other through every node, a row each.

    `neighbours` has one row a node, padded with -1. Where no path was found, the row is zeros.
    """
    paths = np.zeros((len(ends), len(neighbours)), dtype=np.uint8)
    degrees = np.count_nonzero(neighbours >= 0, axis=1).astype(WORD)
    exits, keys, path = np.empty((3, len(neighbours)), dtype=WORD)
    _search_pair(neighbours.astype(WORD), degrees, ends.astype(WORD), exits, keys, path, paths)
    return paths


@compiled
def _search_pair(
    near: Array, degrees: Array, ends: Array, exits: Array, keys: Array, path: Array, paths: Array
) -> None:
    """Search for each pair's path with one seed after another; the other arrays are work space."""
    for row in range(len(ends)):
        for seed in range(MAX_SEEDS):
            if _try_seed(near, degrees, ends[row, 0], ends[row, 1], WORD(seed), exits, keys, path):
                for depth in range(len(path)):
                    paths[row, depth] = path[depth]
                break


@compiled
def _try_seed(
    near: Array, degrees: Array, start: Any, end: Any, seed: Any,
    exits: Array, keys: Array, path: Array,
) -> bool:  # fmt: skip
    """Search for a path with one seed and write it to `path`; return whether one was found.

    `exits[v]` is the number of v's free neighbours, and `keys[depth]` the smallest key that the
    next neighbour at this depth may have; 0 where none was tried.
    """
    nodes, width = WORD(near.shape[0]), WORD(near.shape[1])
    for node in range(len(degrees)):
        exits[node] = degrees[node]
    exits[end] += ONE  # so that one free neighbour is enough for the end
    exits[start] += USED
    path[0], keys[0] = start, ZERO
    depth, visited = ZERO, 0
    while True:
        head, least = path[depth], keys[depth]
        if least == ZERO:
            if depth + ONE == nodes:
                return True
            visited += 1
            if visited > MAX_VISITED:
                return False
        left = ONE if least == ZERO else ZERO  # the path's last node is no longer free
        base = ((seed * nodes + depth) * nodes + head) * width
        best, dead_ends, position = NONE, 0, ZERO
        while position < degrees[head]:
            other = near[head, position]
            exits[other] -= left
            dead_ends += exits[other] < TWO
            draw = (base + position) * GAMMA
            draw = (draw ^ (draw >> SHIFT_1)) * MIX_1
            draw = (draw ^ (draw >> SHIFT_2)) * MIX_2
            draw = (draw ^ (draw >> SHIFT_3)) >> DRAW_SHIFT << POSITION_BITS
            key = exits[other] << EXITS_SHIFT | draw | position
            if key < least or (other == end and depth + TWO != nodes):
                key = NONE
            best = min(best, key)
            position += ONE
        # a dead end must be the next node; if there are two, one is left behind
        if best < USED_KEY and dead_ends <= (best < DEAD_END_KEY):
            keys[depth] = best + ONE
            depth += ONE
            path[depth], keys[depth] = near[head, best & POSITION_MASK], ZERO
            exits[path[depth]] += USED
        elif depth == ZERO:
            return False
        else:
            for at in range(degrees[head]):
                exits[near[head, at]] += ONE
            exits[head] -= USED
            depth -= ONE
