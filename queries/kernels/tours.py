"""Kernels that unrank many tours: steps back through the layers, and the squares in their order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from puzzle_tablebase.frontier.compiled import (
    END_BITS,
    MATCHING_MASK,
    MATCHING_STARTS,
    MAX_CELLS,
    count_ones,
    find_lowest,
    rank_matching,
    unpack_key,
)
from puzzle_tablebase.frontier.layers import END, FREE, MATCHING_BITS
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.puzzles.knight.tour_ranker import NO_SQUARE

Layer = tuple[Array, Array]
"""Ascending keys, and the number of partial tours or tours of each."""


class SweepCells(NamedTuple):
    """The fields of a sweep (`tour_ranker.Sweep`) that the kernels need."""

    here: int
    rows: int
    cells: int
    virtual: int
    partners: Array
    """The partners of all matchings (`list_all_partners`), for as many ends as the cut can have."""


@compiled
def add_edge(neighbours: Array, one: int, other: int) -> None:
    """Add each of two squares to the neighbours of the other."""
    for square, to in ((one, other), (other, one)):
        neighbours[square, int(neighbours[square, 0] != NO_SQUARE)] = to


@compiled
def find_square(cell: int, squares: int, sweep: SweepCells) -> int:
    """Return the square of a frontier's cell, once the sweep has finished this many squares."""
    return sweep.virtual if cell < sweep.here else cell + squares - sweep.here


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
            at = np.searchsorted(layer_keys, previous_keys[step])
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
    """List the steps of `puzzle_tablebase.frontier.layers.step_back`, and return their number.

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


MAX_EDGES = 32
"""The most edges between the cells of the cut."""


@compiled
def meet_halves(
    keys: Array, numbers: Array, neighbours: Array, cut: int, between: Array, start: int,
    sweep: SweepCells, layer_keys: Array, layer_counts: Array,
) -> bool:  # fmt: skip
    """Go from each tour's state of the longer half to that of the shorter, and add the cut's edges.

    The first edge added is that from a start in the cut to the virtual square, if there is one. The
    edges in the cut are tried depth first, in the order of the tours' numbers.
    """
    ends = np.zeros(MAX_CELLS + 1, dtype=np.int64)
    partner = np.zeros((MAX_EDGES + 1, MAX_CELLS + 1), dtype=np.int64)
    needs, next_edge, edges = np.zeros((3, MAX_EDGES + 1), dtype=np.int64)
    for tour in range(len(keys)):
        needs[0] = keys[tour] >> MATCHING_BITS
        unpack_key(keys[tour], sweep.partners, partner[0], ends)
        depth = next_edge[0] = 0
        if start != NO_SQUARE:
            needs[0] = _apply_edge(needs[0], partner[0], 0, start)
            if needs[0] < 0:
                return False
            add_edge(neighbours[tour], sweep.virtual, find_square(start, cut, sweep))
        state, rest = _find_other_half(
            needs[0], partner[0], sweep, layer_keys, layer_counts, numbers[tour]
        )
        while state < 0 and depth >= 0:
            if next_edge[depth] == len(between):
                depth -= 1
                continue
            number = next_edge[depth]
            next_edge[depth] += 1
            one, two = between[number]
            partner[depth + 1] = partner[depth]
            needs[depth + 1] = _apply_edge(needs[depth], partner[depth + 1], one, two)
            if needs[depth + 1] < 0:
                continue
            depth += 1
            next_edge[depth], edges[depth] = number + 1, number
            state, rest = _find_other_half(
                needs[depth], partner[depth], sweep, layer_keys, layer_counts, rest
            )
        if state < 0:
            return False
        keys[tour], numbers[tour] = state, rest
        for number in edges[1 : depth + 1]:
            one, two = between[number]
            add_edge(neighbours[tour], find_square(one, cut, sweep), find_square(two, cut, sweep))
    return True


@compiled
def _apply_edge(needs: int, partner: Array, one: int, two: int) -> int:
    """Return the needs after an edge is added, -1 if it is impossible; update the partners."""
    need, need_two = needs >> 2 * one & 3, needs >> 2 * two & 3
    near = one if need == FREE else partner[one]
    far = two if need_two == FREE else partner[two]
    if need == 0 or need_two == 0 or near == two:
        return -1
    partner[near], partner[far] = far, near
    return needs - (1 << 2 * one) - (1 << 2 * two)


@compiled
def _find_other_half(
    needs: int, partner: Array, sweep: SweepCells, keys: Array, counts: Array, rest: int
) -> tuple[int, int]:
    """Return the other half's state that contains a number, and the number within the state.

    The candidates are the states whose partial tours close one cycle with this half's, in ascending
    order; each covers as many numbers as partial tours lead to it. If the number is beyond all of
    them, return -1 and the number minus those that they cover.
    """
    here, half = 2 * sweep.here, 2 * sweep.rows  # bits of the virtual cell, and of a column
    cut_bits = (1 << here + 2 * half) - 1
    open_needs = FREE * (END_BITS & cut_bits) - (needs & cut_bits)
    first_column, last_column = open_needs >> here & (1 << half) - 1, open_needs >> here + half
    # the other half is swept from the far end: it has the cut's columns in the opposite order
    facing = (
        open_needs & (1 << here) - 1
        | (first_column << half | last_column | FREE << 2 * half) << here
    )
    first = facing << MATCHING_BITS
    at = np.searchsorted(keys, first)
    if at == len(keys) or keys[at] >> MATCHING_BITS != facing:
        return -1, rest
    end_of = np.empty(MAX_CELLS, dtype=np.int64)
    place = np.zeros(MAX_CELLS, dtype=np.int64)
    ends_count, end_bits = 0, facing & END_BITS
    while end_bits:
        cell = find_lowest(end_bits) // 2
        in_cut = (cell - sweep.here + sweep.rows) % half
        end_of[ends_count] = cell if cell < sweep.here else sweep.here + in_cut
        place[end_of[ends_count]] = ends_count
        ends_count += 1
        end_bits &= end_bits - 1
    begin = MATCHING_STARTS[count_ones(facing & END_BITS) // 2]
    while at < len(keys) and keys[at] >> MATCHING_BITS == facing:
        partners = sweep.partners[begin + (keys[at] & MATCHING_MASK)]
        # follow the paths of both halves from the first end: one cycle visits all ends
        end, visited = 0, 0
        while visited == 0 or end:
            end = partners >> 4 * place[partner[end_of[end]]] & 15
            visited += 2
        if visited == ends_count:
            if rest < counts[at]:
                return keys[at], rest
            rest -= counts[at]
        at += 1
    return -1, rest


@compiled
def follow_tours(
    tours: Array, neighbours: Array, starts: Array, image: Array, square: Array, paths: bool,
    virtual: int,
) -> bool:  # fmt: skip
    """Write each tour's squares in their order, by following its edges from the start.

    `image` has the sweep's square of each square of the board, and `square` is its inverse, both by
    start. False if the edges are not one tour.
    """
    for tour in range(len(tours)):
        begin = image[starts[tour], starts[tour]]
        previous, here = virtual if paths else NO_SQUARE, begin
        for at in range(len(image)):
            one, two = neighbours[tour, here]
            if one == NO_SQUARE or two == NO_SQUARE or here == virtual or (at and here == begin):
                return False
            tours[tour, at] = square[starts[tour], here]
            if previous != NO_SQUARE:
                successor = two if one == previous else one
            else:
                successor = one if square[starts[tour], one] < square[starts[tour], two] else two
            previous, here = here, successor
        if here != (virtual if paths else begin):
            return False
    return True
