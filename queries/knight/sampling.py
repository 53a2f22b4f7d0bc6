"""Tours by chance, each as likely as any other: numbers are drawn, then the tours they are of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from queries.knight.ranked_tours import NumberedTours
from queries.knight.unrank_kernels import Layer, sound, tours
from queries.reader import unheard
from tablebase.errors import BadRequest
from tablebase.frontier.keys import Array
from tablebase.frontier.layer_codec import unpacked
from tablebase.tables.index_format import record_type

if TYPE_CHECKING:
    from queries.reader import Told

AT_ONCE = 1 << 18
"""Tours that are drawn together: the more, the less often the layers are read."""
ROWS = 1 << 20
"""Rows of a list that are read at once."""


def numbers(total: int, size: int, seed: int, *, replacement: bool) -> Iterator[Array]:
    """So many numbers below a total by chance, some at a time; the same for the same seed."""
    if size > total and not (replacement and total):
        raise BadRequest(f"There are {total:,} tours to draw {size:,} from", "Draw fewer")
    chance = np.random.Generator(np.random.PCG64(seed))
    if replacement:
        for begin in range(0, size, AT_ONCE):
            yield chance.integers(total, size=min(AT_ONCE, size - begin))
    else:
        chosen = chance.choice(total, size, replace=False)
        for begin in range(0, size, AT_ONCE):
            yield chosen[begin : begin + AT_ONCE]


def of_numbers(numbered: NumberedTours, chosen: Array, told: Told = unheard) -> pl.DataFrame:
    """The tours with these numbers: those from b1 follow those from a1, and so on; closed ones go
    from a1 towards the lower of its neighbours."""
    board, sweep, closed = numbered.board, numbered.numbers.sweep, numbered.closed

    def layer(number: int) -> Layer:
        some = numbered.layers.records(number)
        data = b"".join(numbered.index.stretches(some.start, some.stop))
        records = np.frombuffer(data, record_type(numbered.table))
        firsts, states = records["key"].astype(np.int64), np.ascontiguousarray(records["states"])
        return sound(unpacked(firsts, states), sweep.cells)

    ends = np.cumsum(numbered.totals())
    starts = np.searchsorted(ends, chosen, side="right")
    own = chosen - np.append(0, ends)[starts]
    squares = np.empty((len(chosen), board.squares), dtype=np.int8)
    routes = [sweep.route(start) for start in range(len(ends))]
    for route in sweep.routes:
        on = np.flatnonzero(np.array([of is route for of in routes])[starts])
        if len(on):
            with numbered.sound():
                squares[on] = tours(sweep, route, layer, own[on], starts[on], told)
    names = np.array(board.names(), "S2")
    width = 2 * board.squares
    path = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(width), len(chosen), [None, pa.py_buffer(names[squares])]
    )
    which = {"cycle": own} if closed else {"start": names[starts].astype(str), "tour": own}
    return pl.DataFrame(
        {
            "board": pl.repeat(str(board), len(chosen), eager=True),
            **which,
            "path": pl.from_arrow(path.cast(pa.binary()).cast(pa.string())),
        }
    )


def of_list(rows: pl.LazyFrame, total: int, chosen: Array) -> pl.DataFrame:
    """The rows of a list with these numbers, in their order."""
    order = np.argsort(chosen, kind="stable")
    ascending, found = chosen[order], list[pl.DataFrame]()
    for begin in range(0, total, ROWS):
        first, last = np.searchsorted(ascending, (begin, begin + ROWS))
        if first < last:
            some = rows.slice(begin, ROWS).collect()
            found.append(some[ascending[first:last] - begin])
    return pl.concat(found)[np.argsort(order)]
