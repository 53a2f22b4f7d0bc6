"""Tours unranked many at once, as `tour_ranker` unranks one.

All tours of a route go through the layers together, from the last one back, so that only one layer
at a time is in memory. For each tour there are a state and the number of a partial tour that leads
to it, twice: for the longer half of the board and for the shorter one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from queries.kernels.tour_cells import Layer, SweepCells
from queries.kernels.tour_meeting import meet_halves
from queries.kernels.tour_squares import follow_tours
from queries.kernels.tour_steps import go_back
from tablebase.frontier.compiled import (
    END_BITS,
    MATCHING_COUNTS,
    MATCHING_MASK,
    MAX_PAIRS,
    Array,
    list_all_partners,
)
from tablebase.frontier.layer_reader import MAX_SUM, InconsistentLayers
from tablebase.frontier.state import MATCHING_BITS
from tablebase.puzzles.knight.tour_ranker import NO_SQUARE, Route, Sweep
from tablebase.resources import count_cores


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


def validate_layer(states: Layer, cells: int) -> Layer:
    """Return a layer unchanged; InconsistentLayers if a key is no state, or comes twice."""
    keys, numbers = states
    needs = keys >> MATCHING_BITS
    ends = np.bitwise_count(needs & END_BITS)
    pairs = np.minimum(ends // 2, MAX_PAIRS)
    if (
        (needs >> 2 * cells).any()
        or (needs & needs >> 1 & END_BITS).any()
        or (ends % 2).any()
        or (keys & MATCHING_MASK >= MATCHING_COUNTS[pairs]).any()
        or (keys[1:] <= keys[:-1]).any()
        or numbers.min(initial=1) < 1
    ):
        raise InconsistentLayers("a layer has what is no state")
    return states


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
