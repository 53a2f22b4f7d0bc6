"""Lists in pieces, for batch systems: each process makes one, and one at the end publishes all.

A piece is a share of a list's parts, by turns. What it makes stays in the store, as a killed
build's parts do, so that pieces need no lock, may run at once, twice, and again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from pipeline.build import UP_TO_DATE, BuildObserver, explain_rebuild
from pipeline.builders.registry import checkpoints
from pipeline.part_files import divide_table, find_finished_tasks, is_repairable
from pipeline.tasks import TaskRunner
from tablebase.errors import BadRequest, StoreError, TablePartial, quote
from tablebase.puzzle import Puzzle, Table
from tablebase.tables.checkpoints import ShardSpec
from tablebase.tables.manifest import read_manifest
from tablebase.tables.repair import format_rebuild_command
from tablebase.tables.store import Store

MAX_SHARDS = 1_000_000
"""Pieces of a list."""


class Listing(NamedTuple):
    """A list of everything on a board, or another table of one."""

    puzzle: Puzzle
    table: Table

    @property
    def stage(self) -> str:
        return f"{self.puzzle.name} --board {self.table.recipe.list_parameters()['board']}"


class ShardSummary(NamedTuple):
    """What is done of a list."""

    tasks: int
    rows: int
    seconds: float


def find_listings(
    option: str, stages: Sequence[Puzzle], boards: list[str], *, plannable: bool = False
) -> list[Listing]:
    """The lists of these boards, or all that can be planned; BadRequest where there are none."""
    listings = [
        Listing(stage, table)
        for stage in stages
        for table in (
            stage.list_plannable_tables(boards)
            if plannable
            else stage.list_shardable_tables(boards)
        )
    ]
    if not listings:
        what = "boards" if plannable else "lists"
        raise BadRequest(
            f"{option} needs --board and a stage with {what}", "Example: knight --board 7x7"
        )
    return listings


def require_shards(tables: Sequence[tuple[Puzzle, Sequence[Table]]]) -> None:
    """BadRequest for lists that one process alone would be days at."""
    for _, wanted in tables:
        for table in wanted:
            if table.recipe.has_part_files:
                board = table.recipe.list_parameters()["board"]
                hint = f"Add --shard 1/1000 and so on to --board {board}, or --scheduler"
                raise BadRequest(f"{table.name} is too large for one process", hint)


def parse_shard(text: str) -> ShardSpec:
    """A piece as written.

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
    """Make what is not there of a piece; it can be done again, and by several at once."""
    begun, table = time.monotonic(), listing.table
    store.make_ready()
    kept = checkpoints(store, table)
    for other in kept.list_shards():
        if other.total != shard.total:
            problem = (
                f"{table.name} is built in {other.total:,} shards here, not in {shard.total:,}"
            )
            raise BadRequest(
                problem, f"Choose one of 1/{other.total} to {other.total}/{other.total}"
            )
    part, items, rows_of = divided = divide_table(store, table)
    numbers = range(len(items))[shard.number - 1 :: shard.total]
    for _ in find_finished_tasks(store, table, divided, numbers, forget_missing=True):
        pass
    observer.on_table(table, f"shard {shard}")
    with ThreadPoolExecutor(jobs) as threads:
        tell = partial(observer.on_step, table.name)
        runner = TaskRunner(executor or threads, jobs, tell, kept, is_remote=True)
        rows = 0
        try:
            for done, result in enumerate(
                runner.run_tasks(part, [items[at] for at in numbers]), start=1
            ):
                rows += rows_of(result)
                runner.report_progress("parts", done, len(numbers))
        except StoreError:
            # whoever published the whole table meanwhile has cleared its parts away
            if (
                explain_rebuild(store, read_manifest(store).get(table.name), table, force=False)
                != UP_TO_DATE
            ):
                raise
    kept.mark_shard_done(shard)
    return ShardSummary(len(numbers), rows, time.monotonic() - begun)


def require_complete(store: Store, listing: Listing) -> None:
    """TablePartial where parts of a list are missing that is not published."""
    table = listing.table
    entry = read_manifest(store).get(table.name)
    if (
        is_repairable(table, entry)
        or explain_rebuild(store, entry, table, force=False) == UP_TO_DATE
    ):
        return
    divided = divide_table(store, table)
    every = range(len(divided.items))
    missing = sorted(
        {*every} - {number for number, _ in find_finished_tasks(store, table, divided, every)}
    )
    shards = checkpoints(store, table).list_shards()
    if not missing:
        return
    count = shards[0].total if shards else MAX_SHARDS
    numbers = sorted({part % count + 1 for part in missing})
    problem = f"shards {_format_ranges(numbers)} of {count:,}" if shards else "all shards"
    command = format_rebuild_command(
        f"{listing.stage} --shard {numbers[0]}/{count if shards else 100}", store
    )
    raise TablePartial(table.name, f"{problem} are missing", command)


def _format_ranges(numbers: list[int]) -> str:
    """Ascending numbers in words.

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
