"""Builders of the tables that count and rank a board's tours without a list, by half sweeps.

Two half sweeps lead to the cut, and one sweep back counts the tours by their start. A board and the
board turned by 90 degrees are counted together. The encoded layers of a half sweep rank the tours;
the last one has the states at the cut, each with the number of cycles through it. Large layers are
saved as checkpoints, so that few of them are in memory and a killed build resumes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.frontier.compiled import MAX_CELLS, decode_layer, encode_layer
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.search.tour_edge_sets import Step
from puzzle_tablebase.pipeline.search.tour_meet import (
    add_completions,
    find_max_pairs,
    find_shared_needs,
    make_pair_removal,
    make_sides,
)
from puzzle_tablebase.pipeline.search.tour_sweep import (
    COUNT_LIMIT,
    CountOverflow,
    Halves,
    HashTable,
    Layer,
    advance_layer,
    count_onward,
    cut_board,
    sum_cycles,
)
from puzzle_tablebase.pipeline.tasks import (
    Chunks,
    TableData,
    Tasks,
    make_no_records,
    run_in_threads,
)
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import (
    TourCounts,
    TourRanking,
    estimate_count_cost,
    estimate_rank_cost,
    get_sides,
)
from puzzle_tablebase.puzzles.knight.tour_ranker import Route, Sweep
from puzzle_tablebase.resources import count_cores
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.checkpoints import Arrays

CHUNK_RECORDS = 1 << 14
"""Records in a chunk."""


class SweepSettings(NamedTuple):
    """The sizes and times of a sweep: its memory and speed depend on them, and no count does."""

    min_stored_bytes: int = 1 << 24
    """Bytes from which arrays are saved in the store instead of memory."""
    slice_states: int = 1 << 18
    """States of one slice, whose backward counts one thread computes at a time."""
    max_threads: int = 4
    """Maximum number of threads where the halves meet: each one adds up counts for all states, in
    an array of its own."""
    max_tasks: int = 512
    """Maximum number of tasks into which the needs that the halves share are divided."""
    needs_per_task: int = 1000
    """The needs that a task, which is for one thread, should have at least."""
    tasks_per_round: int = 32
    """Tasks after which all threads wait for each other."""
    checkpoint_seconds: float = 300.0
    """Seconds between two checkpoints where the halves meet."""


DEFAULT_SETTINGS = SweepSettings()


class TourTotals(NamedTuple):
    """The tours of a board by starting square, or None; and the closed tours from each square."""

    tours: Array | None
    closed: int


class LayerCache:
    """The layers of the longer half: all are made first, and large ones read back when used."""

    def __init__(self, halves: Halves, name: str, runner: Tasks, settings: SweepSettings) -> None:
        self._name = name
        self._checkpoints = runner.checkpoints
        self._in_memory = {0: halves.first}
        layer = halves.first
        for done, step in enumerate(halves.steps):
            on_step = partial(runner.report, f"{name}, steps", done, len(halves.steps))
            make_layer = partial(advance_layer, layer, step, on_step)
            layer_name = self._name_layer(done + 1)
            layer = Layer(*load_or_compute(layer_name, make_layer, runner, settings))
            if self._checkpoints is None or not is_large(layer, settings):
                self._in_memory[done + 1] = layer

    def __getitem__(self, number: int) -> Layer:
        if self._checkpoints and number not in self._in_memory:
            return Layer(*self._checkpoints.require(self._name_layer(number)))
        return self._in_memory[number]

    def _name_layer(self, number: int) -> str:
        return f"{self._name}, layer {number}"


def load_or_compute(
    name: str,
    compute: Callable[[], Sequence[Array]],
    runner: Tasks,
    settings: SweepSettings = DEFAULT_SETTINGS,
) -> Sequence[Array]:
    """Return the arrays saved under a name; else compute them, and save them if they are large."""
    arrays: Sequence[Array] | None = runner.checkpoints.load(name) if runner.checkpoints else None
    if arrays is None:
        arrays = compute()
        if runner.checkpoints and is_large(arrays, settings):
            runner.checkpoints.save(name, list(arrays))
    return arrays


def is_large(arrays: Sequence[Array], settings: SweepSettings) -> bool:
    """Return whether arrays are saved in the store instead of memory."""
    return sum(array.nbytes for array in arrays) > settings.min_stored_bytes


def count_tours(
    board: KnightBoard,
    runner: Tasks,
    settings: SweepSettings = DEFAULT_SETTINGS,
    *,
    paths: bool,
) -> TourTotals:
    """Count a board's tours; it must have at most as many files as ranks.

    Its squares are numbered along its files.
    """
    if board.files < 3 or board.ranks < 4:
        # one file has no jumps, on two files a knight reaches only every second rank, and no jump
        # leads out of the middle of nine squares; the tour of one square is counted once, since its
        # start is its end
        tours_by_start = [1] if board.squares == 1 else [0] * board.squares
        return TourTotals(np.array(tours_by_start), 0)
    try:
        # each cycle is a closed tour from every square, in two directions
        closed = 2 * count_cycles(board, runner, settings, paths=False)[0]
        if closed >= COUNT_LIMIT:
            raise CountOverflow
        tours = count_cycles(board, runner, settings, paths=True)[1] if paths else None
    except CountOverflow:
        raise SearchError(f"The tours of {board} are more than a table can hold (2^63).") from None
    return TourTotals(tours, closed)


def count_cycles(
    board: KnightBoard,
    runner: Tasks,
    settings: SweepSettings = DEFAULT_SETTINGS,
    *,
    paths: bool,
) -> tuple[int, Array]:
    """Count the cycles through all squares, and those that use each square's virtual edge.

    The virtual edge of a square leads to the virtual square.
    """
    rows = board.files
    board_halves = cut_board(board.list_later_neighbours(), rows, paths=paths)
    name, steps = f"{board} {'open' if paths else 'closed'}", board_halves.steps
    layers = LayerCache(board_halves, name, runner, settings)

    def combine() -> list[Array]:
        longer = layers[len(steps)]
        shorter = longer if board_halves.shorter == len(steps) else layers[board_halves.shorter]
        side, onward, uses = combine_halves(
            longer, shorter, board_halves, f"{name}, where the halves meet", runner, settings
        )
        return [side.keys, onward, uses, np.array([sum_cycles(side.ways, onward)])]

    keys, onward, uses, (total,) = load_or_compute(f"{name}, met", combine, runner, settings)
    ends = np.zeros((board.ranks, rows), dtype=np.int64)
    by_square = ends.ravel()
    if not paths or not total:
        return int(total), by_square
    by_square[len(steps) :][: 2 * rows] = uses[1 : 2 * rows + 1]
    states = [keys, onward]  # large: each array is dropped before the next one is made
    del keys, onward
    for number in reversed(range(len(steps))):
        runner.report(f"{name}, steps back", len(steps) - number, len(steps))
        table = HashTable.from_columns(states[0], states[1])
        states.clear()
        layer = layers[number]
        by_square[number], onward = _step_back(layer, steps[number], table, settings.slice_states)
        states += layer.keys, onward
        del layer, table, onward
    # an edge at a square of a state is an edge at the square's image in the state's image
    half = ends[: len(steps) // rows + 2]
    half[:] = (half + half[:, ::-1]) // 2
    ends[-len(half) :] = half[::-1]
    if by_square.sum() != 2 * total:
        raise SearchError(f"The paths of {board} do not have two ends each.")
    return int(total), by_square


class ThreadSums:
    """Sums that several threads add up, each in an array of its own."""

    def __init__(self, initial: Array, threads: int) -> None:
        self._arrays = SimpleQueue[Array]()
        for array in (initial, *(np.zeros_like(initial) for _ in range(threads - 1))):
            self._arrays.put(array)

    @contextmanager
    def borrow(self) -> Iterator[Array]:
        """Reserve an array for the thread while the block lasts."""
        array = self._arrays.get()
        try:
            yield array
        finally:  # another thread may wait for it
            self._arrays.put(array)

    def merge(self) -> Array:
        """Return the sums of all threads; no thread may be adding meanwhile."""
        arrays = [self._arrays.get() for _ in range(self._arrays.qsize())]
        for array in arrays[1:]:
            arrays[0] += array
            array[:] = 0
            if arrays[0].min(initial=0) < 0:
                raise CountOverflow
        for array in arrays:
            self._arrays.put(array)
        return arrays[0]


def combine_halves(
    longer: Layer,
    shorter: Layer,
    board_halves: Halves,
    name: str,
    runner: Tasks,
    settings: SweepSettings = DEFAULT_SETTINGS,
) -> tuple[Layer, Array, Array]:
    """Combine two half sweeps at the cut.

    Returns the longer half's states by ascending key, the number of ways to complete each, and the
    number of cycles that use each cell's edge to the virtual square. A long computation saves
    checkpoints under `name`.
    """
    one, other = make_sides(longer, shorter, board_halves)
    del longer, shorter  # large, and no longer needed
    needs = find_shared_needs(one, other, len(board_halves.mirror))
    removal = make_pair_removal(find_max_pairs(needs))
    tasks, threads = (
        min(settings.max_tasks, 1 + len(needs) // settings.needs_per_task),
        min(count_cores(), settings.max_threads),
    )
    initial = np.zeros_like(one.ways), np.zeros(MAX_CELLS, dtype=np.int64), np.array([0])
    checkpoints = runner.checkpoints if is_large(initial, settings) else None
    onward, uses, (done,) = (checkpoints.load(name) if checkpoints else None) or initial
    sums, saved_at = ThreadSums(onward, threads), time.monotonic()

    def run_task(number: int) -> Array:
        with sums.borrow() as onward:
            return add_completions(needs[number::tasks], one, other, removal, onward)

    while done < tasks:
        numbers = range(done, min(tasks, done + settings.tasks_per_round))
        for number, uses_found in zip(
            numbers, run_in_threads(run_task, zip(numbers), threads), strict=True
        ):
            runner.report(name, number, tasks)
            uses += uses_found
        done = numbers.stop
        is_due = time.monotonic() - saved_at >= settings.checkpoint_seconds
        if checkpoints and done < tasks and is_due:
            checkpoints.save(name, [sums.merge(), uses, np.array([done])])
            saved_at = time.monotonic()
    return Layer(one.keys, one.ways), sums.merge(), uses


def _step_back(layer: Layer, step: Step, table: HashTable, slice_states: int) -> tuple[int, Array]:
    """Count the cycles that use a step's edge to the virtual square, and the ways to complete each
    state of the layer."""
    slices = [
        slice(first, first + slice_states) for first in range(0, len(layer.keys), slice_states)
    ]
    arguments = ((Layer(layer.keys[span], layer.ways[span]), step, table) for span in slices)
    onward, uses = np.empty_like(layer.ways), 0
    for span, (counts, uses_found) in zip(
        slices, run_in_threads(count_onward, arguments), strict=True
    ):
        onward[span] = counts
        uses += int(uses_found[step.others == 0].sum())
    return uses, onward


def make_counts(recipe: TourCounts, puzzle: Puzzle, table: Table, tasks: Tasks) -> TableData:
    """Return the rows of the recipe's boards; each board is counted when its rows are consumed."""
    return TableData(_iter_rows(recipe, table, tasks), make_no_records(), 0)


