"""The command `pipeline precompute`: its options, its help, and its output."""

import dataclasses
import json
import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from puzzle_tablebase.pipeline.commands.options import (
    JOBS,
    Jobs,
    Json,
    Memory,
    Outputs,
    Quiet,
    complete_requests,
    parse_memory,
)
from puzzle_tablebase.pipeline.costs import Cost
from puzzle_tablebase.pipeline.searches import estimate_cost
from puzzle_tablebase.pipeline.terminal import print_answer, print_error, print_line
from puzzle_tablebase.process import CleanupOnSignal
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles import get_puzzle, is_registered, list_names
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.access import format_outputs, open_store

if TYPE_CHECKING:
    from puzzle_tablebase.pipeline.plan import Request
    from puzzle_tablebase.pipeline.progress import BuildProgress


class PrecomputeCommand(TyperCommand):
    """The command `precompute`, whose help lists the names that can be built.

    Typer does not export the types of contexts and formatters.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Note the puzzles that are named, because `--help` ends the parsing before it has them."""
        ctx.obj = [word for word in args if word[:1] != "-" and is_registered(word)]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help; if puzzles are named, the names of theirs that can be built."""
        for name in ctx.obj or []:
            formatter.write(_format_requests(get_puzzle(name)))
        if not ctx.obj:
            super().format_help(ctx, formatter)
            formatter.write(f"\nPuzzles: {', '.join(list_names())}\n")
            formatter.write("Names of their tables: pipeline precompute PUZZLE --help\n")


def _format_requests(puzzle: Puzzle) -> str:
    """Format the names of a puzzle that can be built, each with the cost of its tables."""
    from puzzle_tablebase.pipeline.commands.text_tables import format_costs

    lists: dict[str, dict[str, tuple[Table, ...]]] = {
        f"Built by {puzzle.name}": {table.name: (table,) for table in puzzle.tables}
    }
    for title, names in puzzle.list_requests().items():
        lists[title] = {name: puzzle.find_tables(name) for name in names}
    text = ""
    for title, tables_by_name in lists.items():
        costs = {
            name: (_estimate_costs(tables), puzzle.find_unit(tables[0]))
            for name, tables in tables_by_name.items()
        }
        text += f"{title}:\n\n{format_costs(costs)}\n" if costs else ""
    return text


def _estimate_costs(tables: Sequence[Table]) -> Cost | None:
    """Estimate the cost of some tables together; None if it is unknown."""
    costs = [cost for table in tables if (cost := estimate_cost(table))]
    if not costs or len(costs) < len(tables):
        return None
    rows = [table.states or cost.rows for table, cost in zip(tables, costs, strict=True)]
    return Cost(
        sum(count for count in rows if count is not None) or None,
        sum(cost.seconds for cost in costs),
        sum(cost.bytes for cost in costs),
        max(cost.memory for cost in costs),
    )


class Invocation(NamedTuple):
    """A build's request, with what only the command line needs."""

    request: "Request"
    scheduler: str | None
    is_quiet: bool
    as_json: bool


def precompute(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Puzzles or tables to build (default: all default tables).",
            autocompletion=complete_requests,
        ),
    ] = None,
    outputs: Outputs = None,
    force: Annotated[bool, typer.Option("--force", help="Rebuild up-to-date tables too.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be built, why and at what cost.")
    ] = False,
    jobs: Jobs = JOBS,
    memory: Memory = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Run tasks on a Dask scheduler, for example tcp://10.0.0.1:8786.",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Build the tables that are missing or out of date."""
    from puzzle_tablebase.pipeline.plan import Request
    from puzzle_tablebase.pipeline.selection import select_tables
    from puzzle_tablebase.pipeline.tasks import open_executor

    tables = select_tables(names or [])
    request = Request(open_store(outputs), tables, force, jobs, memory=parse_memory(memory))
    run = Invocation(request, scheduler, quiet, as_json)
    if dry_run:
        with open_executor(scheduler, jobs):  # it is refused as the build would refuse it
            _print_dry_run(run)
    else:
        _build(run)


