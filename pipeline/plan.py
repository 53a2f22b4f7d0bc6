"""What a table, or a piece of a list, will take: rows, bytes and hours, before anything is made.

Rows are those that are known, of a table of counts for one; else some branches of the search are
gone through, again and again, and the estimates' differences tell the error. Where rows are known,
the error is that of the times. Times are this machine's.
"""

from __future__ import annotations

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from struct import calcsize
from typing import TYPE_CHECKING, NamedTuple

from pipeline.builders.registry import checkpoints, parts, probe
from pipeline.shards import Listing
from pipeline.tasks import Probe, Work
from queries.dispatch import reader
from tablebase.puzzle import Table
from tablebase.resources import free_memory
from tablebase.tables.checkpoints import Piece
from tablebase.tables.index_format import BLOCK, blocks, write_index
from tablebase.tables.manifest import facts
from tablebase.tables.parquet import TableWriter
from tablebase.tables.store import Folder, Store

if TYPE_CHECKING:
    from tablebase.puzzle import Columns

STRETCHES = 12
"""How much of a table is written to see how long that takes."""


class Plan(NamedTuple):
    """`seconds`: of one processor, in parts; `alone`: of one that writes what the parts found;
    `here`: as `seconds`, where this machine makes it; `error`: the standard error, as a share;
    `meanwhile`: bytes that parts leave for each other; `memory`: where this machine makes it."""

    parts: int
    rows: float
    error: float
    bytes: float
    meanwhile: float
    memory: float
    seconds: float
    alone: float
    here: float


def planned(store: Store, listing: Listing, piece: Piece | None, jobs: int = 1) -> Plan:
    """What is to be expected of a table, or of a piece of a list."""
    table, own = listing.table, None
    if piece is not None:
        own = parts(table).items[piece.number - 1 :: piece.of]
        if not own:
            return Plan(0, 0, 0, 0, 0, 0, 0, 0, 0)
    known = table.rows
    if known is None and piece is None:
        known = reader(listing.puzzle.name, store).listed_rows(table)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as threads:
        place = Folder(Path(folder))
        found = probe(table, Work(threads, jobs, kept=checkpoints(place, table)), own)
        size, writing = _written(place, table, found)
    rows = fmean(found.rows) if known is None else known
    each = sum(found.seconds) / max(1, sum(found.rows))
    index = BLOCK * blocks(calcsize(table.record), int(rows)) if table.index else 0
    divided = table.recipe.in_files  # each part writes a file
    seconds = rows * (each + writing * divided)
    held, memory = seconds, 0.0
    if found.at_once:
        memory, free = found.at_once.memory, free_memory()
        if free is None or memory <= free:
            held = found.at_once.seconds
    return Plan(
        found.parts,
        rows,
        _error(found, known is not None),
        rows * size + index,
        rows * found.left,
        memory,
        seconds,
        rows * writing * (not divided),
        held,
    )


def _error(found: Probe, known: bool) -> float:
    """The standard error of the rows, or, where these are known, of the seconds a row."""
    estimates = found.rows
    if known:
        estimates = [s / max(1, r) for s, r in zip(found.seconds, found.rows, strict=True)]
    if len(estimates) < 2 or not any(estimates):
        return 0
    return stdev(estimates) / sqrt(len(estimates)) / fmean(estimates)


def _written(store: Store, table: Table, found: Probe) -> tuple[float, float]:
    """Bytes of Parquet and processor seconds a row, as written here, with the index."""
    some, records = ([*islice(of or (), STRETCHES)] for of in (found.some, found.records))
    names = dict.fromkeys([table.file, table.index_file if table.index else table.file])
    size = seconds = 0.0
    for few in (1, STRETCHES):  # the first time more is done than later
        begun = time.thread_time()
        with store.appearing(*names) as files:
            with TableWriter(files[0] if table.columns else None, table) as writer:
                for columns in some[:few]:
                    writer.write(columns)
            if table.index:
                count = sum(map(_length, records[:few]))
                write_index(files[-1], table, count, records[:few], writer.content)
        said = [facts(store, name)["bytes"] for name in names]
        rows = max(1, writer.rows)
        size, seconds = said[0] / rows, (time.thread_time() - begun) / rows
    return size if table.columns else 0, seconds


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values())))
