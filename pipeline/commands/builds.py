"""The commands that build tables, prove them, remove them, and list past builds."""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import to_builtins

from puzzle_tablebase.errors import BadRequest, TablebaseError, TableMissing, quote
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.commands.options import (
    Jobs,
    Json,
    Memory,
    Outputs,
    Quiet,
    complete_published_tables,
    complete_removable_tables,
    complete_requests,
    list_removable,
    parse_memory,
)
from puzzle_tablebase.pipeline.costs import Cost
from puzzle_tablebase.pipeline.searches import estimate_cost
from puzzle_tablebase.pipeline.terminal import (
    format_amount,
    format_duration,
    format_size,
    format_table,
    print_answer,
    print_error,
    print_line,
)
from puzzle_tablebase.process import CleanupOnSignal
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles import get_puzzle, is_registered, list_puzzles
from puzzle_tablebase.queries.answer import format_count
from puzzle_tablebase.resources import limit_cores
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import MANIFEST
from puzzle_tablebase.stores.access import format_outputs, format_rebuild_command, open_store
from puzzle_tablebase.stores.folder import Store

if TYPE_CHECKING:
    from puzzle_tablebase.pipeline.jobs import Built, Job
    from puzzle_tablebase.pipeline.proofs import TableResult, Verified
    from puzzle_tablebase.pipeline.reporter import Reporter

COST_COLUMNS = ("rows", "CPU time", "size", "memory")
FEW_BOARDS = 6
"""Maximum number of boards that a line names; for more it has their number."""


# ---- builds -----------------------------------------------------------------------------------


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
    list_names: Annotated[
        bool,
        typer.Option("--list", help="List the names that can be built, of all puzzles or one."),
    ] = False,
    jobs: Jobs = None,
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
    if list_names:
        print_answer("".join(map(format_requests, find_puzzles(names or []))))
        return
    from puzzle_tablebase.pipeline.jobs import build, list_jobs, select_tables
    from puzzle_tablebase.pipeline.reporter import LINE_INTERVAL, Reporter
    from puzzle_tablebase.pipeline.tasks import open_tasks

    store, tables, limit = open_store(outputs), select_tables(names or []), parse_memory(memory)
    if dry_run:
        with open_tasks(scheduler, jobs, limit) as tasks:
            listed = [*list_jobs(store, tables, tasks, print_error, force=force)]
        print_jobs(listed, as_json=as_json)
        return
    if scheduler and not quiet:
        print_error(f"connecting to {scheduler}")
    with ExitStack() as stack:
        if not (quiet or force):
            stack.enter_context(CleanupOnSignal(note_interrupt))
        reporter = stack.enter_context(Reporter(quiet=quiet, interval=LINE_INTERVAL))
        tasks = stack.enter_context(open_tasks(scheduler, jobs, limit))
        built = build(store, tables, tasks, reporter, force=force)
    if as_json:
        print_line(json.dumps(describe_build(store, tables, built)))
    elif not quiet:
        print_build(store, tables, built)


def note_interrupt() -> None:
    """Say on standard error, when a signal ends a build, how to continue it."""
    # another thread may hold the lock of sys.stderr
    os.write(2, b"pipeline: interrupted; the same command continues\n")


def find_puzzles(names: Sequence[str]) -> list[Puzzle]:
    """Find the puzzles of some names; all without names."""
    if unknown := [name for name in names if not is_registered(name)]:
        raise BadRequest(
            f"There is no puzzle {quote(unknown[0])}", "See: pipeline precompute --list"
        )
    return [get_puzzle(name) for name in names] or list_puzzles()


def format_requests(puzzle: Puzzle) -> str:
    """Format the names of a puzzle that can be built, each with the cost of its tables."""
    lists: dict[str, dict[str, tuple[Table, ...]]] = {
        f"Built by {puzzle.name}": {table.name: (table,) for table in puzzle.tables}
    }
    for title, names in puzzle.list_requests().items():
        lists[title] = {name: puzzle.find_tables(name) for name in names}
    text = ""
    for title, tables_by_name in lists.items():
        rows = [
            (name, *format_cost(add_costs(tables), puzzle.find_unit(tables[0])))
            for name, tables in tables_by_name.items()
        ]
        text += f"{title}:\n\n{format_table(('name', *COST_COLUMNS), rows)}\n" if rows else ""
    return text


def add_costs(tables: Sequence[Table]) -> Cost | None:
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


def format_cost(cost: Cost | None, unit: str) -> tuple[str, str, str, str]:
    """Format the rows, or what else is counted, the time, bytes and memory of an estimate."""
    if cost is None:
        return "unknown", "", "", ""
    amount = format_amount({unit: cost.rows})
    return amount, format_duration(cost.seconds), format_size(cost.bytes), format_size(cost.memory)


