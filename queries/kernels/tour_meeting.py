"""A kernel that takes many tours from the longer half of the board to the shorter one."""

from __future__ import annotations

import numpy as np

from queries.kernels.tour_cells import SweepCells, add_edge, find_key, find_square
from tablebase.frontier.compiled import (
    END_BITS,
    MATCHING_MASK,
    MATCHING_STARTS,
    MAX_CELLS,
    Array,
    count_ones,
    find_lowest,
    unpack_key,
)
from tablebase.frontier.state import FREE, MATCHING_BITS
from tablebase.jit import compiled
from tablebase.puzzles.knight.tour_ranker import NO_SQUARE

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
    at = find_key(first, keys)
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
