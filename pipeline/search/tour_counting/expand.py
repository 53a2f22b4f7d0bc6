"""The states of a frontier (`tablebase.frontier.state`), compiled: a layer of them is taken a step
on.

Cells need not leave in the order in which they entered: the virtual square of a sweep for open
paths stays to the end.
"""

from __future__ import annotations

from typing import NamedTuple

from tablebase.frontier.bits import count_ones
from tablebase.frontier.keys import MATCHING_MASK, Array, rank_matching, relabel_cells, unpack_key
from tablebase.frontier.state import FREE, MATCHING_BITS
from tablebase.jit import compiled


class Step(NamedTuple):
    """One step of a sweep: a cell is joined to others as often as it needs, and is finished.

    It leaves the frontier, and a free one enters: the others may have its number, `cells`.
    """

    cells: int
    here: int
    others: Array
    mirror: Array
    """After the last square of a column, where the mirror brings each cell: of a state and its
    image, which can be finished in as many ways, the one with the smaller key stands for both."""
    partners: Array
    """Those of `list_all_partners`, which unpacking needs."""
    dark: int = 0
    light: int = 0
    """The cells of each colour after the step, as bits, if every edge joins two colours."""
    surplus: int = 0
    """Of all that squares without a cell need then: how much more light ones than dark ones."""
    wanted: int = -1
    """Which of the others the cell must be joined to, if to any."""


@compiled
def expand_state(key: int, step: Step, cells: Array, keys: Array, joined_cells: Array) -> int:
    """All states after a step: their keys, and which of the others the cell was joined to.

    `joined_cells` has two numbers a state, -1 for none. Partners are never joined: that would close
    a cycle, and cycles close where two halves meet. Where the first cell is used up, all edges left
    join a dark square and a light one, so that both colours must need as much. Returns how many
    states there are. `cells` are three rows of room for a number a cell.
    """
    partner, ends, moved = cells
    unpack_key(key, step.partners, partner, ends)
    here, others = step.here, step.others
    needs = key >> MATCHING_BITS | FREE << 2 * step.cells
    wanted_edges = needs >> 2 * here & 3
    count = 0
    if wanted_edges == 0:
        keys[count] = _drop_cell(needs, here) << MATCHING_BITS | key & MATCHING_MASK
        joined_cells[count] = -1
        count += 1
    for first in range(len(others) if wanted_edges else 0):
        one = others[first]
        need = needs >> 2 * one & 3
        near = here if wanted_edges == FREE else partner[here]
        far = one if need == FREE else partner[one]
        if need == 0 or near == one:
            continue
        after = needs - (1 << 2 * here) - (1 << 2 * one)
        partner[near], partner[far] = far, near
        if wanted_edges == 1:
            left = _drop_cell(after, here) << MATCHING_BITS
            keys[count] = left | rank_matching(after, partner)
            joined_cells[count, 0], joined_cells[count, 1] = first, -1
            count += 1
        for second in range(first + 1, len(others) if wanted_edges == FREE else 0):
            two = others[second]
            need = needs >> 2 * two & 3
            further = two if need == FREE else partner[two]
            if need == 0 or far == two:
                continue
            # `here` is an end of the piece that ends at `far`
            last = after - (1 << 2 * here) - (1 << 2 * two)
            partner[far], partner[further] = further, far
            left = _drop_cell(last, here) << MATCHING_BITS
            keys[count] = left | rank_matching(last, partner)
            joined_cells[count, 0], joined_cells[count, 1] = first, second
            count += 1
            partner[far], partner[further] = near, two
        partner[near], partner[far] = here, one
    kept = 0
    for at in range(count):
        key = keys[at]
        left = key >> MATCHING_BITS
        if (
            step.wanted >= 0
            and joined_cells[at, 0] != step.wanted
            and joined_cells[at, 1] != step.wanted
        ):
            continue
        if (
            left & 3 == 0
            and _sum_needs(left, step.dark) - _sum_needs(left, step.light) != step.surplus
        ):
            continue
        if len(step.mirror):
            key = min(key, relabel_cells(key, step.mirror, step.partners, partner, ends, moved))
        keys[kept] = key
        joined_cells[kept] = joined_cells[at]
        kept += 1
    return kept


@compiled
def _drop_cell(needs: int, here: int) -> int:
    """What is needed without a cell that needs nothing."""
    below = (1 << 2 * here) - 1
    return needs & below | needs >> 2 & ~below


@compiled
def _sum_needs(needs: int, cells: int) -> int:
    """How many edges some cells need in all."""
    return count_ones(needs & cells) + 2 * count_ones(needs >> 1 & cells)
