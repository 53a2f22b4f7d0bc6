"""A sweep: layer after layer of frontier states, each with the number of ways to reach it.

Forward, the states of a layer are expanded into those of the next, and the ways to reach the same
state are added up (the *forward count*, `ways`). Backward, the number of ways to complete a state
(the *backward count*, `onward`) is the sum of those of its successors. The edges that a step places
lie on as many cycles as the product of the state's forward count and the successor's backward
count: so one sweep back counts for every edge the cycles that use it.

No overflow goes unnoticed. Sums of counts are checked at each step; products are also added up as
floating point numbers, which show whether the integers fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.search.tour_counting.expand import Step, iter_successors
from pipeline.search.tour_counting.hash_table import CountOverflow, HashTable
from tablebase.frontier.state import MATCHING_BITS

Array = npt.NDArray[Any]

COUNT_LIMIT = float(1 << 63)


class Layer(NamedTuple):
    """Distinct states, and the number of ways to reach each."""

    keys: Array
    ways: Array


def make_first_layer(needs: list[int]) -> Layer:
    """Return a layer of one state without edges, given how many edges each cell needs."""
    packed = sum(need << 2 * cell for cell, need in enumerate(needs))
    return Layer(np.array([packed << MATCHING_BITS]), np.array([1]))


def advance_layer(layer: Layer, step: Step, check_running: Callable[[], None]) -> Layer:
    """Return the next layer; `check_running` is called several times a second."""
    table = HashTable(0)
    for rows, _, keys in iter_successors(layer.keys, step):
        check_running()
        if not len(rows):
            continue
        required = table.filled + len(keys)
        if required > table.capacity:
            # an upper estimate: more and more successors are in the table already
            likely = required * len(layer.keys) // (int(rows[-1]) + 1)
            if table.filled == 0:
                # a large layer grows less in the middle of a column, and shrinks at its end
                likely = min(likely, len(layer.keys) * (4 if len(step.mirror) else 8) // 5)
            table.grow(max(required, min(3 * required // 2, likely + required // 20)))
        table.add(keys, layer.ways[rows])
    return Layer(*table.take_columns())


def count_onward(layer: Layer, step: Step, after: HashTable) -> tuple[Array, Array]:
    """Return the layer's backward counts, and the number of cycles that use each edge of the step.

    `after` has the backward counts of the next layer.
    """
    onward, uses = np.zeros_like(layer.ways), np.zeros(len(step.others), dtype=np.int64)
    approximate_sum = 0.0
    for rows, joined, keys in iter_successors(layer.keys, step):
        completions = after.look_up(keys)
        begins = np.flatnonzero(np.diff(rows, prepend=-1))
        onward[rows[begins]] = _sum_groups(completions, begins)
        ways = layer.ways[rows]
        cycles = ways * completions
        # no dot product, for which numpy starts threads that wait busily
        approximate_sum += float((ways.astype(float) * completions).sum())
        for number in range(len(uses)):
            uses[number] += np.dot(cycles, joined >> number & 1)
    if approximate_sum >= COUNT_LIMIT:
        raise CountOverflow
    return onward, uses


def _sum_groups(counts: Array, begins: Array) -> Array:
    """Return the sums of neighbouring counts: of those from each of `begins` to the next."""
    if not len(begins):
        return begins
    approximate_sums = np.add.reduceat(counts.astype(float), begins)
    sums: Array = np.add.reduceat(counts, begins)
    if sums.min() < 0 or approximate_sums.max() >= COUNT_LIMIT:
        raise CountOverflow
    return sums


def sum_cycles(ways: Array, onward: Array) -> int:
    """Count the cycles through a layer, given the forward and backward counts of its states."""
    if onward.min(initial=0) < 0 or np.dot(ways.astype(float), onward.astype(float)) >= COUNT_LIMIT:
        raise CountOverflow
    return int(np.dot(ways, onward))
