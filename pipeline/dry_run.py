"""Dry runs: what a build would do, why, from which checkpoints, and at what cost.

A dry run takes the same decisions as the build, by the same functions, and writes nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pipeline.build import Request, list_reasons, read_published
from pipeline.builders import checkpoints
from pipeline.progress import UP_TO_DATE
from pipeline.recovery import Recovery
from tablebase.cost import PROCESS_BYTES, RATES_DATE, Cost, estimate_cost
from tablebase.errors import TableUnreadable
from tablebase.puzzle import Puzzle
from tablebase.schema import Table
from tablebase.tables.hash_notes import HashNotes
from tablebase.tables.run_records import TableRun, find_table_run
from tablebase.tables.store import Store


class SavedWork(NamedTuple):
    """The checkpoints that an unfinished build left of a table, and that a build resumes from."""

    files: int
    bytes: int


class PlannedTable(NamedTuple):
    """A table that the build would write.

    `cost` is None where nothing is known; `source` says where it comes from.
    """

    puzzle: Puzzle
    table: Table
    reason: str
    saved: SavedWork | None
    cost: Cost | None
    source: str


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


def plan_build(request: Request) -> DryRun:
    """List the tables that a build would write, and those that are up to date."""
    published, recovery = read_published(request)
    planned, up_to_date = list[PlannedTable](), list[str]()
    for puzzle, table, reason in list_reasons(request, published, HashNotes(request.store)):
        if reason == UP_TO_DATE:
            up_to_date.append(table.name)
            continue
        saved = None if request.force else find_saved_work(request.store, table)
        cost, source = _estimate_cost(request.store, table)
        planned.append(PlannedTable(puzzle, table, reason, saved, cost, source))
    return DryRun(planned, up_to_date, recovery)


def find_saved_work(store: Store, table: Table) -> SavedWork | None:
    """Find the checkpoints that a build of a table would resume from."""
    files = checkpoints(store, table).list_files()
    if not files:
        return None
    return SavedWork(len(files), sum(map(store.get_size, files)))


def _estimate_cost(store: Store, table: Table) -> tuple[Cost | None, str]:
    """Estimate the cost of a table from its last run, or from its recipe; say which it was."""
    run = _find_last_run(store, table)
    if run is not None:
        return _convert_run(run), "last run"
    cost = estimate_cost(table)
    return cost, f"rates of {RATES_DATE}" if cost else "unknown"


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
        run.records if run.rows is None else run.rows,
        run.processor_seconds or 0.0,
        run.bytes or 0,
        run.process_peak_memory or PROCESS_BYTES,
    )


def _describe_cost(planned: PlannedTable, cost: Cost) -> dict[str, Any]:
    unit = planned.puzzle.find_unit(planned.table)
    amounts = {"rows" if unit == "rows" else "records": cost.rows}
    if unit == "states":
        amounts[unit] = planned.table.states
    figures = {"seconds": round(cost.seconds, 3), "bytes": cost.bytes, "memory": cost.memory}
    return {"source": planned.source, **amounts, **figures}


def _describe(planned: PlannedTable) -> dict[str, Any]:
    """Return a planned table as plain values."""
    return {
        "table": planned.table.name,
        "stage": planned.puzzle.name,
        "reason": planned.reason,
        "saved": planned.saved._asdict() if planned.saved else None,
        "estimate": _describe_cost(planned, planned.cost) if planned.cost else None,
    }
