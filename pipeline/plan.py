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

from pipeline.builders.registry import checkpoints, estimate, parts
from pipeline.shards import Listing
from pipeline.tasks import CostSample, TaskRunner
from queries.dispatch import open_reader
from tablebase.puzzle import Table
from tablebase.resources import get_free_memory
from tablebase.tables.checkpoints import ShardSpec
from tablebase.tables.index_format import BLOCK_BYTES, count_blocks, write_index
from tablebase.tables.manifest import measure_file
from tablebase.tables.parquet import TableWriter
from tablebase.tables.store import Folder, Store

if TYPE_CHECKING:
    from tablebase.puzzle import Columns

SAMPLE_CHUNKS = 12
"""How much of a table is written to see how long that takes."""


class Plan(NamedTuple):
    """`seconds`: of one processor, in parts; `writing_seconds`: of one that writes what the parts
    found; `local_seconds`: as `seconds`, where this machine makes it; `error`: the standard error,
    as a share; `meanwhile`: bytes that parts leave for each other; `memory`: where this machine
    makes it."""

    tasks: int
    rows: float
    error: float
    bytes: float
    meanwhile: float
    memory: float
    seconds: float
    writing_seconds: float
    local_seconds: float


def make_plan(store: Store, listing: Listing, shard: ShardSpec | None, jobs: int = 1) -> Plan:
    """What is to be expected of a table, or of a piece of a list."""
    table, items = listing.table, None
    if shard is not None:
        items = parts(table).items[shard.number - 1 :: shard.total]
        if not items:
            return Plan(0, 0, 0, 0, 0, 0, 0, 0, 0)
    known = table.rows
    if known is None and shard is None:
        known = open_reader(listing.puzzle.name, store).count_listed_rows(table)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as threads:
        folder_store = Folder(Path(folder))
        sample = estimate(
            table, TaskRunner(threads, jobs, checkpoints=checkpoints(folder_store, table)), items
        )
        size, writing = _measure_write_cost(folder_store, table, sample)
    rows = fmean(sample.rows) if known is None else known
    seconds_per_row = sum(sample.seconds) / max(1, sum(sample.rows))
    index = (
        BLOCK_BYTES * count_blocks(calcsize(table.record_format), int(rows)) if table.index else 0
    )
    has_part_files = table.recipe.has_part_files  # each part writes a file
    seconds = rows * (seconds_per_row + writing * has_part_files)
    local_seconds, memory = seconds, 0.0
    if sample.single_run:
        memory, free = sample.single_run.memory, get_free_memory()
        if free is None or memory <= free:
            local_seconds = sample.single_run.seconds
    return Plan(
        sample.tasks,
        rows,
        _estimate_error(sample, known is not None),
        rows * size + index,
        rows * sample.temporary_bytes,
        memory,
        seconds,
        rows * writing * (not has_part_files),
        local_seconds,
    )


def _estimate_error(sample: CostSample, rows_known: bool) -> float:
    """The standard error of the rows, or, where these are known, of the seconds a row."""
    estimates = sample.rows
    if rows_known:
        estimates = [s / max(1, r) for s, r in zip(sample.seconds, sample.rows, strict=True)]
    if len(estimates) < 2 or not any(estimates):
        return 0
    return stdev(estimates) / sqrt(len(estimates)) / fmean(estimates)


def _measure_write_cost(store: Store, table: Table, sample: CostSample) -> tuple[float, float]:
    """Bytes of Parquet and processor seconds a row, as written here, with the index."""
    chunks, records = ([*islice(of or (), SAMPLE_CHUNKS)] for of in (sample.chunks, sample.records))
    names = dict.fromkeys([table.file, table.index_file if table.index else table.file])
    size = seconds = 0.0
    for chunk_count in (1, SAMPLE_CHUNKS):  # the first time more is done than later
        begun = time.thread_time()
        with store.write_atomically(*names) as files:
            with TableWriter(files[0] if table.columns else None, table) as writer:
                for columns in chunks[:chunk_count]:
                    writer.write(columns)
            if table.index:
                count = sum(map(_count_rows, records[:chunk_count]))
                write_index(files[-1], table, count, records[:chunk_count], writer.content)
        sizes = [measure_file(store, name)["bytes"] for name in names]
        rows = max(1, writer.rows)
        size, seconds = sizes[0] / rows, (time.thread_time() - begun) / rows
    return size if table.columns else 0, seconds


def _count_rows(columns: Columns) -> int:
    return len(next(iter(columns.values())))
