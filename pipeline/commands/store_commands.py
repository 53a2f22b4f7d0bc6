"""The commands on whole stores: their status, records, pages, comparison and cleaning."""

import json
import shutil
from dataclasses import replace
from typing import Annotated

import typer

from puzzle_tablebase.errors import BadRequest
from puzzle_tablebase.pipeline.commands.options import (
    Json,
    Outputs,
    Quiet,
    complete_boards,
    complete_published_tables,
    complete_removable_tables,
    complete_runs,
)
from puzzle_tablebase.pipeline.commands.text_tables import (
    format_diff,
    format_leftovers,
    format_run,
    format_runs,
    format_status,
)
from puzzle_tablebase.pipeline.terminal import (
    MAX_MESSAGE,
    escape_control,
    fit_terminal,
    print_answer,
    print_error,
    print_line,
)
from puzzle_tablebase.process import expand_path
from puzzle_tablebase.puzzles import MODULES, get_puzzle, list_puzzles_with_depths
from puzzle_tablebase.tables.access import open_store, require_listable
from puzzle_tablebase.tables.manifest import read_manifest
from puzzle_tablebase.tables.run_records import list_run_names, list_runs, read_run
from puzzle_tablebase.tables.store import Store

WITH_DEPTHS = [name for name in MODULES if get_puzzle(name).depth]
"""The built-in puzzles whose states have depths."""


def remove(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            help="Table or group to remove; `pipeline status` lists the tables.",
            autocompletion=complete_removable_tables,
        ),
    ],
    outputs: Outputs = None,
    quiet: Quiet = False,
) -> None:
    """Remove tables that were built on request."""
    from puzzle_tablebase.pipeline.build import remove_tables
    from puzzle_tablebase.pipeline.progress import BuildProgress
    from puzzle_tablebase.pipeline.selection import select_removable_tables

    store = open_store(outputs)
    removable = select_removable_tables(store, names)
    with BuildProgress(quiet=quiet) as progress:
        remove_tables(store, removable, progress)
    if not quiet:
        print_answer("".join(f"removed {name}\n" for name in sorted(removable)))


def status(outputs: Outputs = None, as_json: Json = False) -> None:
    """Show each table's size, version and state."""
    from puzzle_tablebase.queries.status import list_status as overview
    from puzzle_tablebase.queries.status import make_unusable_error

    store = open_store(outputs)
    rows = overview(store)
    print_answer(f"{json.dumps(rows)}\n" if as_json else format_status(rows))
    error = make_unusable_error(rows, store)
    if error:
        raise error


def histogram(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="|".join(WITH_DEPTHS),
            help="Puzzle to count, built in or from a plugin.",
            autocompletion=list_puzzles_with_depths,
        ),
    ] = None,
    board: Annotated[
        str | None,
        typer.Option(
            "--board",
            metavar="BOARD",
            help="Board whose states are counted (sliding).",
            autocompletion=complete_boards,
        ),
    ] = None,
    outputs: Outputs = None,
    as_json: Json = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            metavar="FILE",
            help="Write the numbers of all tables: .parquet, .csv, .jsonl.",
        ),
    ] = None,
) -> None:
    """Print the number of states at each distance, with bars."""
    from puzzle_tablebase.queries.histogram import count_states as counted
    from puzzle_tablebase.queries.histogram import format_bars

    if output is not None:
        given = {name: name, "--board": board, "--json": as_json}
        if others := [word for word, value in given.items() if word and value]:
            step = f"Leave out {', '.join(others)}"
            raise BadRequest("--output writes the numbers of all tables", step)
        _write_counts(open_store(outputs), output)
        return
    if name is None:
        problem = f"One of {', '.join(WITH_DEPTHS)} is missing"
        raise BadRequest(problem, "See: pipeline histogram --help")
    counts = counted(name, open_store(outputs), board)
    width = shutil.get_terminal_size().columns
    print_answer(f"{json.dumps(counts.to_dicts())}\n" if as_json else format_bars(counts, width))


def _write_counts(store: Store, output: str) -> None:
    """Write the number of states at each distance in all tables, in the format of the suffix."""
    from puzzle_tablebase.queries.batch import choose_output_format, open_row_writer
    from puzzle_tablebase.queries.histogram import list_counts

    output_format, counts = choose_output_format(output, None), list_counts(store)
    with open_row_writer(output, output_format) as write:
        write(counts)


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
    as_json: Json = False,
) -> None:
    """Verify the published tables, and say of each what was shown: proved, recounted, ..."""
    from puzzle_tablebase.pipeline.progress import ProofProgress
    from puzzle_tablebase.pipeline.selection import select_published_tables
    from puzzle_tablebase.pipeline.verify import VerifyFailed
    from puzzle_tablebase.pipeline.verify import verify as verify_store

    store = open_store(outputs)
    selected, missing = select_published_tables(names or [], store)
    with ProofProgress(
        None if as_json else print_line, every_claim=verbose, quick=quick
    ) as progress:
        try:
            verified = verify_store(
                store, selected, quick=quick, listener=progress, on_verdicts=progress.on_verdicts
            )
            if names:
                verified = replace(verified, unpublished=missing)
        except VerifyFailed as failure:
            if as_json:
                print_answer(f"{json.dumps({'failure': failure.to_dict()})}\n")
            raise
        answer = progress.finish(verified)
    if as_json:
        print_answer(f"{json.dumps(answer)}\n")


