"""Kernels that take many tours one step back, each to its state in the previous layer."""

from __future__ import annotations

import numpy as np

from queries.kernels.tour_cells import SweepCells, add_edge, find_key, find_square
from tablebase.frontier.compiled import MAX_CELLS, Array, rank_matching, unpack_key
from tablebase.frontier.state import END, FREE, MATCHING_BITS
from tablebase.jit import compiled
from tablebase.puzzles.knight.tour_ranker import NO_SQUARE

MAX_STEPS = 512
"""The most steps that may have led to a state: two of five cells joined in either order to nine
pairs."""


@compiled
def go_back(
    keys: Array, numbers: Array, neighbours: Array, square: int, others: Array, is_start: bool,
    sweep: SweepCells, layer_keys: Array, layer_counts: Array, square_map: Array,
) -> bool:  # fmt: skip
    """Go back to each tour's state in the previous layer, and add the edges of the step between.

    `keys` and `numbers` are changed to that state and the number of the partial tour that leads to
    it, among those of the state. At a start, the step is one with an edge to the virtual square.
    `square_map` has the squares of the half as the sweep of the longer half calls them.
    """
    previous_keys = np.empty(MAX_STEPS, dtype=np.int64)
    joined_cells = np.empty((MAX_STEPS, 2), dtype=np.int64)
    scratch = np.zeros((3, MAX_CELLS + 1), dtype=np.int64)
    for tour in range(len(keys)):
        steps = step_back_kernel(keys[tour], others, sweep, scratch, previous_keys, joined_cells)
        chosen_step = -1
        for step in range(steps):
            if is_start and joined_cells[step, 0] != 0 and joined_cells[step, 1] != 0:
                continue
            at = find_key(previous_keys[step], layer_keys)
            if at < len(layer_keys) and layer_keys[at] == previous_keys[step]:
                if numbers[tour] < layer_counts[at]:
                    chosen_step = step
                    break
                numbers[tour] -= layer_counts[at]
        if chosen_step < 0:
            return False
        keys[tour] = previous_keys[chosen_step]
        for other in joined_cells[chosen_step]:
            if other != NO_SQUARE:
                add_edge(
                    neighbours[tour],
                    square_map[square],
                    square_map[find_square(other, square, sweep)],
                )
    return True


@compiled
def step_back_kernel(
    key: int, others: Array, sweep: SweepCells, scratch: Array, keys: Array, joined_cells: Array
) -> int:
    """List the steps of `tablebase.frontier.state.step_back`, and return their number.

    `keys` gets the keys, and `joined_cells` the two joined cells of each, `NO_SQUARE` for none.
    `scratch` is memory for three rows of cells.
    """
    unpacked, ends, partner = scratch
    here, cells = sweep.here, sweep.cells
    ends_count = unpack_key(key, sweep.partners, unpacked, ends)
    for at in range(ends_count):
        far = unpacked[ends[at]]
        ends[at] += ends[at] >= here
        partner[ends[at]] = far + (far >= here)
    needs, lower = key >> MATCHING_BITS, (1 << 2 * here) - 1
    needs = (needs & ~lower) << 2 | needs & lower
    count = _add_state(needs, partner, cells, NO_SQUARE, NO_SQUARE, 0, keys, joined_cells)
    for one in others:
        need = needs >> 2 * one & 3
        if need == END:
            far = partner[one]
            partner[here], partner[far] = far, here
            earlier = needs + (END << 2 * here) + (1 << 2 * one)
            count = _add_state(earlier, partner, cells, one, NO_SQUARE, count, keys, joined_cells)
            partner[far] = one
        elif need == 0:
            earlier = needs + (END << 2 * here) + (END << 2 * one)
            count = _split_paths(
                earlier,
                partner,
                ends[:ends_count],
                cells,
                here,
                one,
                one,
                NO_SQUARE,
                count,
                keys,
                joined_cells,
            )
    for place in range(len(others)):
        one = others[place]
        for two in others[place + 1 :]:
            need, need_two = needs >> 2 * one & 3, needs >> 2 * two & 3
            earlier = needs + (FREE << 2 * here) + (1 << 2 * one) + (1 << 2 * two)
            if need == END and need_two == END:
                if partner[one] == two:
                    count = _add_state(earlier, partner, cells, one, two, count, keys, joined_cells)
            elif need == 0 and need_two == 0:
                count = _split_paths(
                    earlier,
                    partner,
                    ends[:ends_count],
                    cells,
                    one,
                    two,
                    one,
                    two,
                    count,
                    keys,
                    joined_cells,
                )
            elif need + need_two == END:
                end, inner = (one, two) if need == END else (two, one)
                far = partner[end]
                partner[inner], partner[far] = far, inner
                count = _add_state(earlier, partner, cells, one, two, count, keys, joined_cells)
                partner[far] = end
    return count


@compiled
def _split_paths(
    needs: int, partner: Array, ends: Array, cells: int, near: int, far: int, one: int, two: int,
    count: int, keys: Array, joined_cells: Array,
) -> int:  # fmt: skip
    """Add a state for each path and direction, with the path split in two.

    The two paths end at `near` and at `far`; `ends` are the ends of the paths to split.
    """
    for end in ends:
        low, high = end, partner[end]
        if low < high:
            for first, second in ((low, high), (high, low)):
                partner[near], partner[first] = first, near
                partner[far], partner[second] = second, far
                count = _add_state(needs, partner, cells, one, two, count, keys, joined_cells)
            partner[low], partner[high] = high, low
    return count


@compiled
def _add_state(
    needs: int,
    partner: Array,
    cells: int,
    one: int,
    two: int,
    count: int,
    keys: Array,
    joined_cells: Array,
) -> int:
    if needs >> 2 * cells & 3 != FREE:  # the last cell enters with this step
        return count
    state_needs = needs & ((1 << 2 * cells) - 1)
    keys[count] = state_needs << MATCHING_BITS | rank_matching(state_needs, partner)
    joined_cells[count, 0], joined_cells[count, 1] = one, two
    return count + 1
