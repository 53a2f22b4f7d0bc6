"""Joins: what an edge between two cells makes of the matchings of a frontier's ends, as tables.

States with the same needs are a *group*. An edge leads all states of a group to one other group,
and what becomes of a matching depends on little: on how many pairs there are, which of the two
cells are ends, and how many ends stand before each. So there is a table of all matchings for each
of these cases, and adding an edge to a group's states is one look-up for each. Large tables are
computed for the cells only that a step finishes; otherwise a matching is unpacked, joined and
ranked again.

The kernels take arrays and create none, and call nothing of numba's own library: so they compile
quickly. Sets of edges are words with a bit for each edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from puzzle_tablebase.intrinsics import count_ones, count_trailing_zeros
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.tour_frontier.keys import (
    END_BITS,
    MATCHING_COUNTS,
    MAX_CELLS,
    MAX_PAIRS,
    list_all_mates,
    rank_matching,
    unpack_key,
)
from puzzle_tablebase.tour_frontier.states import END, FREE, MATCHING_BITS

MAX_TABLE_PAIRS = 6
"""Most pairs of a matching in tables for all cells."""
STEP_CELLS = 2
"""The ends before the cell that a step finishes are fewer."""
CYCLE = -1
"""Stands for a matching's rank if the edge closes a cycle."""
EDGES = 16
"""Most edges of a set."""


class Joins(NamedTuple):
    """The tables of joins, and data for unpacking matchings."""

    begins: Array
    """Where a table begins, or -1: by case, pairs, and the ends before each of the two cells. The
    case is two bits: whether the first cell is free, and whether the second is."""
    tables: Array
    mates: Array
    """The result of `list_all_mates`."""


class Moves(NamedTuple):
    """Where the cells of a cut move, in some views, with tables of what becomes of matchings.

    A view keeps each column together, in order or reversed: so a matching's new rank depends only
    on how many ends each column has, and whether the virtual square is an end.
    """

    new_cells: Array
    """For each view, where each cell moves."""
    blocks: Array
    """The ends of the virtual square, and of the two columns, as bits of needs."""
    begins: Array
    """Where a table begins, or -1: by view, and the number of ends of each block."""
    tables: Array


class Groups(NamedTuple):
    """States in groups of the same needs, ascending; and in each group matchings, ascending."""

    needs: Array
    begins: Array
    """Where each group begins, and the number of all states."""
    matchings: Array


class EdgeSets(NamedTuple):
    """Sets of edges with at most two at each cell."""

    firsts: Array
    """The two cells of each edge."""
    seconds: Array
    bits: Array
    """The edges of each set."""
    sums: Array
    """The edges that each set gives to the cells, two bits for a cell."""


def make_edge_sets(
    edges: Sequence[tuple[int, int]], *, most: int = EDGES, wanted: int = 0
) -> EdgeSets:
    """List the sets of up to `most` edges; `wanted`: those that all sets must have, as bits."""
    sets = [(0, 0)]
    for number, (one, other) in enumerate(edges):
        sets += [
            (bits | 1 << number, total + (END << 2 * one) + (END << 2 * other))
            for bits, total in sets
            if not (total >> 2 * one | total >> 2 * other) & FREE and bits.bit_count() < most
        ]
    kept = [each for each in sets if each[0] & wanted == wanted]
    firsts, seconds = np.array(edges, dtype=np.int64).reshape(-1, 2).T.copy()
    bits, sums = np.array(kept, dtype=np.int64).reshape(-1, 2).T.copy()
    return EdgeSets(firsts, seconds, bits, sums)


