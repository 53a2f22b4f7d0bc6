"""Measured costs: the rows, bytes and time of a table, or of a shard of a list, before it is built.

The number of rows is taken from published tables (of counts, for example) if they have it.
Otherwise some branches of the search are followed, several times, and the error is computed from
the spread of the estimates. Where the rows are known, the error is that of the times. Times are
measured on this machine.
"""

from __future__ import annotations

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, NamedTuple

from pipeline.build_context import BuildContext
from pipeline.builders.registry import checkpoints, estimate, parts
from pipeline.shards import Listing
from pipeline.tasks import CostSample, TaskRunner
from queries.dispatch import open_reader
from tablebase.resources import get_free_memory
from tablebase.schema import Table
from tablebase.tables.checkpoints import ShardSpec
from tablebase.tables.index_format import compute_index_bytes, write_index
from tablebase.tables.manifest import measure_file
from tablebase.tables.parquet import TableWriter
from tablebase.tables.store import Folder, Store

if TYPE_CHECKING:
    from tablebase.puzzle import Columns

SAMPLE_CHUNKS = 12
"""Chunks of a table that are written to measure the time of writing."""


class MeasuredCost(NamedTuple):
    """The expected cost of a table or a shard.

    `seconds`: processor time of all tasks; `writing_seconds`: processor time to write the tasks'
    results to the table; `local_seconds`: as `seconds`, if this machine builds it alone; `error`:
    the standard error as a fraction; `temporary_bytes`: bytes in the store, which tasks write
    for each other; `memory`: bytes, if this machine builds it alone.
    """

    tasks: int
    rows: float
    error: float
    bytes: float
    temporary_bytes: float
    memory: float
    seconds: float
    writing_seconds: float
    local_seconds: float


def measure_cost(
    store: Store, listing: Listing, shard: ShardSpec | None, jobs: int = 1
) -> MeasuredCost:
    """Measure the cost of a table, or of a shard of a list."""
    table, items = listing.table, None
    if shard is not None:
        items = parts(table).items[shard.number - 1 :: shard.total]
        if not items:
            return MeasuredCost(0, 0, 0, 0, 0, 0, 0, 0, 0)
    known = table.rows
    if known is None and shard is None:
        known = open_reader(listing.puzzle.name, store).count_listed_rows(table)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as threads:
        folder_store = Folder(Path(folder))
        sample = estimate(
            table,
            BuildContext(
                TaskRunner(threads, jobs, checkpoints=checkpoints(folder_store, table)),
                folder_store,
            ),
            items,
        )
        size, writing = _measure_write_cost(folder_store, table, sample)
    rows = fmean(sample.rows) if known is None else known
    seconds_per_row = sum(sample.seconds) / max(1, sum(sample.rows))
    index = compute_index_bytes(table, int(rows))
    has_part_files = table.recipe.has_part_files  # each task writes its own rows
    seconds = rows * (seconds_per_row + writing * has_part_files)
    local_seconds, memory = seconds, 0.0
    if sample.single_run:
        memory, free = sample.single_run.memory, get_free_memory()
        if free is None or memory <= free:
            local_seconds = sample.single_run.seconds
    return MeasuredCost(
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
    """Return the relative standard error of the rows or, if these are known, of the time a row."""
    estimates = sample.rows
    if rows_known:
        estimates = [s / max(1, r) for s, r in zip(sample.seconds, sample.rows, strict=True)]
    if len(estimates) < 2 or not any(estimates):
        return 0
    return stdev(estimates) / sqrt(len(estimates)) / fmean(estimates)


def _measure_write_cost(store: Store, table: Table, sample: CostSample) -> tuple[float, float]:
    """Write a sample and return the bytes of Parquet and the processor seconds for each row.

    The seconds include writing the index.
    """
    chunks, records = (
        [*islice(source or (), SAMPLE_CHUNKS)] for source in (sample.chunks, sample.records)
    )
    names = dict.fromkeys([table.file, table.index_file if table.index else table.file])
    size = seconds = 0.0
    for chunk_count in (1, SAMPLE_CHUNKS):  # the first pass warms up; only the second one counts
        start_time = time.thread_time()
        with store.write_atomically(*names) as files:
            with TableWriter(files[0] if table.columns else None, table) as writer:
                for columns in chunks[:chunk_count]:
                    writer.write(columns)
            if table.index:
                count = sum(map(_count_rows, records[:chunk_count]))
                write_index(files[-1], table, count, records[:chunk_count], writer.content)
        sizes = [measure_file(store, name)["bytes"] for name in names]
        rows = max(1, writer.rows)
        size, seconds = sizes[0] / rows, (time.thread_time() - start_time) / rows
    return size if table.columns else 0, seconds


def _count_rows(columns: Columns) -> int:
    return len(next(iter(columns.values())))
