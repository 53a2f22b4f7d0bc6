"""The commands that build tables, prove them and remove them."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from puzzle_tablebase.errors import BadRequest, quote
from puzzle_tablebase.pipeline.commands.options import (
    Jobs,
    Json,
    Memory,
    Outputs,
    Quiet,
    complete_published,
    complete_requests,
)
from puzzle_tablebase.pipeline.costs import Cost
from puzzle_tablebase.pipeline.kinds import estimate_cost
from puzzle_tablebase.pipeline.terminal import (
    AMOUNTS,
    format_duration,
    format_error,
    format_outputs,
    format_repair,
    format_rows,
    print_answer,
    print_error,
    print_json,
    print_line,
    print_rows,
)
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.queries.questions import format_count, format_flag
from puzzle_tablebase.registry import get_puzzle, is_registered, list_puzzles
from puzzle_tablebase.resources import limit_cores
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import MANIFEST, open_folder, open_store

if TYPE_CHECKING:
    from puzzle_tablebase.pipeline.proofs.claims import TableResult
    from puzzle_tablebase.pipeline.reporter import Reporter
    from puzzle_tablebase.pipeline.verify import Verified

FEW_BOARDS = 6
"""Maximum number of boards that a line names; of more, it gives the number."""


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
        puzzles = find_puzzles(names or [])
        if as_json:
            requests = [each for puzzle in puzzles for each in describe_requests(puzzle)]
            print_json(requests)
        else:
            print_answer("".join(map(format_requests, puzzles)))
        return
    from puzzle_tablebase.pipeline.build import build
    from puzzle_tablebase.pipeline.reporter import Reporter
    from puzzle_tablebase.pipeline.select import select_tables
    from puzzle_tablebase.pipeline.stale import list_jobs
    from puzzle_tablebase.pipeline.workers import open_workers

    store, tables = open_folder(outputs), select_tables(names or [])
    with Reporter(quiet=quiet) as reporter, open_workers(scheduler, jobs, memory) as workers:
        if dry_run:
            listed = list_jobs(store, tables, workers, print_error, force=force)
            rows = [
                {
                    "table": job.table.name,
                    "reason": job.reason,
                    "checkpoints": len(job.saved) or None,
                }
                | describe_cost(job.puzzle, [job.table], [job.cost])
                for job in listed
                if job.reason
            ]
        else:
            rows = [
                {"table": run.table, "reason": run.reason, **AMOUNTS, **entry.list_amounts()}
                | {"bytes": entry.total_bytes, "seconds": run.seconds}
                for run, entry in build(store, tables, workers, reporter, force=force)
            ]
    order, due = [table.name for _, table in tables], {row["table"] for row in rows}
    rows.sort(key=lambda row: order.index(row["table"]))
    up_to_date = [name for name in order if name not in due]
    if as_json:
        print_json({"tables": rows, "up_to_date": up_to_date})
    elif not quiet:
        print_rows(rows)
        if up_to_date:
            print_line(f"up to date: {', '.join(up_to_date)}")
        if rows and not dry_run:
            first, _ = tables[0]
            examples = [format_example(first, each) for puzzle, each in tables if puzzle is first]
            shortest = min(filter(None, examples), key=len, default="")
            following = f"query {shortest}" if shortest else "status"
            following += format_outputs(store.outputs)
            print_line(f"The tables are in {store}. Next: pipeline {following}")


def format_example(puzzle: Puzzle, table: Table) -> str:
    """Format the arguments of an example `pipeline query` for a table; "" if there is none."""
    given = puzzle.find_example(table.name)
    words = [str(given[name]) for name in given if name == "key"]
    for name, value in given.items():
        if name != "key":
            words.append(format_flag(name) if value is True else f"{format_flag(name)} {value}")
    return " ".join([puzzle.name, *words]) if words else ""


def find_puzzles(names: Sequence[str]) -> list[Puzzle]:
    """Find the puzzles of some names; all without names."""
    if unknown := [name for name in names if not is_registered(name)]:
        problem = f"There is no puzzle {quote(unknown[0])}"
        raise BadRequest(problem, "See: pipeline precompute --list")
    return [get_puzzle(name) for name in names] or list_puzzles()


def format_requests(puzzle: Puzzle) -> str:
    """Format the names of a puzzle that can be built, each with the cost of its tables."""
    text, requests = "", describe_requests(puzzle)
    for title in dict.fromkeys(request["group"] for request in requests):
        own = (request for request in requests if request["group"] == title)
        rows = [{name: row[name] for name in row if name not in ("puzzle", "group")} for row in own]
        text += f"{title}:\n\n{format_rows(rows)}\n"
    return text


def describe_requests(puzzle: Puzzle) -> list[dict[str, Any]]:
    """Describe the names of a puzzle that can be built as plain values, group by group."""
    defaults = {f"Built by {puzzle.name}": [table.name for table in puzzle.tables]}
    requests = []
    for group, names in (defaults | puzzle.list_requests()).items():
        for name in names:
            table = puzzle.find_table(name)  # a puzzle may have a table of its own name
            tables = [table] if table else puzzle.find_tables(name)
            request = {"puzzle": puzzle.name, "group": group, "name": name}
            requests.append({**request, **describe_cost(puzzle, tables)})
    return requests


def describe_cost(
    puzzle: Puzzle, tables: Sequence[Table], costs: Sequence[Cost] = ()
) -> dict[str, Any]:
    """Return the total sizes of some tables, and the cost of building them."""
    costs, has_rows = costs or [*map(estimate_cost, tables)], bool(tables[0].columns)
    amounts = {"rows" if has_rows else "records": sum(table.rows or 0 for table in tables)}
    if not has_rows and puzzle.has_counts(tables[0]):
        amounts["states"] = sum(table.states for table in tables)
    most = {
        "memory": max(cost.memory for cost in costs),
        "shards": max(cost.shards.total for cost in costs),
        "disk": max(cost.shards.disk for cost in costs),
    }
    return {
        **AMOUNTS,
        **{name: count or None for name, count in amounts.items()},
        "seconds": round(sum(cost.seconds for cost in costs), 3),
        "bytes": sum(cost.bytes for cost in costs),
        **{name: number or None for name, number in most.items()},
    }


# ---- removal ----------------------------------------------------------------------------------


def remove(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Table or group to remove; `pipeline status` lists the tables.",
            autocompletion=complete_published,
        ),
    ] = None,
    checkpoints: Annotated[
        bool, typer.Option("--checkpoints", help="Remove what unfinished builds saved, no table.")
    ] = False,
    outputs: Outputs = None,
    quiet: Quiet = False,
) -> None:
    """Remove tables that were built on request, or checkpoints."""
    from puzzle_tablebase.pipeline.publish import remove_checkpoints, remove_tables
    from puzzle_tablebase.pipeline.select import find_removable, find_request

    store, names = open_folder(outputs), names or []
    if checkpoints:
        tables = [table.name for name in names for table in find_request(name)[1]]
        with store.lock():
            removed = [f"{len(remove_checkpoints(store, tables or ['']))} checkpoints"]
    elif names:
        removed = sorted({table for name in names for table in find_removable(store, name)})
        remove_tables(store, removed)
    else:
        raise BadRequest("No table is named", "See: pipeline remove --help")
    if not quiet:
        print_answer("".join(f"removed {name}\n" for name in removed))


# ---- proofs -----------------------------------------------------------------------------------


def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Puzzles or tables to verify (default: all that are published).",
            autocompletion=complete_published,
        ),
    ] = None,
    outputs: Outputs = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only compare the files with the manifest.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print one line per claim.")] = False,
    jobs: Jobs = None,
    memory: Memory = None,
    scratch: Annotated[
        str | None,
        typer.Option(
            "--scratch", metavar="DIR", help="Folder for what exceeds memory (default: outputs)."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Verify the published tables, and print a verdict on each."""
    from puzzle_tablebase.pipeline.proofs.claims import VerifyFailed
    from puzzle_tablebase.pipeline.reporter import Reporter
    from puzzle_tablebase.pipeline.select import select_published
    from puzzle_tablebase.pipeline.verify import Room
    from puzzle_tablebase.pipeline.verify import verify as verify_tables

    store, began = open_store(outputs), time.monotonic()
    selected, missing = select_published(store, names or [])
    limit_cores(jobs)
    room = Room(memory, scratch)
    with Reporter() as reporter:
        say = (lambda line: None) if as_json else print_line
        printer = ProofPrinter(reporter, say, every_claim=verbose, quick=quick)
        try:
            verified = verify_tables(store, selected, quick=quick, observer=printer, room=room)
        except VerifyFailed as failure:
            if as_json:
                print_json({"failure": {**failure.to_dict(), "command": format_repair(failure)}})
            raise
    if names:
        verified = replace(verified, unpublished=missing)
    if as_json:
        print_json(describe_verified(verified))
    else:
        print_line(format_totals(verified, time.monotonic() - began, quick=quick))
    if verified.unpublished:
        unpublished = ", ".join(verified.unpublished)
        print_error(f"not published, so not verified: {unpublished}", mark="note: ")
    verified.require_no_trouble()


