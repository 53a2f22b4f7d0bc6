"""Sets of edges that can be added to states of a frontier, and what results.

Two compiled kernels serve the steps of a sweep and the meeting of its halves. They take arrays of
one type and create none, and they call nothing of numba's own library: so they compile quickly,
once. Sets of edges are words with a bit for each edge.

A step of a sweep expands the states of a layer. Cells need not leave the frontier in the order in
which they entered it: in a sweep for open paths the virtual square stays to the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from puzzle_tablebase.frontier.compiled import count_ones, find_lowest
from puzzle_tablebase.frontier.layers import FREE, MATCHING_BITS
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.recipes.tour_keys import MAX_CELLS, rank_matching, unpack_key

SETS_PER_BATCH = 1 << 15
"""Sets of edges in a batch: as many as the processor's cache holds."""

STATES_PER_BATCH = 1 << 15
"""Most states whose needs are unpacked at a time."""


class Filter(NamedTuple):
    """The sets of edges to list: which edges they must have, and which needs may be left.

    The cells of `finished` must need nothing. Once those of `undecided` need nothing, the needs of
    the dark cells must exceed those of the light ones by `surplus`. Cells are bits of needs.
    """

    wanted: int = 0
    """Edges as bits."""
    finished: int = 0
    undecided: int = -1
    dark: int = 0
    light: int = 0
    surplus: int = 0


def iter_edge_sets(
    needs: Array, edges: Array, kept: Filter
) -> Iterator[tuple[Array, Array, Array]]:
    """Iterate over the sets of edges that states with these needs can take, in bounded batches.

    A batch has for each set the number of the state, the edges as bits, and the needs after them.
    `edges` has a row of two cells for each edge. No state is divided between two batches.
    """
    edge_needs: Array = (1 << 2 * edges).sum(axis=1)
    most = 1 << len(edges)  # sets for a state
    capacity = min(most * len(needs), SETS_PER_BATCH + most)
    place, limits = np.zeros(1, dtype=np.int64), np.array(kept)
    while place[0] < len(needs):
        rows, bits, left = np.empty((3, capacity), dtype=np.int64)
        count = _list_edge_sets(needs, edge_needs, limits, most, place, rows, bits, left)
        yield rows[:count], bits[:count], left[:count]


@compiled
def _list_edge_sets(
    needs: Array, edge_needs: Array, limits: Array, most: int, place: Array,
    rows: Array, bits: Array, left: Array,
) -> int:  # fmt: skip
    """List sets of edges depth first, from state number `place` on, and return how many.

    `place` gets the first state that has no room. Edges are chosen from the last to the first, so
    that the one chosen last is the lowest bit.
    """
    wanted, finished, undecided = limits[0], limits[1], limits[2]
    dark, light, surplus = limits[3], limits[4], limits[5]
    count, row = 0, place[0]
    while row < len(needs) and count + most <= len(rows):
        remaining, chosen, edge = needs[row], 0, len(edge_needs)
        is_new = True
        while True:
            if is_new and remaining & finished == 0 and chosen & wanted == wanted:
                balance = 0
                if remaining & undecided == 0:
                    balance = count_ones(remaining & dark) + 2 * count_ones(remaining >> 1 & dark)
                    balance -= count_ones(remaining & light)
                    balance -= 2 * count_ones(remaining >> 1 & light) + surplus
                if balance == 0:
                    rows[count], bits[count], left[count] = row, chosen, remaining
                    count += 1
            is_new = False
            if edge > 0:
                edge -= 1
                if (remaining | remaining >> 1) & edge_needs[edge] == edge_needs[edge]:
                    remaining -= edge_needs[edge]
                    chosen |= 1 << edge
                    is_new = True
            elif chosen:
                edge = find_lowest(chosen)
                remaining += edge_needs[edge]
                chosen &= chosen - 1
            else:
                break
        row += 1
    place[0] = row
    return count


def rank_edge_sets(
    keys: Array, bits: Array, needs: Array, edges: Array, places: Array, partners: Array
) -> Array:
    """Return the rank of each state's matching after a set of edges, -1 if they close a cycle.

    The cells are renumbered by `places`; `needs` are those after the edges, in the new numbers.
    Equal keys should follow each other.
    """
    ranks = np.empty_like(keys)
    firsts, seconds = np.ascontiguousarray(edges.T)
    ends, unpacked, partner, moved = np.zeros((4, MAX_CELLS + 2), dtype=np.int64)
    _rank_edge_sets(
        keys, bits, needs, firsts, seconds, places, partners, ends, unpacked, partner, moved, ranks
    )
    return ranks


@compiled
def _rank_edge_sets(
    keys: Array, bits: Array, needs: Array, firsts: Array, seconds: Array, places: Array,
    partners: Array, ends: Array, unpacked: Array, partner: Array, moved: Array, ranks: Array,
) -> None:  # fmt: skip
    """Compute `rank_edge_sets`; a cell that is no end of a path is its own partner."""
    previous = -1
    for row in range(len(keys)):
        if keys[row] != previous:
            previous = keys[row]
            for cell in range(len(places)):
                unpacked[cell] = cell
            unpack_key(previous, partners, unpacked, ends)
        for cell in range(len(places)):
            partner[cell] = unpacked[cell]
        edges_left, has_cycle = bits[row], False
        while edges_left:
            edge = find_lowest(edges_left)
            edges_left &= edges_left - 1
            near, far = partner[firsts[edge]], partner[seconds[edge]]
            has_cycle |= near == seconds[edge]
            partner[near] = far
            partner[far] = near
        for cell in range(len(places)):
            moved[places[cell]] = places[partner[cell]]
        ranks[row] = -1 if has_cycle else rank_matching(needs[row], moved)


def relabel_needs(needs: Array, places: Array) -> Array:
    """Return the needs after each cell has moved to place `places[cell]`."""
    moved = np.zeros_like(needs)
    for cell, place in enumerate(places.tolist()):
        moved |= (needs >> 2 * cell & 3) << 2 * place
    return moved


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


def iter_successors(keys: Array, step: Step) -> Iterator[tuple[Array, Array, Array]]:
    """Iterate over the successors of states, in bounded batches, state by state.

    A batch has for each the number of the state that it follows, a bit for each of `Step.others`
    that the finished cell was joined to, and its key.

    Partners are never joined: that would close a cycle, and cycles close only where the two halves
    meet. Once the first cell needs nothing, all further edges join a dark square and a light one,
    so that both colours must need equally many; other states are left out.
    """
    edges = np.column_stack((np.full_like(step.others, step.cell), step.others))
    # the colours have the cells' numbers after the step
    first, dark, light = (_insert_cell(cells, step.cell) for cells in (3, step.dark, step.light))
    wanted = 1 << step.wanted if step.wanted >= 0 else 0
    kept = Filter(wanted, 3 << 2 * step.cell, first, dark, light, step.surplus)
    for start in range(0, len(keys), STATES_PER_BATCH):
        batch = keys[start : start + STATES_PER_BATCH]
        needs = batch >> MATCHING_BITS | FREE << 2 * step.cells
        for rows, joined, left in iter_edge_sets(needs, edges, kept):
            next_keys = _make_keys(batch[rows], joined, left, edges, step)
            is_legal = next_keys >= 0
            yield start + rows[is_legal], joined[is_legal], next_keys[is_legal]


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
