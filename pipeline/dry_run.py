"""Dry runs: what a build would do, why, from which checkpoints, and at what cost.

A dry run takes the same decisions as the build, by the same functions, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pipeline.build import read_published
from pipeline.build_request import UP_TO_DATE, Request, list_reasons
from pipeline.builders.registry import checkpoints, is_measurable
from pipeline.measurement import MeasuredCost, measure_cost
from pipeline.part_files import divide_table, find_finished_tasks
from pipeline.recovery import Recovery
from pipeline.shards import Listing
from queries.dispatch import open_reader
from tablebase.cost import PROCESS_BYTES, Cost
from tablebase.puzzle import Puzzle
from tablebase.schema import Table
from tablebase.table_errors import TableUnreadable
from tablebase.tables.checkpoints import ShardSpec
from tablebase.tables.manifest import Entry
from tablebase.tables.run_records import TableRun, find_table_run
from tablebase.tables.store import Store


class SavedWork(NamedTuple):
    """The checkpoints that an unfinished build left of a table, and that a build resumes from.

    `tasks`: how many tasks of a list are finished, and of how many; otherwise None.
    """

    files: int
    bytes: int
    tasks: tuple[int, int] | None = None


class PlannedTable(NamedTuple):
    """A table that the build would write.

    `cost` is None where nothing is known; `source` says where it comes from. `measured` has more
    figures, if they were measured.
    """

    puzzle: Puzzle
    table: Table
    reason: str
    saved: SavedWork | None
    cost: Cost | None
    source: str
    measured: MeasuredCost | None = None


class DryRun(NamedTuple):
    """The tables that a build would write, those that are up to date, and a recovery before it."""

    tables: list[PlannedTable]
    up_to_date: list[str]
    recovery: Recovery | None

    def to_dict(self) -> dict[str, Any]:
        """Return the dry run as plain values."""
        return {
            "tables": [_describe(planned) for planned in self.tables],
            "up_to_date": self.up_to_date,
            "recovered": sorted(self.recovery.tables) if self.recovery else [],
        }


def plan_build(request: Request, *, is_measured: bool = False) -> DryRun:
    """List the tables that a build would write, and those that are up to date."""
    published, recovery = read_published(request)
    planned, up_to_date = list[PlannedTable](), list[str]()
    for puzzle, table, reason in list_reasons(request, published):
        if reason == UP_TO_DATE:
            up_to_date.append(table.name)
            continue
        entry = published.get(table.name)
        saved = None if request.force else find_saved_work(request.store, table)
        planned.append(
            _estimate(request, Listing(puzzle, table), reason, saved, entry, is_measured)
        )
    return DryRun(planned, up_to_date, recovery)


def plan_shard(
    request: Request, listing: Listing, shard: ShardSpec, *, is_measured: bool = False
) -> PlannedTable:
    """Describe what building a shard of a list would do."""
    table = listing.table
    tasks = divide_table(request.store, table)
    numbers = range(len(tasks.items))[shard.number - 1 :: shard.total]
    finished = sum(1 for _ in find_finished_tasks(request.store, table, tasks, numbers))
    saved = SavedWork(finished, 0, (finished, len(numbers)))
    measured = measure_cost(request.store, listing, shard, request.jobs) if is_measured else None
    cost = _convert(measured) if measured else None
    source = "measured" if measured else ""
    return PlannedTable(listing.puzzle, table, f"shard {shard}", saved, cost, source, measured)


def find_saved_work(store: Store, table: Table) -> SavedWork | None:
    """Find the checkpoints that a build of a table would resume from."""
    files = checkpoints(store, table).list_files()
    if not files:
        return None
    return SavedWork(len(files), sum(map(store.get_size, files)))


def _estimate(
    request: Request,
    listing: Listing,
    reason: str,
    saved: SavedWork | None,
    entry: Entry | None,
    is_measured: bool,
) -> PlannedTable:
    """Estimate the cost of a table: measured on request, else from its last run or its recipe."""
    puzzle, table = listing
    if is_measured and is_measurable(table):
        measured = measure_cost(request.store, listing, None, request.jobs)
        cost = _convert(measured)
        return PlannedTable(puzzle, table, reason, saved, cost, "measured", measured)
    run = _find_last_run(request.store, table)
    if run is not None:
        return PlannedTable(puzzle, table, reason, saved, _convert_run(run), "last run")
    published: Mapping[str, Any] = {}
    if entry and not request.force:
        published = entry.parameters
    recipe_cost = table.recipe.estimate_cost(table, published)
    if table.recipe.is_divisible:
        rows = open_reader(puzzle.name, request.store).count_listed_rows(table)
        if rows is not None and recipe_cost is not None:
            recipe_cost = recipe_cost._replace(rows=rows)
    return PlannedTable(
        puzzle, table, reason, saved, recipe_cost, "recipe" if recipe_cost else "unknown"
    )


def find_expected_seconds(request: Request) -> dict[str, float]:
    """Return the seconds that each table of a request took when it was last built."""
    runs = (
        _find_last_run(request.store, table) for _, tables in request.tables for table in tables
    )
    return {run.table: run.seconds for run in runs if run and run.seconds is not None}


def _find_last_run(store: Store, table: Table) -> TableRun | None:
    """Find the last run that built a table; None if the records cannot be listed.

    A store that cannot be reached is reported by what is read next.
    """
    try:
        return find_table_run(store, table.name, table.recipe.list_parameters())
    except (OSError, TableUnreadable):
        return None


def _convert_run(run: TableRun) -> Cost:
    """Convert the figures of a run to those that every estimate has."""
    return Cost(
        run.rows or 0,
        run.processor_seconds or 0.0,
        run.bytes or 0,
        run.process_peak_memory or PROCESS_BYTES,
    )


def _convert(measured: MeasuredCost) -> Cost:
    """Convert a measured cost to the figures that every estimate has."""
    seconds = measured.local_seconds + measured.writing_seconds
    memory = PROCESS_BYTES + round(measured.memory)
    return Cost(round(measured.rows), seconds, round(measured.bytes), memory)


def _describe_cost(source: str, cost: Cost) -> dict[str, Any]:
    return {"source": source, **cost._asdict(), "seconds": round(cost.seconds, 3)}


def _describe(planned: PlannedTable) -> dict[str, Any]:
    """Return a planned table as plain values."""
    return {
        "table": planned.table.name,
        "stage": planned.puzzle.name,
        "reason": planned.reason,
        "saved": planned.saved._asdict() if planned.saved else None,
        "estimate": _describe_cost(planned.source, planned.cost) if planned.cost else None,
        "measured": planned.measured._asdict() if planned.measured else None,
    }
