"""How many paths a search would find, and how long it would take, from a few of its branches.

Knuth's estimator goes down one way, chosen by lot at each fork, and multiplies the choices it had.
Here many ways go down together: where there are more than `MAX_WAYS`, as many are drawn in equal
distances, in their order, and stand for all. What is below is counted once few nodes are left.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from pipeline.search.hamiltonian_paths import Array, count_paths, list_beginnings

MAX_WAYS = 2048
COUNTED_NODES = 34
"""Nodes that a way has still to visit when all that is below it is counted."""


class PathEstimate(NamedTuple):
    """Paths, and processor seconds to find them; `is_exact`: nothing was left to the lot."""

    paths: float
    seconds: float
    is_exact: bool


def estimate_paths(
    sets: Array, colours: Array, openings: list[tuple[int, ...]], seed: int
) -> PathEstimate:
    """What a search of the paths with these openings, all of one length, would find."""
    random, weight = np.random.default_rng(seed), 1.0
    ways = [*openings]
    for length in range(len(ways[0]) if ways else 0, max(1, len(sets) - COUNTED_NODES) + 1):
        longer = [
            tuple(path) for way in ways for path in list_beginnings(sets, colours, length, *way)
        ]
        if len(longer) > MAX_WAYS:
            begin, step = random.random(), len(longer) / MAX_WAYS
            longer, weight = (
                [longer[int((begin + n) * step)] for n in range(MAX_WAYS)],
                weight * step,
            )
        ways = longer
    begun = time.thread_time()
    paths = sum(count_paths(sets, colours, *way) for way in ways)
    return PathEstimate(weight * paths, weight * (time.thread_time() - begun), weight == 1)
