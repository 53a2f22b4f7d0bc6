"""Recipe of the numbers of tours between each two squares, counted without a list.

A tour is a cycle through the virtual square (`tour_sweep`), and its ends are that square's two
neighbours. The squares are those of the longer half, of the cut, and of the shorter half, which is
the longer one seen from the far end. A *lane* is a sweep whose paths all end at one square, or at
its mirror image: its states need one more edge at the virtual square. So a lane's forward counts,
times the backward counts of the states after another square was joined to the virtual one, are the
tours between both. Where both ends are

- in the longer half, that is at the step of the later one, with backward counts of states whose
  virtual square needs nothing;
- in the cut, each cycle uses two edges there to the virtual square;
- in the longer half and the cut, a lane meets states that need both edges, and gets the other one
  at the cut;
- in the shorter half and the longer one, a lane meets the states of all lanes: their completions,
  times the forward counts of each lane.

All other pairs are images of these. A pair that is found twice must have the same number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats.encoder import Part, Parts, TableData
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.recipes.tour_counts import (
    count_layer_back,
    make_layer,
    sweep_forward,
)
from puzzle_tablebase.pipeline.recipes.tour_meet import make_cut, meet_halves
from puzzle_tablebase.pipeline.recipes.tour_sweep import (
    Layer,
    Step,
    advance_layer,
    make_steps,
    sum_cycles,
)
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tour_ranker import Sweep
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tour_frontier.states import END, FREE

UNKNOWN = -1
LANES = 6
"""Lanes that meet the other half's states at a time: each has a number for each state."""


def make(table: Table, tasks: Tasks) -> TableData:
    """Return a row, and a record, for each ordered pair of squares that a tour may join."""
    board = parse_board(table.recipe.parameters["board"])
    return TableData(_iter_parts(board, tasks), board.count_pairs())


def _iter_parts(board: KnightBoard, tasks: Tasks) -> Parts:
    # boards are counted with files <= ranks
    upright = KnightBoard(*board.sorted_sides)
    tours = count_tours_by_pair(upright, tasks)
    if board.files > board.ranks:
        turned = np.arange(board.squares).reshape(board.files, board.ranks).T.ravel()
        tours = tours[turned][:, turned]
    start, finish = np.array(board.list_pairs()).T
    codes = np.array(board.list_enum_codes())
    columns = {
        "board": np.full(len(start), str(board).encode()),
        "start": codes[start],
        "finish": codes[finish],
        "tours": tours[start, finish],
        "closed": np.array([board.is_jump(*pair) for pair in board.list_pairs()]),
    }
    yield Part(columns, {"tours": columns["tours"]})


Cycles = Counter[tuple[int, int]]
"""Numbers of cycles, by the two squares that are next to the virtual one, ascending."""


class Half(NamedTuple):
    """The sweep through the longer half: its steps, and what returns each of its layers."""

    sweep: Sweep
    steps: Sequence[Step]
    layers: Sequence[Callable[[], Layer]]
    is_mirrored: bool
    """Whether a state represents its mirror image too: only on boards where a square and its image
    differ in colour. So the colour of one end tells which of a lane's squares the other is."""
    name: str
    tasks: Tasks

    def mirror(self, square: int) -> int:
        """Return the square's mirror image; the square itself, if states represent none."""
        rows = self.sweep.rows
        return square + self.is_mirrored * (rows - 1 - 2 * (square % rows))

    def list_lanes(self) -> list[tuple[int, ...]]:
        """List the squares of each lane, ascending: one where a tour can end, and its image."""
        ends = [at for at, step in enumerate(self.steps) if 0 in step.others]
        return [tuple(sorted({at, self.mirror(at)})) for at in ends if at <= self.mirror(at)]

    def meet(self, longer: Layer, shorter: Layer, name: str) -> tuple[Array, Array]:
        """Combine states of both halves, as `meet_halves`.

        Return the ways to complete each of the first, and for each column of its ways the cycles by
        the squares of the cut that are joined to the virtual one: by two, in the diagonal by one.
        """
        cut = make_cut(self.sweep, mirrored=self.is_mirrored)
        onward, uses = meet_halves(longer, shorter, cut, f"{self.name}, {name}", self.tasks)
        cells = slice(self.sweep.finished, self.sweep.finished + 2 * self.sweep.rows)
        return onward, uses[:, cells, cells]


class Ways(NamedTuple):
    """The ways to a lane's states whose virtual square needs one edge; large, so often on disk."""

    longer: Array
    """To each at the cut."""
    shorter: Array
    """To each after the shorter half; empty if the lane begins later."""


