"""Ranks of a board's states by distance, found in its index without keeping all of it in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from queries.index_reader import IndexReader
from queries.sampling import Numbers, SampleRequest, make_depth_error

RECORDS = 1 << 22
"""Records that are looked at together."""


def count_distances(index: IndexReader) -> Numbers:
    """Count the states at each distance."""
    counts = np.zeros(256, dtype=np.int64)
    for _, distances in _iter_distances(index):
        counts += np.bincount(distances, minlength=256)
    return counts


def find_ranks(index: IndexReader, distance: int, places: Numbers | None = None) -> Numbers:
    """Find the ranks of the states at a distance; with `places`, only of those so many-th.

    `places` are numbers among these states, from 0, in any order.
    """
    order = None if places is None else np.argsort(places, kind="stable")
    ascending = np.empty(0, np.int64) if places is None else places[order]
    seen, ranks = 0, []
    for first, distances in _iter_distances(index):
        here = first + np.flatnonzero(distances == distance)
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
    index: IndexReader, request: SampleRequest, distance: int | None
) -> Iterator[Numbers]:
    """Draw random ranks, of any states or of those at a distance, a chunk at a time."""
    if distance is None:
        yield from request.draw_numbers(index.count, "state")
        return
    counts = count_distances(index)
    most = int(np.flatnonzero(counts).max())
    if distance > most or not counts[distance]:
        raise make_depth_error("distance", distance, most)
    for places in request.draw_numbers(int(counts[distance]), "state"):
        yield find_ranks(index, distance, places)


def _iter_distances(index: IndexReader) -> Iterator[tuple[int, npt.NDArray[np.uint8]]]:
    """Yield the distances of consecutive states, each time after the rank of the first."""
    for first in range(0, index.count, RECORDS):
        last = min(first + RECORDS, index.count)
        records = b"".join(index.iter_chunks(first, last))
        yield first, np.frombuffer(records, np.uint8)
