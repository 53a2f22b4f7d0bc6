"""Recipe of a list of every tour of a board, in ascending order.

There is one task for each prefix: the first squares of a tour. A task finds all paths of a two-
coloured graph depth first. Nodes are numbered from 0 to at most 62; a set of nodes is 64 bits. At
each node v the search looks at v's free neighbours x and at their own free neighbours. If x has
none, it is a dead end, unless it is the last free node. If x has one, it must be the next node or
the end of the path: call it *forced*. While the end is unknown, the branch is dropped if three
neighbours are forced. If two are, one is next and the other is the end. If only one is, it is next
or the end. Once the end is known, the branch is dropped if two other neighbours are forced, and a
single one must be next. A forced neighbour that does not have the end's colour must be next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.formats.encoder import Part, Parts, TableData
from puzzle_tablebase.intrinsics import count_trailing_zeros
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.checkpoints import Arrays

PREFIX_SQUARES = 3
"""Squares of a prefix: the tours of a task then take less than 50 MB."""
OPEN = -1


def make(table: Table, tasks: Tasks) -> TableData:
    """Return the rows of a board's tours, in ascending order; there is no index."""
    board = parse_board(table.recipe.parameters["board"])
    return TableData(_iter_parts(board, tasks))


def _iter_parts(board: KnightBoard, tasks: Tasks) -> Parts:
    prefixes = list_prefixes(board, min(board.squares, PREFIX_SQUARES))
    tours, first, start = 0, 0, -1
    tasks.report("0 tours found, prefixes", 0, len(prefixes))
    results = tasks.run(
        list_tours_from, ((board.files, board.ranks, *prefix) for prefix in prefixes)
    )
    for done, (prefix, arrays) in enumerate(zip(prefixes, results, strict=True), 1):
        if prefix[0] != start:
            start, first = prefix[0], tours
        for text, finish, closed in zip(arrays[::3], arrays[1::3], arrays[2::3], strict=True):
            yield Part(make_tour_columns(board, start, tours - first, finish, closed, text))
            tours += len(finish)
        tasks.report(f"{tours:,} tours found, prefixes", done, len(prefixes))


def list_tours_from(files: int, ranks: int, *prefix: int) -> Arrays:
    """Find all tours with a prefix: for each chunk the texts, the ends, and whether they close."""
    board = KnightBoard(files, ranks)
    names = np.array([list(name.encode()) for name in board.name_squares()], np.uint8)
    chunks = iter_paths(*make_search_board(board), names, *prefix)
    return [array for chunk in chunks for array in chunk]


def list_prefixes(board: KnightBoard, length: int) -> list[tuple[int, ...]]:
    """Return all paths of `length` squares that begin where a tour can begin, ascending."""
    paths: list[tuple[int, ...]] = [(square,) for square in board.list_ends()]
    for _ in range(length - 1):
        paths = [
            (*path, square)
            for path in paths
            for square in board.list_neighbours(path[-1])
            if square not in path
        ]
    return paths


def make_tour_columns(
    board: KnightBoard, start: int, first: int, finish: Array, closed: Array, paths: Array
) -> dict[str, Array]:
    """Return the columns of tours from one start, numbered from `first`.

    `paths` has one row of letters for each tour.
    """
    enum_codes = np.array(board.list_enum_codes(), dtype=np.uint8)
    return {
        "board": np.full(len(finish), str(board).encode()),
        "start": np.full(len(finish), enum_codes[start]),
        "finish": enum_codes[finish],
        "number": np.arange(first, first + len(finish)),
        "closed": closed,
        "path": paths.view(f"S{2 * board.squares}").ravel(),
    }


# ---- search -----------------------------------------------------------------------------------


def make_search_board(board: KnightBoard) -> tuple[Array, Array]:
    """Return for each square the set of squares a jump away, as 64 bits, and the colour."""
    sets = make_neighbour_sets([board.list_neighbours(square) for square in range(board.squares)])
    return sets, np.array(
        [board.is_light(square) for square in range(board.squares)], dtype=np.uint8
    )


def make_neighbour_sets(neighbours: list[list[int]]) -> npt.NDArray[np.uint64]:
    """Return each node's neighbours as a set of 64 bits."""
    return np.array([sum(1 << other for other in row) for row in neighbours], dtype=np.uint64)