class Lane(NamedTuple):
    """A lane's squares, and what its sweep counts."""

    squares: tuple[int, ...]
    """One where a tour can end, and its mirror image if states represent that too."""
    uses: Array
    """The cycles whose other edge at the virtual square leads to each square of the half."""
    has_shorter: bool
    """Whether it has ways to states of the shorter half."""
    load: Callable[[], Ways]


class PairTable:
    """The tours between each two squares, as the sweep numbers them, where they are known."""

    def __init__(self, half: Half) -> None:
        board = half.sweep.upright
        self.tours = np.zeros((board.squares, board.squares), dtype=np.int64)
        self.tours[tuple(np.array(board.list_pairs()).T)] = UNKNOWN
        self._pairs, self._mirror = frozenset(board.list_pairs()), half.mirror
        self._images = [board.find_images(square) for square in range(board.squares)]

    def count_unknown(self, squares: Sequence[int], others: Sequence[int]) -> int:
        """Count the pairs of these squares between which the tours are unknown."""
        return int((self.tours[np.ix_(squares, others)] == UNKNOWN).sum())

    def pair_up(
        self, squares: Iterable[int], others: Iterable[int], numbers: Iterable[int]
    ) -> Cycles:
        """Pair each of the others with the one of these squares that a tour may join to it."""
        cycles = Cycles()
        for other, number in zip(others, numbers, strict=True):
            for square in squares:
                if (square, other) in self._pairs:
                    cycles[min(square, other), max(square, other)] += int(number)
        return cycles

    def add(self, cycles: Cycles) -> None:
        """Add the tours of some pairs, and of all their images, in both directions.

        A cycle may have been found as its mirror image, so a pair's tours are half of the cycles of
        both. If a pair is known already, its number must be the same.
        """
        for (one, other), number in cycles.items():
            image = sorted((self._mirror(one), self._mirror(other)))
            tours = (number + cycles[image[0], image[1]]) // 2
            for ends in zip(self._images[one], self._images[other], strict=True):
                for pair in (ends, ends[::-1]):
                    if self.tours[pair] not in (UNKNOWN, tours):
                        raise SearchError(f"Two counts of the tours between {ends} differ.")
                    self.tours[pair] = tours


def count_tours_by_pair(board: KnightBoard, tasks: Tasks) -> Array:
    """Count a board's directed tours from each square to each.

    It must have at most as many files as ranks. Its squares are numbered along its files.
    """
    sweep, is_mirrored = Sweep(board, paths=True), board.files % 2 == 0
    steps, name = make_steps(sweep, mirrored=is_mirrored), f"{board} pairs"
    half = Half(sweep, steps, sweep_forward(sweep, steps, name, tasks), is_mirrored, name, tasks)
    table, near = PairTable(half), range(sweep.longer)
    cut = range(sweep.longer, sweep.longer + 2 * sweep.rows)
    last, free = half.layers[-1](), keep_states(half.layers[sweep.shorter](), FREE)
    onward, uses = half.meet(last, free, "both ends on one side")
    total, cycles = sum_cycles(last.ways, onward), Cycles()
    for row, square in enumerate(cut):
        cycles.update(table.pair_up([square], cut[row + 1 :], uses[0, row, row + 1 :]))
    back = _go_back(half, keep_states(last._replace(ways=onward), 0))
    del last, onward
    lanes = [_make_lane(half, squares, back) for squares in half.list_lanes()]
    for lane in lanes:
        cycles.update(table.pair_up(lane.squares, near, lane.uses))
    table.add(cycles)
    for first in range(0, len(lanes), LANES):
        _meet_cut(half, lanes[first : first + LANES], table, cut, free)
    _meet_lanes(half, lanes, table, near)
    both = table.tours[: cut.stop, : cut.stop]  # the tours with no end in the shorter half
    if both.sum() != 2 * total or (table.tours == UNKNOWN).any():
        raise SearchError(f"The paths of {board} do not have two ends each.")
    return table.tours


def _go_back(half: Half, last: Layer) -> list[Callable[[], Layer]]:
    """Count the ways to complete the states whose virtual square needs nothing, of all layers.

    `last`: those at the cut. Return a function for each layer that returns or loads it.
    """

    def step_back(number: int, after: Layer) -> Layer:
        half.tasks.report(f"{half.name}, steps back", len(half.steps) - number, len(half.steps))
        layer = keep_states(half.layers[number](), 0)
        step = _leave_out_virtual(half.steps[number])
        return layer._replace(ways=count_layer_back(layer, step, after, half.tasks)[1])

    layer, layers = last, list[Callable[[], Layer]]([partial(Layer, *last)])
    for number in reversed(range(len(half.steps))):
        saved = f"{half.name}, back to layer {number}"
        layer, load = make_layer(saved, partial(step_back, number, layer), half.tasks)
        layers.append(load)
    return layers[::-1]