def print_jobs(jobs: "Sequence[Job]", *, as_json: bool) -> None:
    """Print what a build would do: reasons, saved work, and cost."""
    due = [job for job in jobs if job.reason]
    up_to_date = [job.table.name for job in jobs if not job.reason]
    if as_json:
        plan = {"tables": [describe_job(job) for job in due], "up_to_date": up_to_date}
        print_line(json.dumps(plan))
        return
    rows = []
    for job in due:
        unit, cost, saved = job.puzzle.find_unit(job.table), job.cost, ""
        if cost and unit == "states":
            cost = cost._replace(rows=job.table.states)
        if job.saved:
            size = format_size(sum(job.saved.values()))
            saved = f"{format_count(len(job.saved), 'checkpoint')}, {size}"
        rows.append((job.table.name, job.reason, saved, *format_cost(cost, unit)))
    if rows:
        print_answer(format_table(("table", "reason", "resumes", *COST_COLUMNS), rows))
    if up_to_date:
        print_line(f"up to date: {', '.join(up_to_date)}")


def describe_job(job: "Job") -> dict[str, Any]:
    """Return a job as plain values."""
    unit, cost, estimate = job.puzzle.find_unit(job.table), job.cost, None
    if cost:
        amounts = {"rows" if unit == "rows" else "records": cost.rows}
        if unit == "states":
            amounts[unit] = job.table.states
        figures = {"seconds": round(cost.seconds, 3), "bytes": cost.bytes, "memory": cost.memory}
        estimate = {**amounts, **figures}
    saved = {"files": len(job.saved), "bytes": sum(job.saved.values())} if job.saved else None
    named = {"table": job.table.name, "puzzle": job.puzzle.name, "reason": job.reason}
    return {**named, "saved": saved, "estimate": estimate}


def list_up_to_date(tables: Sequence[tuple[Puzzle, Table]], built: "Sequence[Built]") -> list[str]:
    """List the tables that a build left as they were."""
    names = {run.table for run, _ in built}
    return [table.name for _, table in tables if table.name not in names]


def describe_build(
    store: Store, tables: Sequence[tuple[Puzzle, Table]], built: "Sequence[Built]"
) -> dict[str, Any]:
    """Return what was built as plain values."""
    described = [
        {
            "table": run.table,
            "reason": run.reason,
            **entry.list_amounts(),
            "bytes": entry.total_bytes,
            "seconds": run.seconds,
        }
        for run, entry in built
    ]
    up_to_date = list_up_to_date(tables, built)
    return {"tables": described, "up_to_date": up_to_date, "store": str(store)}


def print_build(
    store: Store, tables: Sequence[tuple[Puzzle, Table]], built: "Sequence[Built]"
) -> None:
    """Print the tables that were built, where they are, and what to type next."""
    up_to_date = list_up_to_date(tables, built)
    if not built:
        subject = f"All {len(up_to_date)} tables are" if len(up_to_date) > 1 else "The table is"
        print_line(f"{subject} up to date in {store}.")
        return
    rows = []
    for run, entry in sorted(built, key=lambda pair: pair[0].table):
        amounts, size = entry.list_amounts(), f"{entry.total_bytes:,}"
        rate = f"{[*amounts.values()][-1] / run.seconds:,.0f}" if run.seconds else ""
        cells = format_amount(amounts), size, f"{run.seconds:.2f}", rate
        rows.append((run.table, run.reason, *cells))
    columns = "table", "reason", "rows", "bytes", "seconds", "per second"
    print_answer(format_table(columns, rows))
    if up_to_date:
        print_line(f"up to date: {', '.join(up_to_date)}")
    examples = (
        f"pipeline query {example}"
        for puzzle, table in tables
        if table.name not in up_to_date and (example := puzzle.format_example(table.name))
    )
    following = next(examples, "pipeline status")
    print_line(f"The tables are in {store}. Next: {following}{format_outputs(str(store))}")


# ---- removal and log --------------------------------------------------------------------------


