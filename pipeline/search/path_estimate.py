"""Estimates of the number of paths that a search would find, and of its time, from a few branches.

Knuth's estimator follows one branch, chosen at random at each fork, and multiplies the numbers of
choices. Here many branches are followed together: where there are more than `MAX_WAYS`, that many
are drawn at equal distances in their order, and represent all. Once few nodes remain, the paths
below the branches are counted.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from pipeline.search.hamiltonian_paths import Array, count_paths, list_beginnings

MAX_WAYS = 2048
COUNTED_NODES = 34
"""Number of nodes still to visit at which the paths below a branch are counted."""


class PathEstimate(NamedTuple):
    """Number of paths, and processor seconds to find them; `is_exact`: no branch was left out."""

    paths: float
    seconds: float
    is_exact: bool


def estimate_paths(
    sets: Array,
    colours: Array,
    openings: list[tuple[int, ...]],
    seed: int,
    max_ways: int = MAX_WAYS,
    counted_nodes: int = COUNTED_NODES,
) -> PathEstimate:
    """Estimate the paths with these openings, which must all have the same length.

    At most `max_ways` branches are followed, down to `counted_nodes` nodes still to visit.
    """
    random, weight = np.random.default_rng(seed), 1.0
    ways = [*openings]
    for length in range(len(ways[0]) if ways else 0, max(1, len(sets) - counted_nodes) + 1):
        longer = [
            tuple(path) for way in ways for path in list_beginnings(sets, colours, length, *way)
        ]
        if len(longer) > max_ways:
            begin, step = random.random(), len(longer) / max_ways
            longer, weight = (
                [longer[int((begin + n) * step)] for n in range(max_ways)],
                weight * step,
            )
        ways = longer
    start_time = time.thread_time()
    paths = sum(count_paths(sets, colours, *way) for way in ways)
    return PathEstimate(weight * paths, weight * (time.thread_time() - start_time), weight == 1)