def _iter_rows(recipe: TourCounts, table: Table, tasks: Tasks) -> Chunks:
    totals = dict[tuple[int, int], TourTotals]()
    for files, ranks in recipe.boards:
        short, long = sorted((files, ranks))
        closed_only = (files, ranks) in recipe.closed
        if (short, long) not in totals or (totals[short, long].tours is None and not closed_only):
            if short > 2:
                needed = estimate_count_cost((files, ranks), closed=closed_only)
                tasks.require_memory(needed, f" of {files}x{ranks}")
            totals[short, long] = count_tours(
                KnightBoard(short, long), tasks, paths=not closed_only
            )
        tours, closed = totals[short, long]
        squares = files * ranks
        if tours is None or closed_only:
            tours = np.ma.MaskedArray(np.zeros(squares, dtype=np.int64), np.full(squares, True))
        elif files > ranks:  # boards are counted with files <= ranks
            tours = tours.reshape(files, ranks).T.ravel()
        board = KnightBoard(files, ranks)
        yield {
            "board": np.full(squares, str(board).encode()),
            "files": np.full(squares, files),
            "ranks": np.full(squares, ranks),
            "start": np.array(board.find_enum_places()),
            "tours": tours,
            "closed": np.full(squares, closed),
        }


def make_ranking(
    recipe: TourRanking,
    puzzle: Puzzle,
    table: Table,
    tasks: Tasks,
    settings: SweepSettings = DEFAULT_SETTINGS,
) -> TableData:
    """Sweep through half of the board and return its layers as rows and as records."""
    board, paths = recipe.board, not recipe.closed
    runner = tasks
    tasks.require_memory(estimate_rank_cost(get_sides(board), closed=recipe.closed))
    *_, (_, form) = table.index
    sweep = Sweep(board, paths=paths)
    try:
        layers = [*_iter_layers(sweep, int(form[:-1]), runner, settings)]
    except CountOverflow:
        raise SearchError(f"The tours of {board} are too many to number (2^63).") from None
    count = sum(len(firsts) for firsts, *_ in layers)
    rows, records = (_iter_records(layers, count, runner) for _ in range(2))
    return TableData(rows, records, count)