class ProofPrinter:
    """Observer of proofs that prints a line for each table, or for each claim."""

    def __init__(
        self,
        reporter: "Reporter",
        say: Callable[[str], None],
        *,
        every_claim: bool = False,
        quick: bool = False,
    ) -> None:
        self._say, self._every_claim, self._quick = say, every_claim, quick
        self.on_progress = reporter.update

    def on_claim(self, claim: Mapping[str, Any]) -> None:
        """Print that a claim holds, if every claim is wanted."""
        if self._every_claim:
            self._say(f"{claim['file']:<24}  {claim['claim']}  {format_claimed(claim)}")

    def on_result(self, result: "TableResult") -> None:
        """Print the verdicts on a table; boards with the same verdict share a line."""
        from puzzle_tablebase.pipeline.proofs.verdicts import Verdict, find_weakest, group_boards

        if not self._every_claim:
            files = [*dict.fromkeys(claim["file"] for claim in result.claims)] or [result.table]
            first, *others = [file for file in files if file != MANIFEST] or files
            name = ", ".join([first, *(Path(file).suffix for file in others)])
            amount = format_claimed(result.claims[0]) if result.claims and result.verdicts else ""
            claims = format_count(len(result.claims), "claim")
            cells = f"{name:<30}  {amount:>18}  {claims:>9}  {format_duration(result.seconds):>6}"
            self._say("  ".join([cells, *find_weakest(result.verdicts).values()]))
        by_plugin = any(each.by_plugin for each in result.verdicts)
        for verdict, how, boards in group_boards(result.verdicts):
            names = ", ".join(boards) if len(boards) <= FEW_BOARDS else f"{len(boards):,} boards"
            line = ": ".join(filter(None, (str(verdict), names, how)))
            if self._every_claim:
                self._say(f"{result.table}: {line}")
            elif not self._quick and (boards or by_plugin or verdict is not Verdict.PROVED):
                self._say(f"  {line}")
        if result.trouble:
            self._say(f"  no verdict: {format_error(result.trouble)}")


