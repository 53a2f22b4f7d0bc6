"""Measurements of sets of states: distances, ranks, annotated columns and samples.

Rates are by processor time of all threads, which other work on the machine changes little.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import (
    OUTPUTS,
    Row,
    format_table,
    measure_in_turns,
    measure_process,
    time_processor,
)
from puzzle_tablebase.queries.tables import open_tables

EIGHT, LARGE = 1_000_000, 200_000
"""The states that are asked for together: of the 8-puzzle, and of 3x4."""
SAMPLE = 100_000
ROUNDS = 3
ALL = "import sys; from benchmarks.sets import print_all_distances as run; run(sys.argv[1])"


def measure_sets() -> str:
    """Measure the 8-puzzle, the board 3x4, and the 15-puzzle."""
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(sys.executable).with_name("pipeline"))
        measure_process([program, "precompute", "sliding_3x4", "--outputs", folder])
        tables, large = open_tables(str(OUTPUTS)), open_tables(folder)
        rows = _measure_board("`tables.eight`", tables.eight, EIGHT)
        rows += _measure_board('`tables.sliding("3x4")`', large.sliding("3x4"), LARGE)
        rows.append(_measure_call("`tables.fifteen`", "`sample`", SAMPLE, tables.fifteen.sample))
        done = measure_process([sys.executable, "-c", ALL, folder])
    seconds, states = map(float, done.output.split())
    rate = f"{_format_rate(states / seconds)}; {seconds:.1f} s, {done.peak_mib:,.0f} MiB at most"
    rows.append(("a process of its own", "`arrays().distances()` of 3x4", f"{states:,.0f}", rate))
    return format_table(("table", "call", "states", "a second of processor time"), rows)


def _measure_board(name: str, board: Any, size: int) -> list[Row]:
    """Return a row for each call; states are drawn with equal chances."""
    column = board.sample(SAMPLE, seed=1)["state"]
    arrays = board.arrays()
    ranks = np.random.default_rng(1).choice(arrays.ranks(column), size)
    tiles = arrays.unranks(ranks)
    return [
        _measure_call(name, "`arrays().distances(tiles)`", size, partial(arrays.distances, tiles)),
        _measure_call(name, "`arrays().ranks(tiles)`", size, partial(arrays.ranks, tiles)),
        _measure_call(name, "`arrays().unranks(ranks)`", size, partial(arrays.unranks, ranks)),
        _measure_call(name, "`annotate(column)`", SAMPLE, partial(board.annotate, column)),
        _measure_call(
            name,
            "`annotate(column, features=True)`",
            SAMPLE,
            partial(board.annotate, column, features=True),
        ),
        _measure_call(name, "`sample`", SAMPLE, board.sample),
    ]


def _measure_call(name: str, call: str, states: int, work: Callable[..., object]) -> Row:
    """Return the row of a call: the median of some, after one that is not measured."""
    if call == "`sample`":
        work = partial(work, states)
    seconds = measure_in_turns({call: partial(time_processor, work)}, ROUNDS)[call]
    return name, call, f"{states:,}", _format_rate(states / seconds)


def _format_rate(rate: float) -> str:
    """Format a rate with its first three digits.

    >>> _format_rate(123_456.7)
    '123,000'
    """
    return f"{float(f'{rate:.3g}'):,.0f}"


def print_all_distances(folder: str) -> None:
    """Print the processor seconds of all distances of 3x4, and how many there are."""
    arrays = open_tables(folder).sliding("3x4").arrays()
    arrays.distances(["123456789ab0"])  # reads the bits, and imports what it needs
    started = time.process_time()
    states = len(arrays.distances())
    print(time.process_time() - started, states)