def _build(run: Invocation) -> None:
    """Build the tables, and print what was built."""
    from puzzle_tablebase.pipeline.build import build
    from puzzle_tablebase.pipeline.progress import BuildProgress
    from puzzle_tablebase.pipeline.tasks import open_executor

    request = run.request
    progress = BuildProgress(quiet=run.is_quiet)
    if run.scheduler and not run.is_quiet:
        print_error(f"connecting to {run.scheduler}")
    with (
        CleanupOnSignal(partial(_note_interrupt, run, progress)),
        progress,
        open_executor(run.scheduler, request.jobs) as (executor, at_once),
    ):
        build(dataclasses.replace(request, jobs=at_once), progress, executor)
    if run.as_json:
        print_line(json.dumps(_describe_build(run, progress)))
    elif not run.is_quiet:
        _print_build(run, progress)


def _note_interrupt(run: Invocation, progress: "BuildProgress") -> None:
    """Say on standard error, when a signal ends the build, what the same command resumes.

    A forced build resumes nothing.
    """
    from puzzle_tablebase.pipeline.plan import find_saved_work

    if run.is_quiet or run.request.force:
        return
    facts, built = list[str](), len(progress.built)
    if built:
        facts.append(f"{built} of {len(progress.planned)} tables built")
    if run.request.store.has_locks:  # a bucket may be out of reach, and a signal ends a build now
        saved = [
            table.name
            for puzzle, tables in run.request.tables
            for table in tables
            if find_saved_work(run.request.store, puzzle, table)
        ]
        facts += [f"saved in part: {', '.join(saved)}"] if saved else []
        other = "begins again: nothing was saved yet"
    else:
        other = "resumes from what was saved"
    note = f"resumes ({'; '.join(facts)})" if facts else other
    # another thread may hold the lock of sys.stderr
    os.write(2, f"pipeline: interrupted; the same command {note}\n".encode())


def _describe_build(run: Invocation, progress: "BuildProgress") -> dict[str, Any]:
    """Return what was built as plain values."""
    return {
        "tables": [
            {
                "table": built.table,
                "reason": built.reason,
                **built.entry.list_amounts(),
                "bytes": built.entry.total_bytes,
                "seconds": round(built.seconds, 3),
            }
            for built in progress.built.values()
        ],
        "up_to_date": progress.up_to_date,
        "store": str(run.request.store),
    }


def _print_build(run: Invocation, progress: "BuildProgress") -> None:
    """Print the tables that were built, where they are, and what to type next."""
    from puzzle_tablebase.pipeline.commands.text_tables import format_build

    store, up_to_date = run.request.store, progress.up_to_date
    if not progress.built:
        tables = f"All {len(up_to_date)} tables are" if len(up_to_date) > 1 else "The table is"
        print_line(f"{tables} up to date in {store}.")
        return
    print_answer(format_build(progress.built))
    if up_to_date:
        print_line(f"up to date: {', '.join(up_to_date)}")
    examples = [
        f"pipeline query {example}"
        for puzzle, tables in run.request.tables
        for table in tables
        if table.name in progress.built and (example := puzzle.format_example(table.name))
    ]
    following = examples[0] if examples else "pipeline status"
    print_line(f"The tables are in {store}. Next: {following}{format_outputs(str(store))}")


def _print_dry_run(run: Invocation) -> None:
    """Print what the same command without --dry-run does, and raise the error that it raises."""
    from puzzle_tablebase.pipeline.commands.text_tables import format_dry_run
    from puzzle_tablebase.pipeline.plan import plan_build

    plan = plan_build(run.request)
    if run.as_json:
        print_line(json.dumps(plan.to_dict()))
        return
    if plan.problem:
        print_error(f"note: {plan.problem}")
    if plan.tables:
        print_answer(format_dry_run(plan.tables))
    if plan.up_to_date:
        print_line(f"up to date: {', '.join(plan.up_to_date)}")