def format_claimed(claim: Mapping[str, Any]) -> str:
    """Format the subject of a claim: a number of rows, records or tables."""
    unit = next(unit for unit in ("rows", "records", "tables") if unit in claim)
    return f"{claim[unit]:,} {unit}"


def format_totals(verified: "Verified", seconds: float, *, quick: bool) -> str:
    """Format the number of tables with each verdict, of all claims, and the time."""
    from puzzle_tablebase.pipeline.proofs.verdicts import count_tables

    counts, troubles = count_tables(verified.verdicts), len(verified.troubles)
    words = [f"{count} {verdict}" for verdict, count in counts.items()]
    words += [f"{troubles} without a verdict"] if troubles else []
    tables = format_count(sum(counts.values()) + troubles, "table")
    claims = format_count(len(verified.claims), "claim")
    end = "; only the files were compared with the manifest" if quick else ""
    return f"{tables}: {', '.join(words)}; {claims}, {format_duration(seconds)}{end}"


def describe_verified(verified: "Verified") -> dict[str, object]:
    """Return the results of a verification as plain values."""
    return {
        "tables": [
            {**asdict(verdict), "seconds": round(result.seconds, 3)}
            for result in verified.results
            for verdict in result.verdicts
        ],
        "unpublished": verified.unpublished,
        "unverified": {
            result.table: format_error(result.trouble)
            for result in verified.results
            if result.trouble
        },
        "claims": verified.claims,
    }
