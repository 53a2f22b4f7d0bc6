"""Uniform samples of tours: the tours with the numbers that were drawn."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from queries.kernels.tour_cells import Layer
from queries.knight.ranked_tours import RankedTours
from queries.knight.unranking import count_cut_tours, unrank_tours, validate_layer
from queries.reader import ignore_progress
from tablebase.frontier.compiled import Array, decode_layer
from tablebase.tables.index_format import make_record_type

if TYPE_CHECKING:
    from queries.reader import ProgressCallback

CHUNK_ROWS = 1 << 20
"""Rows of a list that are read at a time."""


def count_ranked_tours(ranked: RankedTours) -> list[int]:
    """Count the tours from each square, or in one item the closed ones, in whole layers.

    A damaged file does not make a sample that no file can have: each state's tours are compared
    with the drawings that can meet there.
    """
    sweep = ranked.ranker.sweep
    starts = range(1 if ranked.closed else ranked.board.squares)
    with ranked.translate_layer_errors():
        far = _load_layer(ranked, sweep.shorter)
        totals = {
            id(route): count_cut_tours(
                sweep, _load_layer(ranked, route.cut), _load_layer(ranked, route.layers[-1]), far
            )
            for route in sweep.routes
        }
        return [totals.get(id(sweep.find_route(start)), 0) for start in starts]


def _load_layer(ranked: RankedTours, layer: int) -> Layer:
    """Load the states of a layer; InconsistentLayers if what is there is none."""
    records_range = ranked.layers.find_records(layer)
    data = b"".join(ranked.index.iter_chunks(records_range.start, records_range.stop))
    records = np.frombuffer(data, make_record_type(ranked.table))
    firsts, states = records["key"].astype(np.int64), np.ascontiguousarray(records["states"])
    return validate_layer(decode_layer(firsts, states), ranked.ranker.sweep.cells)


def sample_by_rank(
    ranked: RankedTours,
    counts: list[int],
    numbers: Array,
    on_progress: ProgressCallback = ignore_progress,
) -> pl.DataFrame:
    """Return the tours with these numbers, one row per number; `counts`: `count_ranked_tours`.

    Open tours are numbered through all starts: those from b1 follow those from a1, and so on.
    Closed tours go from a1 towards the lower of its neighbours.
    """
    board, sweep, closed = ranked.board, ranked.ranker.sweep, ranked.closed

    load_layer, ends = partial(_load_layer, ranked), np.cumsum(counts)
    starts = np.searchsorted(ends, numbers, side="right")
    ranks = numbers - np.append(0, ends)[starts]
    squares = np.empty((len(numbers), board.squares), dtype=np.int8)
    routes = [sweep.find_route(start) for start in range(len(ends))]
    for route in sweep.routes:
        rows = np.flatnonzero(np.array([other is route for other in routes])[starts])
        if len(rows):
            with ranked.translate_layer_errors():
                squares[rows] = unrank_tours(
                    sweep, route, load_layer, ranks[rows], starts[rows], on_progress
                )
    names = np.array(board.name_squares(), "S2")
    width = 2 * board.squares
    path = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(width), len(numbers), [None, pa.py_buffer(names[squares])]
    )
    start_names = {} if closed else {"start": names[starts].astype(str)}
    return pl.DataFrame(
        {
            "board": pl.repeat(str(board), len(numbers), eager=True),
            **start_names,
            "rank": ranks,
            "path": pl.from_arrow(path.cast(pa.binary()).cast(pa.string())),
        }
    )


def sample_list(rows: pl.LazyFrame, total: int, numbers: Array) -> pl.DataFrame:
    """Return the rows of a list with these row numbers, in the order of the numbers."""
    order = np.argsort(numbers, kind="stable")
    ascending, frames = numbers[order], list[pl.DataFrame]()
    for begin in range(0, total, CHUNK_ROWS):
        first, last = np.searchsorted(ascending, (begin, begin + CHUNK_ROWS))
        if first < last:
            chunk = rows.slice(begin, CHUNK_ROWS).collect()
            frames.append(chunk[ascending[first:last] - begin])
    return pl.concat(frames)[np.argsort(order)]
