"""Compiled expansion of frontier states (`tablebase.frontier.state`): one step of a sweep.

Cells need not leave the frontier in the order in which they entered it: in a sweep for open paths
the virtual square stays to the end.
"""

from __future__ import annotations

from typing import NamedTuple

from tablebase.frontier.bits import count_ones
from tablebase.frontier.keys import MATCHING_MASK, Array, rank_matching, relabel_cells, unpack_key
from tablebase.frontier.state import FREE, MATCHING_BITS
from tablebase.jit import compiled


class Step(NamedTuple):
    """One step of a sweep: `cell` gets all the edges that it needs, and is finished.

    It leaves the frontier, and a free cell enters, with the number `cells`; `others`, the cells to
    which `cell` may be joined, may contain that number.
    """

    cells: int
    cell: int
    others: Array
    mirror: Array
    """After the last square of a column, the mirror image of each cell; else empty. A state and its
    image can be completed in equally many ways: the one with the smaller key represents both."""
    partners: Array
    """The result of `list_all_partners`, which unpacking a key needs."""
    dark: int = 0
    light: int = 0
    """The cells of each colour after the step, as bits, if every edge joins two colours."""
    surplus: int = 0
    """Among squares that have no cell yet: the needs of the light ones minus those of the dark."""
    wanted: int = -1
    """The position in `others` of a cell that must be joined to `cell`, or -1."""


@compiled
def expand_state(key: int, step: Step, cells: Array, keys: Array, joined_cells: Array) -> int:
    """Expand a state: write its successors' keys and joined cells, and return how many there are.

    `joined_cells` gets for each successor two positions in `step.others`, -1 for none. Partners are
    never joined: that would close a cycle, and cycles close only where the two halves meet. Once
    the first cell needs nothing, all further edges join a dark square and a light one, so that both
    colours must need equally many; other states are left out. `cells` is scratch space: three rows
    with a number for each cell.
    """
    partner, ends, moved = cells
    unpack_key(key, step.partners, partner, ends)
    cell, others = step.cell, step.others
    needs = key >> MATCHING_BITS | FREE << 2 * step.cells
    wanted_edges = needs >> 2 * cell & 3
    count = 0
    if wanted_edges == 0:
        keys[count] = _drop_cell(needs, cell) << MATCHING_BITS | key & MATCHING_MASK
        joined_cells[count] = -1
        count += 1
    for first in range(len(others) if wanted_edges else 0):
        one = others[first]
        need = needs >> 2 * one & 3
        cell_end = cell if wanted_edges == FREE else partner[cell]
        one_end = one if need == FREE else partner[one]
        if need == 0 or cell_end == one:
            continue
        needs_after = needs - (1 << 2 * cell) - (1 << 2 * one)
        partner[cell_end], partner[one_end] = one_end, cell_end
        if wanted_edges == 1:
            packed_needs = _drop_cell(needs_after, cell) << MATCHING_BITS
            keys[count] = packed_needs | rank_matching(needs_after, partner)
            joined_cells[count, 0], joined_cells[count, 1] = first, -1
            count += 1
        for second in range(first + 1, len(others) if wanted_edges == FREE else 0):
            two = others[second]
            need = needs >> 2 * two & 3
            two_end = two if need == FREE else partner[two]
            if need == 0 or one_end == two:
                continue
            # after the first edge, `cell` is an end of the path whose other end is `one_end`
            needs_after_two = needs_after - (1 << 2 * cell) - (1 << 2 * two)
            partner[one_end], partner[two_end] = two_end, one_end
            packed_needs = _drop_cell(needs_after_two, cell) << MATCHING_BITS
            keys[count] = packed_needs | rank_matching(needs_after_two, partner)
            joined_cells[count, 0], joined_cells[count, 1] = first, second
            count += 1
            partner[one_end], partner[two_end] = cell_end, two
        partner[cell_end], partner[one_end] = cell, one
    valid_count = 0
    for index in range(count):
        key = keys[index]
        key_needs = key >> MATCHING_BITS
        if (
            step.wanted >= 0
            and joined_cells[index, 0] != step.wanted
            and joined_cells[index, 1] != step.wanted
        ):
            continue
        if (
            key_needs & 3 == 0
            and _sum_needs(key_needs, step.dark) - _sum_needs(key_needs, step.light) != step.surplus
        ):
            continue
        if len(step.mirror):
            key = min(key, relabel_cells(key, step.mirror, step.partners, partner, ends, moved))
        keys[valid_count] = key
        joined_cells[valid_count] = joined_cells[index]
        valid_count += 1
    return valid_count


@compiled
def _drop_cell(needs: int, cell: int) -> int:
    """Remove a cell that needs nothing from the packed needs."""
    below = (1 << 2 * cell) - 1
    return needs & below | needs >> 2 & ~below


@compiled
def _sum_needs(needs: int, cells: int) -> int:
    """Return the number of edges that the given cells need in all."""
    return count_ones(needs & cells) + 2 * count_ones(needs >> 1 & cells)
