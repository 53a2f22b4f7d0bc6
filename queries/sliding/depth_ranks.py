"""Ranks of a board's states by distance, from the distances of all states, a chunk at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from queries.sampling import Numbers, SampleRequest, make_depth_error

Distances = Iterable[npt.NDArray[np.uint8]]
"""The distances of all states in the order of their ranks, a chunk at a time."""


def count_distances(distances: Distances) -> Numbers:
    """Count the states at each distance."""
    counts = np.zeros(256, dtype=np.int64)
    for chunk in distances:
        counts += np.bincount(chunk, minlength=256)
    return counts


def find_ranks(distances: Distances, distance: int, places: Numbers | None = None) -> Numbers:
    """Find the ranks of the states at a distance; with `places`, only of those so many-th.

    `places` are numbers among these states, from 0, in any order.
    """
    order = None if places is None else np.argsort(places, kind="stable")
    ascending = np.empty(0, np.int64) if places is None else places[order]
    first, seen, ranks = 0, 0, []
    for chunk in distances:
        here = first + np.flatnonzero(chunk == distance)
        first += len(chunk)
        if places is not None:
            begin, end = np.searchsorted(ascending, (seen, seen + len(here)))
            seen, here = seen + len(here), here[ascending[begin:end] - seen]
        ranks.append(here)
    result = np.concatenate(ranks)
    if order is None:
        return result
    unsorted = np.empty_like(result)
    unsorted[order] = result
    return unsorted


def draw_ranks(
    states: int,
    read_distances: Callable[[], Distances],
    request: SampleRequest,
    distance: int | None,
) -> Iterator[Numbers]:
    """Draw random ranks, of any states or of those at a distance, a chunk at a time.

    `states`: the number of all states.
    """
    if distance is None:
        yield from request.draw_numbers(states, "state")
        return
    counts = count_distances(read_distances())
    most = int(np.flatnonzero(counts).max())
    if distance > most or not counts[distance]:
        raise make_depth_error("distance", distance, most)
    for places in request.draw_numbers(int(counts[distance]), "state"):
        yield find_ranks(read_distances(), distance, places)
