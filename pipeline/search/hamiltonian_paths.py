"""Every Hamiltonian path of a small two-coloured graph, depth first, in ascending order.

Nodes are numbered from 0 to at most 63; a set of nodes is 64 bits. At each node v the search looks
at v's free neighbours x and at their own free neighbours. With none, x is a dead end unless it is
the last node left. With one, x must be taken now or else be the end of the path: call it *pressed*.
While the end is open, three pressed neighbours are a dead branch, of two one is next and the other
is the end, and passing by a single one makes it the end; once it is settled, two more are a dead
branch and one is the only way on. A neighbour whose colour cannot be the end's can only be next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tablebase.frontier.bits import find_lowest
from tablebase.jit import compiled

Array = npt.NDArray[Any]
Chunk = tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8], npt.NDArray[np.bool_]]

CHUNK_PATHS = 1 << 16
OPEN = -1


def make_neighbour_sets(neighbours: list[list[int]]) -> npt.NDArray[np.uint64]:
    """One 64-bit set a node."""
    return np.array([sum(1 << other for other in row) for row in neighbours], dtype=np.uint64)


def iter_paths(sets: Array, colours: Array, names: Array, *opening: int) -> Iterator[Chunk]:
    """Every path that begins with these nodes, in ascending order of its nodes, in chunks.

    A chunk is its texts (a row a path: each node's `names` row in turn), their last nodes, and
    whether each can close (its last node neighbours the first).
    """
    for text, ends in _iter_texts(sets, colours, names, len(sets), opening):
        closed = (sets[opening[0]] >> ends.astype(np.uint64)) & np.uint64(1) == 1
        yield text, ends, closed


def list_beginnings(sets: Array, colours: Array, length: int, *opening: int) -> list[list[int]]:
    """What the search enters: the first so many nodes of paths, though many are a dead branch."""
    names = np.arange(len(sets), dtype=np.uint8)[:, None]
    chunks = _iter_texts(sets, colours, names, length, opening)
    return [path for text, _ in chunks for path in text.tolist()]


def _iter_texts(
    sets: Array, colours: Array, names: Array, length: int, opening: tuple[int, ...]
) -> Iterator[tuple[Array, Array]]:
    text = np.empty((CHUNK_PATHS, length * names.shape[1]), dtype=np.uint8)
    ends = np.empty(CHUNK_PATHS, dtype=np.uint8)
    *_, depth = state = _make_state(sets, opening)
    while depth[0] >= 0:
        count = _search(sets, colours, names, text, ends, length, *state)
        if count:
            yield text[:count].copy(), ends[:count].copy()


def count_paths(sets: Array, colours: Array, *opening: int) -> int:
    """How many paths begin with these nodes."""
    nameless = np.empty((len(sets), 0), dtype=np.uint8)
    return sum(len(ends) for _, ends in _iter_texts(sets, colours, nameless, len(sets), opening))


def _make_state(sets: Array, opening: tuple[int, ...]) -> tuple[Array, Array, Array, Array, Array]:
    """The opening, and the search's state between calls: path, choices left and settled end by
    depth, and depth."""
    nodes = len(sets)
    path = np.zeros(nodes, dtype=np.int64)
    choices = np.zeros(nodes + 1, dtype=np.uint64)
    ends = np.full(nodes + 1, OPEN, dtype=np.int64)
    choices[0] = 1 << opening[0]
    return np.array(opening), path, choices, ends, np.zeros(1, dtype=np.int64)


@compiled
def _search(
    sets: Array, colours: Array, names: Array, text: Array, last: Array,
    length: int, opening: Array, path: Array, choices: Array, ends: Array, at: Array,
) -> int:  # fmt: skip
    """Go on until `text` is full or nothing is left. A path ends at its length-th node.

    At depth d, `choices[d]` are nodes still to be tried as the d-th of the path, `ends[d]` is the
    path's settled end or OPEN, and path[:d] stands. Returns how many paths were found.
    """
    nodes = len(sets)
    one: Any = np.uint64(1)
    none: Any = np.uint64(0)
    room = len(last)
    width = names.shape[1]
    count = 0
    depth = at[0]
    free = (one << np.uint64(nodes - 1) << one) - one if nodes < 64 else ~none
    row = np.empty(length * width, dtype=np.uint8)
    for d in range(depth):
        free &= ~(one << np.uint64(path[d]))
        for c in range(width):
            row[d * width + c] = names[path[d], c]
    start_colour = colours[path[0]]
    while depth >= 0 and count < room:
        if choices[depth] == none:
            depth -= 1
            if depth >= 0:
                free |= one << np.uint64(path[depth])
            continue
        here = np.int64(find_lowest(choices[depth]))
        choices[depth] &= choices[depth] - one
        if depth == 0:
            start_colour = colours[here]
        path[depth] = here
        for c in range(width):
            row[depth * width + c] = names[here, c]
        end = ends[depth]
        if end < OPEN:  # two pressed: the other one is the end
            end = -2 - end
            end = end // 64 if end % 64 == here else end % 64
        elif end >= 64:  # one pressed, and passed by if it isn't taken
            end = OPEN if end - 64 == here else end - 64
        if depth == length - 1:
            for at_byte in range(length * width):
                text[count, at_byte] = row[at_byte]
            last[count] = here
            count += 1
            continue
        free &= ~(one << np.uint64(here))
        open_ways = sets[here] & free
        rest = open_ways
        pressed = none
        dead = False
        while rest != none:
            other = np.int64(find_lowest(rest))
            rest &= rest - one
            ways = sets[other] & free
            if ways == none:
                dead = free != one << np.uint64(other)
                if dead:
                    break
            elif ways & (ways - one) == none:
                pressed |= one << np.uint64(other)
        next_end = end
        if not dead:
            if end != OPEN:
                if depth + 2 < nodes:
                    open_ways &= ~(one << np.uint64(end))
                pressed &= open_ways
                if pressed != none:
                    dead = pressed & (pressed - one) != none
                    open_ways = pressed
            elif pressed != none:
                two = pressed & (pressed - one)
                # all of them have one colour; the path ends on the start's if nodes is odd
                is_end_colour = (colours[find_lowest(pressed)] == start_colour) == (nodes % 2 == 1)
                if not is_end_colour:
                    dead = two != none
                    open_ways = pressed
                elif two == none:
                    next_end = 64 + np.int64(find_lowest(pressed))
                else:
                    dead = two & (two - one) != none
                    open_ways = pressed
                    next_end = -2 - 64 * np.int64(find_lowest(pressed)) - np.int64(find_lowest(two))
        if dead:
            open_ways = none
        depth += 1
        if depth < len(opening):
            open_ways &= one << np.uint64(opening[depth])
        choices[depth] = open_ways
        ends[depth] = next_end
        if open_ways == none:
            depth -= 1
            free |= one << np.uint64(here)
    at[0] = depth
    return count