def _make_lane(half: Half, squares: tuple[int, ...], back: Sequence[Callable[[], Layer]]) -> Lane:
    """Sweep along a lane."""
    name = f"{half.name}, lane {squares[0]}"
    arrays, load = half.tasks.make_reloadable(name, partial(_sweep_lane, half, squares, back))
    uses, _, shorter = arrays
    # a copy, because a view would keep the whole array
    return Lane(squares, uses.copy(), len(shorter) > 0, lambda: Ways(*load()[1:]))


def _sweep_lane(
    half: Half, squares: tuple[int, ...], back: Sequence[Callable[[], Layer]]
) -> list[Array]:
    """Return the arrays of a lane."""
    layer, sweep = keep_states(half.layers[squares[0]](), FREE), half.sweep
    uses, shorter = np.zeros(sweep.longer, dtype=np.int64), np.empty(0, dtype=np.int64)
    for number in range(squares[0], sweep.longer):
        name = f"{half.name}, from square {squares[0]}, steps"
        on_step = partial(half.tasks.report, name, number, sweep.longer)
        step = half.steps[number]
        if 0 in step.others:
            second, after = step._replace(wanted=0), back[number + 1]()
            uses[number], _ = count_layer_back(keep_states(layer, END), second, after, half.tasks)
            del after
        if number not in squares:
            step = _leave_out_virtual(step)
        layer = advance_layer(layer, step, on_step, half.tasks.run_in_threads)
        layer = keep_states(layer, END, *([FREE] if number < squares[-1] else []))
        if number + 1 == sweep.shorter:
            shorter = _find_ways(layer, half.layers[sweep.shorter]())
    return [uses, _find_ways(layer, half.layers[-1]()), shorter]


def _meet_cut(half: Half, lanes: Sequence[Lane], table: PairTable, cut: range, free: Layer) -> None:
    """Add the tours from some lanes to the cut, where the other half's states are free."""
    layer = keep_states(half.layers[-1](), END)
    ways = np.empty((len(layer.ways), len(lanes)), dtype=np.int64)
    for number, lane in enumerate(lanes):  # large, so one after the other
        ways[:, number] = lane.load().longer
    name = f"from square {lanes[0].squares[0]} to the cut"
    onward, uses = half.meet(layer._replace(ways=ways), free, name)
    for number, lane in enumerate(lanes):
        sum_cycles(ways[:, number], onward)
        table.add(table.pair_up(lane.squares, cut, uses[number].diagonal()))


def _meet_lanes(half: Half, lanes: Sequence[Lane], table: PairTable, near: range) -> None:
    """Add the tours from the shorter half to the longer one, from as few squares as needed."""
    layer, sweep = keep_states(half.layers[-1](), END), half.sweep
    far = [
        ([sweep.mirrored_squares[at] for at in each.squares], each)
        for each in lanes
        if each.has_shorter
    ]
    while far:
        unknown = [table.count_unknown(squares, near) for squares, _ in far]
        squares, lane = far.pop(unknown.index(max(unknown)))
        if not table.count_unknown(squares, near):
            break
        other = keep_states(half.layers[sweep.shorter](), END)._replace(ways=lane.load().shorter)
        onward, _ = half.meet(layer, other, f"from square {squares[0]}")
        del other
        cycles = Cycles()
        for each in lanes:
            total = sum_cycles(each.load().longer, onward)
            cycles.update(table.pair_up(squares, each.squares[:1], [total]))
        table.add(cycles)


def _leave_out_virtual(step: Step) -> Step:
    """Return the step without an edge to the virtual square."""
    return step._replace(others=step.others[step.others > 0])


def keep_states(layer: Layer, *virtual: int) -> Layer:
    """Return the states whose virtual square needs so many edges."""
    is_kept, sizes = np.isin(layer.needs & 3, virtual), np.diff(layer.begins)
    states = np.repeat(is_kept, sizes)
    begins = np.append(0, np.cumsum(sizes[is_kept]))
    return Layer(layer.needs[is_kept], begins, layer.matchings[states], layer.ways[states])


def _find_ways(lane: Layer, layer: Layer) -> Array:
    """Return the lane's ways to each of the layer's states that need one more virtual edge."""
    keys = keep_states(layer, END).keys
    ways = np.zeros(len(keys), dtype=np.int64)
    ways[np.searchsorted(keys, lane.keys)] = lane.ways
    return ways
