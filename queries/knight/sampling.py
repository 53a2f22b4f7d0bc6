"""Uniform samples of tours, and tours unranked many at once, as `tour_ranker` unranks one.

All tours of a route go through the layers together, from the last one back, so that only one layer
at a time is in memory. For each tour there are a state and the number of a partial tour that leads
to it, twice: for the longer half of the board and for the shorter one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from puzzle_tablebase.frontier.compiled import (
    END_BITS,
    MATCHING_COUNTS,
    MATCHING_MASK,
    MAX_PAIRS,
    decode_layer,
    list_all_partners,
)
from puzzle_tablebase.frontier.layers import MATCHING_BITS, MAX_SUM, InconsistentLayers
from puzzle_tablebase.jit import Array
from puzzle_tablebase.puzzles.knight.tour_ranker import NO_SQUARE, Route, Sweep
from puzzle_tablebase.queries.kernels.tours import (
    Layer,
    SweepCells,
    follow_tours,
    go_back,
    meet_halves,
)
from puzzle_tablebase.queries.knight.ranked_tours import RankedTours
from puzzle_tablebase.queries.reader import ignore_progress
from puzzle_tablebase.resources import count_cores
from puzzle_tablebase.tables.index_format import make_record_type

if TYPE_CHECKING:
    from puzzle_tablebase.queries.reader import ProgressCallback, Reader
    from puzzle_tablebase.schema import Table


def unrank_tours(
    sweep: Sweep,
    route: Route,
    load_layer: Callable[[int], Layer],
    ranks: Array,
    starts: Array,
    on_progress: Callable[[int, int], None],
) -> Array:
    """Return the tours with these numbers on a route, from these starts, one row per tour.

    A closed tour goes towards the lower of its start's neighbours. `on_progress(layers, all)` is
    called after each layer.
    """
    cut, squares = sweep.longer, np.arange(sweep.virtual + 1)
    partners = list_all_partners(sweep.cells + 2)
    cells = SweepCells(sweep.here, sweep.rows, sweep.cells, sweep.virtual, partners)
    neighbours = np.full((len(ranks), sweep.virtual + 1, 2), NO_SQUARE, dtype=np.int8)
    far_squares = np.array(sweep.far)
    keys, cycles = load_layer(route.cut)
    ends = np.cumsum(cycles)
    places = np.searchsorted(ends, ranks, side="right")
    at_cut, rest = keys[places], ranks - (ends - cycles)[places]
    states = load_layer(route.layers[-1])
    completions = _count_completions((at_cut, cycles[places]), states)
    del keys, cycles, ends, places
    longer_numbers, shorter_numbers = np.divmod(rest, completions)
    longer_states, shorter_states = (
        (at_cut.copy(), longer_numbers),
        (at_cut.copy(), shorter_numbers),
    )
    between = np.array(sweep.between)
    start_cell = sweep.find_cell(route.start, cut) if route.start >= cut else NO_SQUARE
    for number in reversed(range(cut + 1)):
        if number < cut:
            others = np.array(sweep.steps[number], dtype=np.int64)
            states = load_layer(route.layers[number])
            step = number, others, number == route.start, cells, *states
            _run_parallel(go_back, (*longer_states, neighbours), (*step, squares))
        if number <= sweep.shorter and route.layers[number] != number:
            states = load_layer(number)  # the shorter half uses the layers common to all starts
        if number < sweep.shorter:
            step = number, others, False, cells, *states
            _run_parallel(go_back, (*shorter_states, neighbours), (*step, far_squares))
        if number == sweep.shorter:
            _run_parallel(
                meet_halves,
                (*shorter_states, neighbours),
                (cut, between, start_cell, cells, *states),
            )
        on_progress(cut - number, cut)
    tours = np.empty((len(ranks), sweep.virtual), dtype=np.int8)
    image = np.array([sweep.map_squares(start) for start in range(sweep.virtual)])
    _run_parallel(
        follow_tours,
        (tours, neighbours, starts),
        (image, np.argsort(image), sweep.paths, sweep.virtual),
    )
    return tours


def count_cut_tours(sweep: Sweep, cut: Layer, near: Layer, far: Layer) -> int:
    """Count the tours that pass the states at a cut; InconsistentLayers if so many cannot.

    `near` and `far`: the layers with the partial tours that lead there from either end. One meets
    at most every one of the other half, by every set of the edges between the halves.
    """
    most = far[1].sum(dtype=np.float64) * 2.0 ** len(sweep.between)
    total = cut[1].sum(dtype=np.float64)
    if (_count_completions(cut, near) > most).any() or total > MAX_SUM:
        raise InconsistentLayers("there are more tours than drawings that can meet")
    return int(cut[1].sum())


def _count_completions(cut: Layer, near: Layer) -> Array:
    """Count the ways to complete a partial tour that leads to each state of a cut."""
    keys, tours = cut
    if len(keys) and not len(near[0]):
        raise InconsistentLayers("tours pass states that no drawing leads to")
    places = np.minimum(np.searchsorted(near[0], keys), len(near[0]) - 1)
    ways = np.where(near[0][places] == keys, near[1][places], 0)
    if (ways < 1).any() or (tours % ways).any():
        raise InconsistentLayers("tours pass a state in other numbers than drawings lead there")
    return tours // ways


def _run_parallel(
    kernel: Callable[..., bool], tours: tuple[Array, ...], arguments: tuple[object, ...]
) -> None:
    """Run a kernel on all tours, an equal share on each core.

    `tours` are arrays with one row per tour, and `arguments` the kernel's others.
    """
    ends = np.linspace(0, len(tours[0]), count_cores() + 1).astype(int).tolist()
    with ThreadPoolExecutor(count_cores()) as pool:
        parts = (slice(*part) for part in pairwise(ends))
        results = [
            pool.submit(kernel, *(array[part] for array in tours), *arguments) for part in parts
        ]
        if not all(result.result() for result in results):
            raise InconsistentLayers("there are fewer drawings than were counted")


CHUNK_ROWS = 1 << 20
"""Rows of a list that are read at a time."""


def count_ranked_tours(ranked: RankedTours) -> list[int]:
    """Count the tours from each square, or in one item the closed ones, in whole layers.

    A damaged file does not make a sample that no file can have: each state's tours are compared
    with the drawings that can meet there.
    """
    sweep = ranked.ranker.sweep
    starts = range(1 if ranked.closed else ranked.board.squares)
    with ranked.translate_layer_errors():
        far = _load_layer(ranked, sweep.shorter)
        totals = {
            id(route): count_cut_tours(
                sweep, _load_layer(ranked, route.cut), _load_layer(ranked, route.layers[-1]), far
            )
            for route in sweep.routes
        }
        return [totals.get(id(sweep.find_route(start)), 0) for start in starts]


def _load_layer(ranked: RankedTours, layer: int) -> Layer:
    """Load the states of a layer; InconsistentLayers if a key is no state, or comes twice."""
    records_range = ranked.layers.find_records(layer)
    data = b"".join(ranked.index.iter_chunks(records_range.start, records_range.stop))
    records = np.frombuffer(data, make_record_type(ranked.table))
    firsts, states = records["key"].astype(np.int64), np.ascontiguousarray(records["states"])
    keys, numbers = decode_layer(firsts, states)
    needs = keys >> MATCHING_BITS
    ends = np.bitwise_count(needs & END_BITS)
    pairs = np.minimum(ends // 2, MAX_PAIRS)
    if (
        (needs >> 2 * ranked.ranker.sweep.cells).any()
        or (needs & needs >> 1 & END_BITS).any()
        or (ends % 2).any()
        or (keys & MATCHING_MASK >= MATCHING_COUNTS[pairs]).any()
        or (keys[1:] <= keys[:-1]).any()
        or numbers.min(initial=1) < 1
    ):
        raise InconsistentLayers("a layer has what is no state")
    return keys, numbers


def sample_by_rank(
    ranked: RankedTours,
    counts: list[int],
    numbers: Array,
    on_progress: ProgressCallback = ignore_progress,
) -> pl.DataFrame:
    """Return the tours with these numbers, one row per number; `counts`: `count_ranked_tours`.

    Open tours are numbered through all starts: those from b1 follow those from a1, and so on.
    Closed tours go from a1 towards the lower of its neighbours.
    """
    board, sweep, closed = ranked.board, ranked.ranker.sweep, ranked.closed

    load_layer, ends = partial(_load_layer, ranked), np.cumsum(counts)
    starts = np.searchsorted(ends, numbers, side="right")
    ranks = numbers - np.append(0, ends)[starts]
    squares = np.empty((len(numbers), board.squares), dtype=np.int8)
    routes = [sweep.find_route(start) for start in range(len(ends))]
    for route in sweep.routes:
        rows = np.flatnonzero(np.array([other is route for other in routes])[starts])
        if len(rows):
            with ranked.translate_layer_errors():
                squares[rows] = unrank_tours(
                    sweep, route, load_layer, ranks[rows], starts[rows], on_progress
                )
    names = np.array(board.name_squares(), "S2")
    width = 2 * board.squares
    path = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(width), len(numbers), [None, pa.py_buffer(names[squares])]
    )
    start_names = {} if closed else {"start": names[starts].astype(str)}
    return pl.DataFrame(
        {
            "board": pl.repeat(str(board), len(numbers), eager=True),
            **start_names,
            "rank": ranks,
            "path": pl.from_arrow(path.cast(pa.binary()).cast(pa.string())),
        }
    )


def sample_list(reader: Reader, table: Table, total: int, numbers: Array) -> pl.DataFrame:
    """Return the rows of a list with these row numbers, in the order of the numbers."""
    rows = reader.scan_table(table)
    order = np.argsort(numbers, kind="stable")
    ascending, frames = numbers[order], list[pl.DataFrame]()
    for begin in range(0, total, CHUNK_ROWS):
        first, last = np.searchsorted(ascending, (begin, begin + CHUNK_ROWS))
        if first < last:
            chunk = reader.collect(table, rows.slice(begin, CHUNK_ROWS))
            frames.append(chunk[ascending[first:last] - begin])
    return pl.concat(frames)[np.argsort(order)]