def count_table_pairs(cells: int) -> int:
    """Return the most pairs in tables for all cells; those for a step's cells have one more.

    Small frontiers have few states, and need no large tables.
    """
    return min(MAX_TABLE_PAIRS, (cells - 3) // 2)


@cache
def make_joins(cells: int) -> Joins:
    """Make the tables for frontiers of so many cells."""
    begins = np.full((4, MAX_PAIRS + 1, 2 * MAX_PAIRS + 1, 2 * MAX_PAIRS + 1), -1, dtype=np.int64)
    most = count_table_pairs(cells)
    mates = list_all_mates(min(cells + 1, 2 * MAX_PAIRS))
    work = np.zeros((2, MAX_CELLS + 2), dtype=np.int64)
    tables, size = [np.empty(0, dtype=np.int32)], 0
    for pairs in range(min((cells + 1) // 2, most + 1) + 1):
        firsts = 2 * pairs + 1 if pairs <= most else STEP_CELLS
        for case, first, second in product(range(4), range(firsts), range(2 * pairs + 1)):
            if not (found := _lay_out(case, 2 * pairs, first, second)):
                continue
            needs, one, other = found
            table = np.empty(MATCHING_COUNTS[pairs], dtype=np.int32)
            _fill_table(needs, one, other, mates, work, table)
            begins[case, pairs, first, second] = size
            tables.append(table)
            size += len(table)
    return Joins(begins, np.concatenate(tables), mates)


def _lay_out(case: int, ends: int, first: int, second: int) -> tuple[int, int, int] | None:
    """Return the needs of a row of ends with the two cells, and where these are; None if they
    cannot be there.

    So many ends stand before each of the cells. Where both are free, the order makes no difference.
    """
    is_free = case >> 1, case & 1
    if any(at + 1 > ends + free for at, free in zip((first, second), is_free, strict=True)):
        return None
    if case == 0 and first == second:
        return None
    # ends have odd positions, and a free cell has an even one
    free_cells = [(2 * at, FREE) for at, free in zip((first, second), is_free, strict=True) if free]
    row = sorted([(2 * at + 1, END) for at in range(ends)] + free_cells)
    positions = [position for position, _ in row]
    one, other = (
        positions.index(2 * first + 1 - is_free[0]),
        positions.index(2 * second + 1 - is_free[1]),
    )
    other += one == other  # two free cells side by side
    return sum(need << 2 * cell for cell, (_, need) in enumerate(row)), one, other


@compiled
def _fill_table(needs: int, one: int, other: int, mates: Array, work: Array, table: Array) -> None:
    for matching in range(len(table)):
        table[matching] = join(needs, matching, one, other, mates, work)


@compiled
def join(needs: int, matching: int, one: int, other: int, mates: Array, work: Array) -> int:
    """Return the rank of a matching after an edge between two cells, CYCLE if it closes one."""
    mate, ends = work[0], work[1]
    mate[one], mate[other] = one, other
    unpack_key(needs << MATCHING_BITS | matching, mates, mate, ends)
    near, far = mate[one], mate[other]
    if near == other:
        return CYCLE
    mate[near], mate[far] = far, near
    return rank_matching(needs - (END << 2 * one) - (END << 2 * other), mate)


@cache
def make_moves(views: tuple[tuple[int, ...], ...], here: int) -> Moves:
    """Make the tables of some views of a cut, whose first column begins with the cell `here`."""
    cells = len(views[0]) if views else 0
    rows = max((cells - here - 1) // 2, 0)
    columns = (range(here), range(here, here + rows), range(here + rows, here + 2 * rows))
    blocks = np.array([sum(END << 2 * cell for cell in column) for column in columns])
    begins = np.full((len(views), 2, rows + 1, rows + 1), -1, dtype=np.int64)
    tables, size = [np.empty(0, dtype=np.int32)], 0
    new_cells = np.array(views, dtype=np.int64).reshape(len(views), cells)
    work = np.zeros((3, MAX_CELLS + 2), dtype=np.int64)
    mates = list_all_mates(min(cells + 1, 2 * MAX_PAIRS))
    for view, *counts in product(range(len(views)), range(here + 1), *[range(rows + 1)] * 2):
        pairs, odd = divmod(sum(counts), 2)
        if odd or pairs > count_table_pairs(cells) + 1:
            continue
        ends = [
            cell for column, count in zip(columns, counts, strict=True) for cell in column[:count]
        ]
        needs, moved = (
            sum(END << 2 * at[cell] for cell in ends) for at in (range(cells), views[view])
        )
        table = np.empty(MATCHING_COUNTS[pairs], dtype=np.int32)
        _fill_moves(needs, new_cells[view], moved, mates, work, table)
        begins[view, *counts] = size
        tables.append(table)
        size += len(table)
    return Moves(new_cells, blocks, begins, np.concatenate(tables))


@compiled
def _fill_moves(
    needs: int, new_cells: Array, moved_needs: int, mates: Array, work: Array, table: Array
) -> None:
    for matching in range(len(table)):
        table[matching] = move(needs, matching, new_cells, moved_needs, mates, work)


@compiled
def move(
    needs: int, matching: int, new_cells: Array, moved_needs: int, mates: Array, work: Array
) -> int:
    """Return the rank of a matching after each cell has moved to cell `new_cells[cell]`."""
    mate, ends, moved = work[0], work[1], work[2]
    count = unpack_key(needs << MATCHING_BITS | matching, mates, mate, ends)
    for number in range(count):
        moved[new_cells[ends[number]]] = new_cells[mate[ends[number]]]
    return rank_matching(moved_needs, moved)


@compiled
def find_moves(needs: int, view: int, moves: Moves) -> int:
    """Return where the table of a view begins for these needs, -1 if there is none."""
    ends, blocks = needs & END_BITS, moves.blocks
    if ends & ~(blocks[0] | blocks[1] | blocks[2]):
        return -1
    counts = (
        count_ones(ends & blocks[0]),
        count_ones(ends & blocks[1]),
        count_ones(ends & blocks[2]),
    )
    return int(moves.begins[view, counts[0], counts[1], counts[2]])


@compiled
def find_group(needs: Array, wanted: int) -> int:
    """Return the number of the group with these needs, -1 if there is none."""
    low, high = 0, len(needs)
    while low < high:
        middle = (low + high) >> 1
        if needs[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(needs) and needs[low] == wanted else -1


@compiled
def find_source(wanted: int, total: int, needs: Array) -> int:
    """Return the number of the group whose states have the wanted needs after edges, else -1.

    `total`: the edges that these give to the cells. No cell needs more than two.
    """
    low, high = wanted & END_BITS, wanted >> 1 & END_BITS
    if high & (total | total >> 1) or low & total >> 1:
        return -1
    return find_group(needs, wanted + total)


@compiled
def list_tables(needs: int, bits: int, sets: EdgeSets, joins: Joins, tables: Array) -> int:
    """Set where the table of each edge of a set begins, and return how many edges there are.

    For an edge without a table, it is -1. The other rows have the edge's cells, and the needs.
    """
    count = 0
    while bits:
        edge = count_trailing_zeros(bits)
        bits &= bits - 1
        one, other = sets.firsts[edge], sets.seconds[edge]
        ends = needs & END_BITS
        first = count_ones(ends & (1 << 2 * one) - 1)
        second = count_ones(ends & (1 << 2 * other) - 1)
        case = 2 * (1 & ~(needs >> 2 * one)) + (1 & ~(needs >> 2 * other))
        tables[0, count] = joins.begins[case, count_ones(ends) // 2, first, second]
        tables[1, count], tables[2, count], tables[3, count] = one, other, needs
        needs -= (END << 2 * one) + (END << 2 * other)
        count += 1
    return count


@compiled
def join_slowly(matching: int, at: int, tables: Array, mates: Array, work: Array) -> int:
    """Return the rank of a matching after an edge that has no table, CYCLE if it closes one."""
    return join(tables[3, at], matching, tables[1, at], tables[2, at], mates, work)


@compiled
def gather(
    wanted: int, groups: Groups, numbers: Array, sets: EdgeSets, joins: Joins, work: Array,
    tables: Array, values: Array,
) -> None:  # fmt: skip
    """Add the numbers of the states that have the wanted needs after a set of edges to `values`.

    These are by the matching after the edges.
    """
    for number in range(len(sets.bits)):
        group = find_source(wanted, sets.sums[number], groups.needs)
        if group < 0:
            continue
        count = list_tables(groups.needs[group], sets.bits[number], sets, joins, tables)
        # written out here and in the sweeps: a call for each state took half of their time, and a
        # function that is compiled into its callers 15 to 40 % more, however it gets the tables
        for state in range(groups.begins[group], groups.begins[group + 1]):
            matching, at = groups.matchings[state], 0
            while at < count and matching >= 0:
                table = tables[0, at]
                if table >= 0:
                    matching = joins.tables[table + matching]
                else:
                    matching = join_slowly(matching, at, tables, joins.mates, work)
                at += 1
            if matching >= 0:
                values[matching] += numbers[state]