class LayerOrigin(NamedTuple):
    """What a layer of a ranking is made of: the number of an earlier layer, and what follows it.

    That is a step of the sweep, or the route at whose cut the halves meet. The first layer of all
    has no origin.
    """

    source: int
    following: Step | Route


def _list_origins(sweep: Sweep, steps: Sequence[Step]) -> Iterator[LayerOrigin]:
    """List the origins of all layers but the first, in the order of the records."""
    yield from (LayerOrigin(number, step) for number, step in enumerate(steps))
    for route in sweep.routes:
        for square in sweep.list_own_squares(route.start):
            step = steps[square]
            if square == route.start:
                step = step._replace(wanted=step.others.tolist().index(0))
            yield LayerOrigin(route.layers[square], step)
        yield LayerOrigin(route.layers[-1], route)


def _iter_layers(
    sweep: Sweep, width: int, runner: Tasks, settings: SweepSettings
) -> Iterator[Arrays]:
    """Iterate over the layers' records: first keys, sums before them, and states."""
    later = sweep.upright.list_later_neighbours()
    halves = cut_board(later, sweep.rows, paths=sweep.paths, mirrored=False)
    # no caller needs the number of cycles that use each edge
    halves = halves._replace(between=halves.between * (1, 1, 0))
    layers = [[*encode_layer(*halves.first, width)]]
    yield layers[0]
    for number, origin in enumerate(_list_origins(sweep, halves.steps), start=1):
        make_layer = partial(_make_layer, origin, layers, sweep, halves, width, runner, settings)
        layers.append([*load_or_compute(f"layer {number}", make_layer, runner, settings)])
        yield layers[number]


