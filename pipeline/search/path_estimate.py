"""How many paths a search would find, and how long it would take, from a few of its branches.

Knuth's estimator goes down one way, chosen by lot at each fork, and multiplies the choices it had.
Here many ways go down together: where there are more than `WIDTH`, as many are drawn in equal
distances, in their order, and stand for all. What is below is counted once few nodes are left.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from pipeline.search.hamiltonian_paths import Array, beginnings, count_from

WIDTH = 2048
LEFT = 34
"""Nodes that a way has still to visit when all that is below it is counted."""


class Sampled(NamedTuple):
    """Paths, and processor seconds to find them; `exact`: nothing was left to the lot."""

    paths: float
    seconds: float
    exact: bool


def sampled(sets: Array, colours: Array, openings: list[tuple[int, ...]], seed: int) -> Sampled:
    """What a search of the paths with these openings, all of one length, would find."""
    lot, each = np.random.default_rng(seed), 1.0
    ways = [*openings]
    for length in range(len(ways[0]) if ways else 0, max(1, len(sets) - LEFT) + 1):
        found = [tuple(path) for way in ways for path in beginnings(sets, colours, length, *way)]
        if len(found) > WIDTH:
            begin, step = lot.random(), len(found) / WIDTH
            found, each = [found[int((begin + n) * step)] for n in range(WIDTH)], each * step
        ways = found
    begun = time.thread_time()
    paths = sum(count_from(sets, colours, *way) for way in ways)
    return Sampled(each * paths, each * (time.thread_time() - begun), each == 1)
