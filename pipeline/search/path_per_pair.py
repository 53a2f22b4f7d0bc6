"""Search for one Hamiltonian path for every pair of ends, with the same result in every build.

For each ordered pair (start, end) of nodes the search is depth first. It tries the neighbour with
the fewest free neighbours first, and orders ties by random numbers from a seed. It drops a branch
when a free node other than the end has fewer than two free neighbours. After `MAX_VISITED` nodes it
restarts with the next seed; seeds begin at 0. The random numbers are splitmix64, so that the tours
are the same on every machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tablebase.jit import compiled

Array = npt.NDArray[Any]

MAX_VISITED = 2_000
MAX_SEEDS = 1_000


def find_paths(neighbours: Array, ends: Array) -> npt.NDArray[np.uint8]:
    """Find for each (start, end) a path from one to the other through every node, a row each.

    `neighbours` has one row a node, padded with -1. Where no path was found, the row is zeros.
    """
    paths = np.zeros((len(ends), len(neighbours)), dtype=np.uint8)
    _search(neighbours, ends, paths)
    return paths


@compiled
def _search(neighbours: Array, ends: Array, paths: Array) -> None:
    path = np.zeros(len(neighbours), dtype=np.int64)
    for row in range(len(ends)):
        for seed in range(MAX_SEEDS):
            if _try_seed(neighbours, ends[row, 0], ends[row, 1], seed, path):
                paths[row] = path
                break


@compiled
def _mix(state: Any) -> Any:
    """Return the splitmix64 number for a state."""
    z = np.uint64(state) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def _try_seed(neighbours: Array, start: int, end: int, seed: int, path: Array) -> bool:
    """Search for a path with one seed and write it to `path`; return whether one was found."""
    nodes, max_neighbours = neighbours.shape
    exits = np.zeros(nodes, dtype=np.int64)  # free neighbours; the last node of the path is free
    for node in range(nodes):
        for k in range(max_neighbours):
            exits[node] += neighbours[node, k] >= 0
    used = np.zeros(nodes, dtype=np.bool_)
    choices = np.full((nodes, max_neighbours), -1, dtype=np.int64)
    tried = np.zeros(nodes, dtype=np.int64)
    key = np.zeros(max_neighbours, dtype=np.int64)
    tie = np.zeros(max_neighbours, dtype=np.uint64)
    used[start] = True
    path[0] = start
    depth = 0
    fresh = True
    visited = 0
    while depth >= 0:
        head = path[depth]
        if fresh:
            if depth == nodes - 1:
                return True
            visited += 1
            if visited > MAX_VISITED:
                return False
            count = 0
            for k in range(max_neighbours):
                other = neighbours[head, k]
                if other < 0 or used[other] or (other == end and depth + 2 < nodes):
                    continue
                position = count
                ways = exits[other]
                draw = _mix(((seed * nodes + depth) * nodes + head) * max_neighbours + k)
                while position > 0 and (
                    ways < key[position - 1]
                    or (ways == key[position - 1] and draw < tie[position - 1])
                ):
                    key[position] = key[position - 1]
                    tie[position] = tie[position - 1]
                    choices[depth, position] = choices[depth, position - 1]
                    position -= 1
                key[position] = ways
                tie[position] = draw
                choices[depth, position] = other
                count += 1
            if count < max_neighbours:
                choices[depth, count] = -1
            tried[depth] = 0
        k = tried[depth]
        following = choices[depth, k] if k < max_neighbours else -1
        if following < 0:
            depth -= 1
            if depth >= 0:
                used[head] = False
                for k in range(max_neighbours):
                    if neighbours[path[depth], k] >= 0:
                        exits[neighbours[path[depth], k]] += 1
            fresh = False
            continue
        tried[depth] += 1
        # the path leaves this node, which is then no longer free for its other neighbours
        alive = True
        for k in range(max_neighbours):
            other = neighbours[head, k]
            if other >= 0:
                exits[other] -= 1
                if not used[other] and other != following:
                    alive &= exits[other] >= (1 if other == end else 2)
        if not alive:
            for k in range(max_neighbours):
                if neighbours[head, k] >= 0:
                    exits[neighbours[head, k]] += 1
            fresh = False
            continue
        depth += 1
        path[depth] = following
        used[following] = True
        fresh = True
    return False