def _make_layer(
    origin: LayerOrigin,
    layers: Sequence[Arrays],
    sweep: Sweep,
    halves: Halves,
    width: int,
    runner: Tasks,
    settings: SweepSettings,
) -> Sequence[Array]:
    """Make the layer that follows from an earlier one of `layers`; return its records."""
    number, count = len(layers), 1 + sweep.routes[-1].cut
    layer = _decode(layers[origin.source])
    if isinstance(origin.following, Route):
        name = f"layer {number} of {count}, where the halves meet"
        shorter = _decode(layers[sweep.shorter])
        cut = _find_cut(origin.following, sweep, halves)
        return encode_layer(*_meet(layer, shorter, cut, name, runner, settings), width)
    on_step = partial(runner.report, "steps", number, count)
    keys, ways = advance_layer(layer, origin.following, on_step)
    order = np.argsort(keys)
    return encode_layer(keys[order], ways[order], width)


def _decode(records: Arrays) -> Layer:
    firsts, _, states = records
    return Layer(*decode_layer(firsts, states))


def _find_cut(route: Route, sweep: Sweep, halves: Halves) -> Halves:
    """Return the halves of a route, whose start at the cut needs its edge to the virtual square."""
    if route.start < sweep.longer:
        return halves
    return halves.require_edge(sweep.find_cell(route.start, sweep.longer))


def _meet(
    longer: Layer,
    shorter: Layer,
    halves: Halves,
    name: str,
    runner: Tasks,
    settings: SweepSettings,
) -> Layer:
    """Return the longer half's states that can be completed, each with its cycles as ways."""
    states, onward, _ = combine_halves(longer, shorter, halves, name, runner, settings)
    sum_cycles(states.ways, onward)
    is_completed = onward > 0
    return Layer(states.keys[is_completed], states.ways[is_completed] * onward[is_completed])


def _iter_records(layers: list[Arrays], count: int, runner: Tasks) -> Chunks:
    done = 0
    for number, (firsts, sums, states) in enumerate(layers):
        for first in range(0, len(firsts), CHUNK_RECORDS):
            runner.report("records", done, count)
            span = slice(first, first + CHUNK_RECORDS)
            key = firsts[span]
            layer: Array = np.full(len(key), number)
            yield {"layer": layer, "key": key, "before": sums[span], "states": states[span]}
            done += len(key)