def runs(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="Run to show: its name, the beginning of it, or last.",
            autocompletion=complete_runs,
        ),
    ] = None,
    outputs: Outputs = None,
    as_json: Json = False,
) -> None:
    """List the last builds, or show what one of them did."""
    store = open_store(outputs)
    require_listable(store)
    if name is not None:
        run = read_run(store, name)
        if as_json:
            print_answer(f"{json.dumps(run.to_dict())}\n")
            return
        lines = (
            f"run       {run.name}",
            f"command   pipeline {' '.join(run.command)}",
            f"started   {run.started}",
            f"seconds   {run.seconds:.1f}",
            f"outcome   {': '.join(filter(None, (run.outcome, run.problem)))}",
            f"versions  {', '.join(f'{key} {value}' for key, value in run.versions.items())}",
            f"machine   {', '.join(f'{key} {value}' for key, value in run.machine.items())}",
        )
        text = "".join(f"{escape_control(line[:MAX_MESSAGE])}\n" for line in lines)
        print_answer(fit_terminal(text))
        print_answer(f"\n{format_run(run.tables, run.outcome)}")
        return
    known = [*list_runs(store)]
    if as_json:
        print_answer(f"{json.dumps([run.to_dict() for run in known])}\n")
    else:
        print_answer(format_runs(known))
    readable = {run.name for run in known}
    for unreadable in (other for other in list_run_names(store) if other not in readable):
        print_error(f"note: the run record {unreadable} cannot be read")


def report(
    outputs: Outputs = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="PATH", help="File for the page.")
    ] = None,
) -> None:
    """Write outputs/report.html, a page of charts made from the tables."""
    from puzzle_tablebase.output import STANDARD
    from puzzle_tablebase.queries.report import REPORT_PAGE, write_report

    store = open_store(outputs)
    target = store.locate(REPORT_PAGE) if output is None else expand_path(output)
    write_report(store, target)
    if target != STANDARD:
        print_answer(f"{target}\n")


def explore(
    outputs: Outputs = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="PATH", help="File for the page.")
    ] = None,
) -> None:
    """Write outputs/explorer.html, a page with the answers inside; it needs only a browser."""
    from puzzle_tablebase.output import STANDARD
    from puzzle_tablebase.queries.explorer.writer import EXPLORER_PAGE, write_explorer

    store = open_store(outputs)
    target = store.locate(EXPLORER_PAGE) if output is None else expand_path(output)
    write_explorer(store, target)
    if target != STANDARD:
        print_answer(f"{target}\n")


def site(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Folder to write: new, empty, or a site.")
    ],
    outputs: Outputs = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Do not prove the tables; the site says so.")
    ] = False,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Address that the site will have.")
    ] = "",
    date: Annotated[
        str, typer.Option("--date", metavar="YYYY-MM-DD", help="Day of publication.")
    ] = "",
) -> None:
    """Write a site for any host: tables, pages, a data set card; the tables are proved first."""
    from puzzle_tablebase.pipeline.progress import ProofProgress
    from puzzle_tablebase.pipeline.site.writer import find_target, require_date, write_site
    from puzzle_tablebase.pipeline.verify import verify as verify_store

    store = open_store(outputs)
    find_target(folder)
    require_date(date)
    with ProofProgress(None, quick=quick) as progress:
        tables = read_manifest(store)
        verified = verify_store(store, [*tables], quick=quick, listener=progress)
    for note in write_site(store, folder, tables, verified.verdicts, url=url, date=date):
        print_error(f"note: {note}")
    print_answer(f"{folder}\n")


def graph(outputs: Outputs = None, as_json: Json = False) -> None:
    """Print what is made from what, as a Mermaid flowchart: puzzles, recipes, tables and pages."""
    from puzzle_tablebase.pipeline.lineage import format_mermaid, make_lineage

    lineage = make_lineage(open_store(outputs))
    print_answer(f"{json.dumps(lineage.to_dict())}\n" if as_json else format_mermaid(lineage))


def diff(
    old: Annotated[str, typer.Argument(metavar="A", help="Folder or URL of tables.")],
    new: Annotated[str, typer.Argument(metavar="B", help="Folder or URL to compare with A.")],
    as_json: Json = False,
) -> None:
    """Compare the tables of two stores: which differ in rows, in content or only in bytes.

    Exit code: 0 if all have the same content, 1 if any differs, 3 if damaged.
    """
    from puzzle_tablebase.pipeline.comparison import compare_stores, make_difference_error

    comparisons = compare_stores(open_store(old), open_store(new))
    rows = [comparison.to_dict() for comparison in comparisons]
    print_answer(f"{json.dumps(rows)}\n" if as_json else format_diff(comparisons))
    if error := make_difference_error(comparisons):
        raise error


def clean(
    outputs: Outputs = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove what is listed.")] = False,
    as_json: Json = False,
) -> None:
    """List the files that unfinished builds left, with their sizes; remove them with --yes.

    Published tables are never listed. Builds resume from what is listed.
    """
    from puzzle_tablebase.pipeline.cleaning import format_advice, list_leftovers, remove_leftovers

    store = open_store(outputs)
    leftovers = remove_leftovers(store) if yes else list_leftovers(store)
    if as_json:
        print_answer(f"{json.dumps([leftover._asdict() for leftover in leftovers])}\n")
        return
    table = format_leftovers(leftovers) if leftovers else ""
    print_answer(f"{table}{format_advice(leftovers, store, removed=yes)}\n")