def remove(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Table or group to remove; `pipeline status` lists the tables.",
            autocompletion=complete_removable_tables,
        ),
    ] = None,
    checkpoints: Annotated[
        bool, typer.Option("--checkpoints", help="Remove what unfinished builds saved, no table.")
    ] = False,
    outputs: Outputs = None,
    quiet: Quiet = False,
) -> None:
    """Remove tables that were built on request, or checkpoints."""
    from puzzle_tablebase.pipeline.jobs import find_request
    from puzzle_tablebase.pipeline.publish import remove_checkpoints, remove_tables

    store, names = open_store(outputs), names or []
    if checkpoints:
        tables = [table.name for name in names for table in find_request(name)[1]]
        with store.lock():
            removed = [f"{len(remove_checkpoints(store, tables or ['']))} checkpoints"]
    elif names:
        selected = {table for name in names for table in find_removable(store, name)}
        remove_tables(store, selected)
        removed = sorted(selected)
    else:
        raise BadRequest("No table is named", "See: pipeline remove --help")
    if not quiet:
        print_answer("".join(f"removed {name}\n" for name in removed))


def find_removable(store: Store, name: str) -> list[str]:
    """Find the tables to remove that a name stands for: of a table, or of a group of them.

    A removal that was killed after the manifest was written is completed by removing again.
    """
    from puzzle_tablebase.pipeline.jobs import find_request
    from puzzle_tablebase.pipeline.publish import find_unlisted_files
    from puzzle_tablebase.stores.checkpoints import list_checkpoint_files

    published, removable = read_manifest(store), list_removable(store)
    try:
        tables = [table.name for table in find_request(name)[1]]
    except TablebaseError:  # a published table that no puzzle here knows has its own name
        tables = []
    defaults = {table.name for puzzle in list_puzzles() for table in puzzle.tables}
    if chosen := defaults.intersection(tables):
        problem = f"{min(chosen)} is a default table, which cannot be removed"
        raise BadRequest(problem, "Only tables built on request can be removed")
    present = [
        table
        for table in tables
        if table in published
        or find_unlisted_files(store, table)
        or list_checkpoint_files(store, table)
    ]
    present = present or [name] * (name in published)
    if not present:
        hint = f"Removable tables: {', '.join(removable)}"
        hint = hint if removable else "This folder has no removable tables"
        raise BadRequest(f"There is no table {quote(name)} to remove", hint)
    return present


def runs(outputs: Outputs = None, as_json: Json = False) -> None:
    """List the last tables that were built: when, why, at what cost, and the outcome."""
    from puzzle_tablebase.pipeline.runs import read_last_runs

    last = read_last_runs(open_store(outputs))
    if as_json:
        print_answer(f"{json.dumps(to_builtins(last))}\n")
        return
    rows = [
        (
            run.when,
            run.table,
            run.reason,
            f"{run.seconds:,.2f}",
            "" if run.peak_memory is None else format_size(run.peak_memory),
            run.outcome,
        )
        for run in last
    ]
    print_answer(format_table(("when", "table", "reason", "seconds", "memory", "outcome"), rows))


# ---- proofs -----------------------------------------------------------------------------------


def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Puzzles or tables to verify (default: all that are published).",
            autocompletion=complete_published_tables,
        ),
    ] = None,
    outputs: Outputs = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only compare the files with the manifest.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print one line per claim.")] = False,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Verify the published tables, and print a verdict on each."""
    from puzzle_tablebase.pipeline import proofs
    from puzzle_tablebase.pipeline.reporter import Reporter

    store, began = open_store(outputs), time.monotonic()
    selected, missing = select_published(store, names or [])
    limit_cores(jobs)
    with Reporter() as reporter:
        say = (lambda line: None) if as_json else print_line
        printer = ProofPrinter(reporter, say, every_claim=verbose, quick=quick)
        try:
            verified = proofs.verify(store, selected, quick=quick, observer=printer)
        except proofs.VerifyFailed as failure:
            if as_json:
                print_line(json.dumps({"failure": failure.to_dict()}))
            raise
    if names:
        verified = replace(verified, unpublished=missing)
    seconds = time.monotonic() - began
    if as_json:
        print_line(json.dumps(describe_verified(verified, seconds)))
    else:
        print_line(format_totals(verified, seconds, quick=quick))
    if verified.unpublished:
        unpublished = ", ".join(verified.unpublished)
        print_error(f"not published, so not verified: {unpublished}", mark="note: ")
    verified.require_no_trouble()


