"""Shards of lists, for batch systems: each process builds one, and a last process publishes all.

Shard I of N has every N-th task of the list, from the I-th on. Its results are checkpoints in the
store, like those of a killed build. So shards need no lock: they may run at the same time, and the
same shard more than once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from pipeline.build import BuildObserver, Clock
from pipeline.build_request import UP_TO_DATE, explain_rebuild
from pipeline.builders.registry import checkpoints
from pipeline.part_files import divide_table, find_finished_tasks, is_repairable
from pipeline.tasks import TaskRunner
from tablebase.build_errors import StoreError
from tablebase.errors import BadRequest, quote
from tablebase.puzzle import Puzzle
from tablebase.schema import Table
from tablebase.table_errors import TablePartial
from tablebase.tables.checkpoints import ShardSpec
from tablebase.tables.manifest import read_manifest
from tablebase.tables.repair import format_rebuild_command
from tablebase.tables.store import Store

MAX_SHARDS = 1_000_000
"""Maximum number of shards of a list."""


class Listing(NamedTuple):
    """A table of a board, such as the list of all its tours, and its puzzle."""

    puzzle: Puzzle
    table: Table


class ShardSummary(NamedTuple):
    """The finished work on a shard: its tasks, rows and seconds."""

    tasks: int
    rows: int
    seconds: float


def require_lists(option: str, listings: Sequence[Listing]) -> Sequence[Listing]:
    """Return the requested tables if they are lists; raise BadRequest otherwise."""
    if not listings:
        raise BadRequest(f"{option} needs a list", f"Example: knight --board 7x7 {option}")
    for listing in listings:
        if not listing.table.recipe.is_divisible:
            problem = f"{option} does not apply to {listing.table.name}: it is no list"
            raise BadRequest(problem, "Build it by a command of its own")
    return listings


def require_shards(tables: Sequence[tuple[Puzzle, Sequence[Table]]]) -> None:
    """Raise BadRequest for a list that one process alone would need days to build."""
    for _, puzzle_tables in tables:
        for table in puzzle_tables:
            if table.recipe.has_part_files:
                hint = "Add --shard 1/1000 and so on, or --scheduler"
                raise BadRequest(f"{table.name} is too large for one process", hint)


def parse_shard(text: str) -> ShardSpec:
    """Parse a shard written as I/N.

    >>> parse_shard("3/100")
    ShardSpec(number=3, total=100)
    """
    match = re.fullmatch(r"([0-9]{1,7})/([0-9]{1,7})", text.strip())
    shard = ShardSpec(*map(int, match.groups())) if match else ShardSpec(0, 0)
    if not 1 <= shard.number <= shard.total <= MAX_SHARDS:
        hint = f"Example: 3/100 is the third of 100; there are at most {MAX_SHARDS:,}"
        raise BadRequest(f"{quote(text)} is not a valid shard", hint)
    return shard


def build_shard(
    store: Store,
    listing: Listing,
    shard: ShardSpec,
    observer: BuildObserver,
    executor: Executor | None,
    jobs: int,
) -> ShardSummary:
    """Run the tasks of a shard that are not finished; this may be repeated, also in parallel."""
    table, clock = listing.table, Clock()
    store.make_ready()
    table_checkpoints = checkpoints(store, table)
    for other in table_checkpoints.list_shards():
        if other.total != shard.total:
            problem = (
                f"{table.name} is built in {other.total:,} shards here, not in {shard.total:,}"
            )
            raise BadRequest(
                problem, f"Choose one of 1/{other.total} to {other.total}/{other.total}"
            )
    function, items, count_rows = tasks = divide_table(store, table)
    numbers = range(len(items))[shard.number - 1 :: shard.total]
    for _ in find_finished_tasks(store, table, tasks, numbers, forget_missing=True):
        pass
    observer.on_table(table, f"shard {shard}")
    with table_checkpoints.mark_shard(shard), ThreadPoolExecutor(jobs) as threads:
        on_progress = partial(observer.on_step, table.name)
        runner = TaskRunner(
            executor or threads,
            jobs,
            on_progress,
            table_checkpoints,
            is_remote=True,
            usage=clock.usage,
        )
        rows = 0
        try:
            for done, result in enumerate(
                runner.run_tasks(function, [items[index] for index in numbers]), start=1
            ):
                rows += count_rows(result)
                runner.report_progress("tasks", done, len(numbers))
        except BaseException as error:
            # if another process published the whole table meanwhile, it removed its checkpoints
            if not isinstance(error, StoreError) or not _is_published(store, table):
                observer.on_failure(table, clock.read())
                raise
    statistics = clock.read()
    observer.on_shard_built(table, rows, statistics)
    return ShardSummary(len(numbers), rows, statistics.seconds)


def _is_published(store: Store, table: Table) -> bool:
    entry = read_manifest(store).get(table.name)
    return explain_rebuild(store, entry, table, force=False) == UP_TO_DATE


def require_complete(store: Store, listing: Listing) -> None:
    """Raise TablePartial if a list is not published and some of its tasks are not finished."""
    table = listing.table
    entry = read_manifest(store).get(table.name)
    if (
        is_repairable(table, entry)
        or explain_rebuild(store, entry, table, force=False) == UP_TO_DATE
    ):
        return
    tasks = divide_table(store, table)
    numbers = range(len(tasks.items))
    missing = sorted(
        {*numbers} - {number for number, _ in find_finished_tasks(store, table, tasks, numbers)}
    )
    shards = checkpoints(store, table).list_shards()
    if not missing:
        return
    count = shards[0].total if shards else MAX_SHARDS
    shard_numbers = sorted({task % count + 1 for task in missing})
    problem = f"shards {_format_ranges(shard_numbers)} of {count:,}" if shards else "all shards"
    command = format_rebuild_command(
        f"{table.name} --shard {shard_numbers[0]}/{count if shards else 100}", store
    )
    raise TablePartial(table.name, f"{problem} are missing", command)


def _format_ranges(numbers: list[int]) -> str:
    """Format ascending numbers as ranges.

    >>> _format_ranges([3, 5, 6, 7, 9])
    '3, 5-7, 9'
    """

    def iter_ranges() -> Iterator[str]:
        first = numbers[0]
        for last, after in zip(numbers, [*numbers[1:], 0], strict=True):
            if after != last + 1:
                yield str(first) if first == last else f"{first}-{last}"
                first = after

    return ", ".join(iter_ranges())