def iter_paths(
    sets: Array, colours: Array, names: Array, *opening: int, chunk: int = 1 << 16
) -> Iterator[tuple[Array, Array, Array]]:
    """Iterate over all paths that begin with the opening, in ascending order of nodes, in chunks.

    A chunk is the paths' texts (a row a path: each node's `names` row in turn), their last nodes,
    and whether each path can close (its last node neighbours the first).
    """
    text = np.empty((chunk, len(sets) * names.shape[1]), dtype=np.uint8)
    ends = np.empty(chunk, dtype=np.uint8)
    row = np.empty(text.shape[1], dtype=np.uint8)
    # the state of the search, which it updates between calls: the path, the choices still to be
    # tried and the settled end by depth, and the depth
    path, depth = np.zeros(len(sets), dtype=np.int64), np.zeros(1, dtype=np.int64)
    choices = np.zeros(len(sets) + 1, dtype=np.uint64)
    settled = np.full(len(sets) + 1, OPEN, dtype=np.int64)
    choices[0] = 1 << opening[0]
    state = np.array(opening), path, choices, settled, depth
    while depth[0] >= 0:
        count = _search(sets, colours, names, text, ends, row, *state)
        if count:
            found = ends[:count].copy()
            closed = (sets[opening[0]] >> found.astype(np.uint64)) & np.uint64(1) == 1
            yield text[:count].copy(), found, closed


@compiled
def _search(  # noqa: PLR0915  # a kernel, compiled whole
    sets: Array, colours: Array, names: Array, text: Array, last: Array,
    row: Array, opening: Array, path: Array, choices: Array, ends: Array, saved_depth: Array,
) -> int:  # fmt: skip
    """Continue the search until `text` is full or no path remains, and return the number found.

    At depth d, `choices[d]` are the nodes still to be tried as the d-th of the path, `ends[d]` is
    the path's settled end or OPEN, and path[:d] is fixed.
    """
    nodes = len(sets)
    one: Any = np.uint64(1)
    none: Any = np.uint64(0)
    capacity = len(last)
    width = names.shape[1]
    count = 0
    depth = saved_depth[0]
    free = (one << np.uint64(nodes)) - one
    for d in range(depth):
        free &= ~(one << np.uint64(path[d]))
        for c in range(width):
            row[d * width + c] = names[path[d], c]
    start_colour = colours[path[0]]
    while depth >= 0 and count < capacity:
        if choices[depth] == none:
            depth -= 1
            if depth >= 0:
                free |= one << np.uint64(path[depth])
            continue
        node = np.int64(count_trailing_zeros(choices[depth]))
        choices[depth] &= choices[depth] - one
        if depth == 0:
            start_colour = colours[node]
        path[depth] = node
        for c in range(width):
            row[depth * width + c] = names[node, c]
        end = ends[depth]
        if end < OPEN:  # two were forced: the one that is not next is the end
            end = -2 - end
            end = end // 64 if end % 64 == node else end % 64
        elif end >= 64:  # one was forced: it is the end unless it is next
            end = OPEN if end - 64 == node else end - 64
        if depth == nodes - 1:
            for at_byte in range(nodes * width):
                text[count, at_byte] = row[at_byte]
            last[count] = node
            count += 1
            continue
        free &= ~(one << np.uint64(node))
        open_ways = sets[node] & free
        rest = open_ways
        forced = none
        dead = False
        while rest != none:
            other = np.int64(count_trailing_zeros(rest))
            rest &= rest - one
            ways = sets[other] & free
            if ways == none:
                dead = free != one << np.uint64(other)
                if dead:
                    break
            elif ways & (ways - one) == none:
                forced |= one << np.uint64(other)
        next_end = end
        if not dead:
            if end != OPEN:
                if depth + 2 < nodes:
                    open_ways &= ~(one << np.uint64(end))
                forced &= open_ways
                if forced != none:
                    dead = forced & (forced - one) != none
                    open_ways = forced
            elif forced != none:
                further = forced & (forced - one)
                # all have the same colour; the path ends on the start's colour if `nodes` is odd
                is_end_colour = (colours[count_trailing_zeros(forced)] == start_colour) == (
                    nodes % 2 == 1
                )
                if not is_end_colour:
                    dead = further != none
                    open_ways = forced
                elif further == none:
                    next_end = 64 + np.int64(count_trailing_zeros(forced))
                else:
                    dead = further & (further - one) != none
                    open_ways = forced
                    next_end = -2 - 64 * np.int64(count_trailing_zeros(forced))
                    next_end -= np.int64(count_trailing_zeros(further))
        if dead:
            open_ways = none
        depth += 1
        if depth < len(opening):
            open_ways &= one << np.uint64(opening[depth])
        choices[depth] = open_ways
        ends[depth] = next_end
        if open_ways == none:
            depth -= 1
            free |= one << np.uint64(node)
    saved_depth[0] = depth
    return count
