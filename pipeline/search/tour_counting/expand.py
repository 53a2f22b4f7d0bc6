"""Expansion of frontier states (`tablebase.frontier.state`): one step of a sweep.

Cells need not leave the frontier in the order in which they entered it: in a sweep for open paths
the virtual square stays to the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pipeline.search.tour_counting.edge_sets import (
    SETS_PER_BATCH,
    Filter,
    iter_edge_sets,
    rank_edge_sets,
    relabel_needs,
)
from tablebase.frontier.compiled import Array
from tablebase.frontier.state import FREE, MATCHING_BITS

STATES_PER_BATCH = 1 << 15
"""Most states whose needs are unpacked at a time."""


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


class Successors(NamedTuple):
    """The states that follow some others, each with the number of the state that it follows.

    `joined` has a bit for each of `Step.others` that the finished cell was joined to.
    """

    rows: Array
    joined: Array
    keys: Array


def iter_successors(
    keys: Array,
    step: Step,
    batch_states: int = STATES_PER_BATCH,
    batch_sets: int = SETS_PER_BATCH,
) -> Iterator[Successors]:
    """Iterate over the successors of states, in bounded batches, state by state.

    Partners are never joined: that would close a cycle, and cycles close only where the two halves
    meet. Once the first cell needs nothing, all further edges join a dark square and a light one,
    so that both colours must need equally many; other states are left out.
    """
    edges = np.column_stack((np.full_like(step.others, step.cell), step.others))
    # the colours have the cells' numbers after the step
    first, dark, light = (_insert_cell(cells, step.cell) for cells in (3, step.dark, step.light))
    wanted = 1 << step.wanted if step.wanted >= 0 else 0
    kept = Filter(wanted, 3 << 2 * step.cell, first, dark, light, step.surplus)
    for start in range(0, len(keys), batch_states):
        batch = keys[start : start + batch_states]
        needs = batch >> MATCHING_BITS | FREE << 2 * step.cells
        for rows, joined, left in iter_edge_sets(needs, edges, kept, batch_sets):
            next_keys = _make_keys(batch[rows], joined, left, edges, step)
            is_legal = next_keys >= 0
            yield Successors(start + rows[is_legal], joined[is_legal], next_keys[is_legal])


def _make_keys(keys: Array, joined: Array, left: Array, edges: Array, step: Step) -> Array:
    """Return the key of each successor, -1 for a closed cycle.

    `left` has the needs after the edges, in the cells' numbers before the step.
    """
    numbers = np.arange(step.cells + 1)
    places = numbers - (numbers > step.cell)
    places[step.cell] = step.cells  # the finished cell: no end of a path
    needs = left & (1 << 2 * step.cell) - 1 | left >> 2 & -1 << 2 * step.cell
    if not len(step.mirror):
        ranks = rank_edge_sets(keys, joined, needs, edges, places, step.partners)
        return np.where(ranks < 0, -1, needs << MATCHING_BITS | ranks)
    image_needs = relabel_needs(needs, step.mirror)
    image_places = np.append(step.mirror, step.cells)[places]
    result = np.full_like(keys, np.iinfo(np.int64).max)
    for to_needs, to_places, is_chosen in (
        (needs, places, needs <= image_needs),
        (image_needs, image_places, image_needs <= needs),
    ):
        at = np.flatnonzero(is_chosen)
        ranks = rank_edge_sets(keys[at], joined[at], to_needs[at], edges, to_places, step.partners)
        image_keys = np.where(ranks < 0, -1, to_needs[at] << MATCHING_BITS | ranks)
        result[at] = np.minimum(result[at], image_keys)
    return result


def _insert_cell(needs: int, cell: int) -> int:
    """Return packed needs with a cell inserted that needs nothing."""
    below = (1 << 2 * cell) - 1
    return needs & below | (needs & ~below) << 2