def select_published(store: Store, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Select the published tables that names stand for; also return those that are not published.

    A puzzle's name stands for its default tables and all others of it that are published. A
    published table that no puzzle knows is selected by its own name. Raise BadRequest for an
    unknown name, and TableMissing for one of whose tables none is published.
    """
    from puzzle_tablebase.pipeline.jobs import find_request

    published, selected, missing = read_manifest(store), list[str](), list[str]()
    for name in names:
        others = [name] if name in published else []
        if is_registered(name):
            others = [table for table in published if get_puzzle(name).find_table(table)]
        try:
            tables = [table.name for table in find_request(name)[1]]
        except BadRequest:
            if not others:
                raise
            tables = []
        present = [table for table in (*tables, *others) if table in published]
        if not present:
            raise TableMissing(store.locate(tables[0]), format_rebuild_command(name, store))
        selected += present
        missing += [table for table in tables if table not in published]
    return [*dict.fromkeys(selected)], [*dict.fromkeys(missing)]


class ProofPrinter:
    """Observer of proofs that says a line for each table, or for each claim, when it has it."""

    def __init__(
        self,
        reporter: "Reporter",
        say: Callable[[str], None],
        *,
        every_claim: bool = False,
        quick: bool = False,
    ) -> None:
        self._reporter, self._say = reporter, say
        self._every_claim, self._quick = every_claim, quick

    def on_progress(self, text: str, done: int, total: int) -> None:
        """Show how much of the current claim is compared."""
        self._reporter.update(text, done, total)

    def on_claim(self, claim: Mapping[str, Any]) -> None:
        """Say that a claim holds, if every one is wanted."""
        if self._every_claim:
            self._say(f"{claim['file']:<24}  {claim['claim']}  {format_claimed(claim)}")

    def on_result(self, result: "TableResult") -> None:
        """Say what was found of a table; boards with the same verdict share a line."""
        from puzzle_tablebase.pipeline.proofs.verdicts import Verdict, group_boards

        if not self._every_claim:
            self._say(format_result(result))
        for verdict, how, boards in group_boards(result.verdicts):
            names = ", ".join(boards) if len(boards) <= FEW_BOARDS else f"{len(boards):,} boards"
            line = ": ".join(filter(None, (str(verdict), names, how)))
            if self._every_claim:
                self._say(f"{result.table}: {line}")
            elif not self._quick and (boards or verdict is not Verdict.PROVED):
                self._say(f"  {line}")
        if result.trouble:
            self._say(f"  no verdict: {result.trouble}")


def format_result(result: "TableResult") -> str:
    """Format a table's line: its files, amount, claims, seconds and weakest verdict."""
    from puzzle_tablebase.pipeline.proofs.verdicts import find_weakest

    files = [*dict.fromkeys(claim["file"] for claim in result.claims)] or [result.table]
    own = [file for file in files if file != MANIFEST] or files
    name = ", ".join([own[0], *(Path(file).suffix for file in own[1:])])
    amount = format_claimed(result.claims[0]) if result.claims and result.verdicts else ""
    verdict = "".join(f"  {verdict}" for verdict in find_weakest(result.verdicts).values())
    claims, seconds = format_count(len(result.claims), "claim"), format_seconds(result.seconds)
    return f"{name:<30}  {amount:>18}  {claims:>9}  {seconds:>6}{verdict}"


def format_claimed(claim: Mapping[str, Any]) -> str:
    """Format what a claim is about: so many rows, records or tables."""
    unit = next(unit for unit in ("rows", "records", "tables") if unit in claim)
    return f"{claim[unit]:,} {unit}"


def format_seconds(seconds: float) -> str:
    """Format the time that a proof took."""
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def format_totals(verified: "Verified", seconds: float, *, quick: bool) -> str:
    """Format the number of tables with each verdict, of all claims, and the time."""
    from puzzle_tablebase.pipeline.proofs.verdicts import count_tables

    counts, troubles = count_tables(verified.verdicts), len(verified.troubles)
    words = [f"{count} {verdict}" for verdict, count in counts.items()]
    words += [f"{troubles} without a verdict"] if troubles else []
    tables = format_count(sum(counts.values()) + troubles, "table")
    claims = format_count(len(verified.claims), "claim")
    end = "; only the files were compared with the manifest" if quick else ""
    return f"{tables}: {', '.join(words)}; {claims}, {format_seconds(seconds)}{end}"


def describe_verified(verified: "Verified", seconds: float) -> dict[str, object]:
    """Return the results of a verification as plain values."""
    from puzzle_tablebase.pipeline.proofs.verdicts import count_tables

    counts = count_tables(verified.verdicts)
    described: dict[str, object] = {
        "tables": [
            {**asdict(verdict), "seconds": round(result.seconds, 3)}
            for result in verified.results
            for verdict in result.verdicts
        ],
        "totals": {
            "claims": len(verified.claims),
            "tables": sum(counts.values()),
            "seconds": round(seconds, 3),
            "verdicts": counts,
        },
        "unpublished": verified.unpublished,
        "claims": verified.claims,
    }
    unread = {each.table: str(each.trouble) for each in verified.results if each.trouble}
    return {**described, "unverified": unread} if unread else described
