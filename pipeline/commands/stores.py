"""The commands on whole stores: status, counts, pages and comparison."""

import os
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Annotated

import typer

from puzzle_tablebase.errors import BadRequest, NoAnswer, StoreEmpty, TableError
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.output import require_possible_output
from puzzle_tablebase.pipeline.commands.options import Json, Outputs, Quiet
from puzzle_tablebase.pipeline.terminal import (
    AMOUNTS,
    READ_ONLY,
    announcing,
    format_copies_note,
    format_rebuild,
    print_answer,
    print_error,
    print_json,
    print_line,
    print_rows,
)
from puzzle_tablebase.registry import (
    MODULES,
    find_owner,
    get_puzzle,
    list_puzzles,
    list_puzzles_with_depths,
)
from puzzle_tablebase.stores import MANIFEST, Address, Store, open_store

WITH_DEPTHS = [name for name in MODULES if get_puzzle(name).depth]
"""The built-in puzzles whose states have depths."""
PageFile = Annotated[
    str | None, typer.Option("--output", metavar="PATH", help="File for the page.")
]


def status(outputs: Outputs = None, as_json: Json = False) -> None:
    """Show each table's size, version and state."""
    from puzzle_tablebase.pipeline.stale import OTHER_CODE
    from puzzle_tablebase.queries.status import list_status

    store = open_store(outputs)
    rows = [
        {"table": "", "state": "", **AMOUNTS, "bytes": None, "made_by": None, **row}
        for row in list_status(store)
    ]
    unusable = [row for row in rows if row["state"] != "published"]
    for row in rows:
        code = row.pop("code", "")
        if row["state"] != "published":
            row["command"] = format_rebuild(row["table"], store.outputs)
        elif _is_of_other_code(row["table"], code):
            row["state"] = OTHER_CODE
    print_rows(rows, as_json=as_json)
    if unusable:
        states = Counter(row["state"] for row in unusable)
        summary = ", ".join(f"{count} {state}" for state, count in states.items())
        problem = f"{len(unusable)} of {len(rows)} tables cannot be used ({summary})."
        hint = _format_repairs(store, [row["table"] for row in unusable])
        raise TableError(f"{problem} {hint}", store, MANIFEST, None)


def _format_repairs(store: Store, tables: list[str]) -> str:
    """Return the commands that repair tables; a single one for all default tables."""
    defaults = {table.name for puzzle in list_puzzles() for table in puzzle.tables}
    names = dict.fromkeys("" if name in defaults and tables[1:] else name for name in tables)
    commands = filter(None, (format_rebuild(name, store.outputs) for name in names))
    command = " && ".join(commands)
    return f"Run: {command}" if command else READ_ONLY


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
    from puzzle_tablebase.queries.published import count_states, format_bars, list_counts

    store = open_store(outputs)
    if output is not None:
        given = {name: name, "--board": board, "--json": as_json}
        if others := [word for word, value in given.items() if word and value]:
            step = f"Leave out {', '.join(others)}"
            raise BadRequest("--output writes the numbers of all tables", step)
        from puzzle_tablebase.queries.batch import choose_output_format, open_row_writer

        output_format, rows = choose_output_format(output, None), list_counts(store)
        with open_row_writer(output, output_format) as write:
            write(rows)
        return
    if name is None:
        problem = f"A puzzle is needed: {', '.join(WITH_DEPTHS)}"
        raise BadRequest(problem, "Example: pipeline histogram eight")
    counts = count_states(name, store, board)
    if as_json:
        print_json(counts.to_dicts())
    else:
        print_answer(format_bars(counts))


def report(outputs: Outputs = None, output: PageFile = None) -> None:
    """Write outputs/report.html, a page of charts made from the tables."""
    from puzzle_tablebase.queries.report import REPORT_PAGE, write_report

    _write_page(write_report, REPORT_PAGE, outputs, output)


def explore(outputs: Outputs = None, output: PageFile = None) -> None:
    """Write outputs/explorer.html, a page to play and study, without a network."""
    from puzzle_tablebase.queries.explorer import EXPLORER_PAGE, write_explorer

    _write_page(write_explorer, EXPLORER_PAGE, outputs, output)


def _write_page(
    write: Callable[[Store, str], object], page: str, outputs: str | None, output: str | None
) -> None:
    """Write a page, and print its path, unless the page went to standard output."""
    store = open_store(outputs)
    target = store.locate(page) if output is None else os.path.expanduser(output)
    if output is not None:
        require_possible_output(output)
    with announcing("reading the tables for the page"):
        write(store, target)
    if target != "-":
        print_line(str(Address(target)))


def site(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Folder to write, new or empty.")],
    outputs: Outputs = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Do not prove the tables; the site says so.")
    ] = False,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="Address that the site will have.")
    ] = None,
    date: Annotated[
        datetime | None,
        typer.Option(
            "--date", metavar="YYYY-MM-DD", formats=["%Y-%m-%d"], help="Day of publication."
        ),
    ] = None,
) -> None:
    """Write a site for any host: proved tables, pages, a data set card."""
    from puzzle_tablebase.pipeline.commands.builds import ProofPrinter
    from puzzle_tablebase.pipeline.reporter import Reporter
    from puzzle_tablebase.pipeline.site import find_target, require_url, write_site
    from puzzle_tablebase.pipeline.verify import verify

    store = open_store(outputs)
    find_target(folder)
    if url is not None:
        require_url(url)
    tables = read_manifest(store)
    with Reporter() as reporter:
        printer = ProofPrinter(reporter, lambda line: None)
        verified = verify(store, [*tables], quick=quick, observer=printer)
    verified.require_no_trouble()
    day, verdicts = f"{date:%Y-%m-%d}" if date else "", verified.verdicts
    for note in write_site(store, folder, tables, verdicts, url=url or "", date=day):
        print_error(f"note: {note}")
    print_line(folder)


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="Folder or URL of tables.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Folder, or URL of a bucket.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Puzzles or tables to copy (default: all)."),
    ] = None,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Take over the bucket from a copy that was killed.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Copy published tables to a folder or a bucket; resume a killed copy."""
    from puzzle_tablebase.pipeline.copy import copy as copy_from
    from puzzle_tablebase.pipeline.copy_targets import open_target
    from puzzle_tablebase.pipeline.reporter import Reporter

    opened = open_target(target)
    with Reporter(quiet=quiet, in_bytes=True) as reporter:
        tell = partial(reporter.update, "copying", of=str(opened.store))
        done = copy_from(open_store(source), opened, names or [], tell, take_over=take_over)
    rows = [{"table": each.name, "bytes": each.bytes} for each in done if each.bytes]
    up_to_date = [each.name for each in done if not each.bytes]
    if as_json:
        print_json({"tables": rows, "up_to_date": up_to_date})
    elif not quiet:
        print_rows(rows)
        if up_to_date:
            print_line(f"up to date: {', '.join(up_to_date)}")
    foreign = [each.name for each in done if _is_of_other_code(each.name, each.entry.code)]
    if foreign and not quiet:
        print_error(format_copies_note(foreign, opened.store), mark="")


def _is_of_other_code(name: str, code: str) -> bool:
    """Return whether other code than this program's made a table of a known puzzle."""
    from puzzle_tablebase.pipeline.kinds import find_code

    owner = find_owner(name)
    table = owner and owner.find_table(name)
    return bool(owner and table and code != find_code(table, owner).digest)


def diff(
    old: Annotated[str, typer.Argument(metavar="A", help="Folder or URL of tables.")],
    new: Annotated[str, typer.Argument(metavar="B", help="Folder or URL to compare with A.")],
    as_json: Json = False,
) -> None:
    """List the tables whose content differs between two stores, or that only one has.

    Exit code: 0 if all are equal, 1 if any differs.
    """
    a, b = _read_contents(open_store(old)), _read_contents(open_store(new))
    names = sorted(a.keys() | b.keys())
    rows = [
        {
            "table": name,
            "difference": "content" if name in a and name in b else f"only in {'AB'[name in b]}",
        }
        for name in names
        if a.get(name) != b.get(name)
    ]
    print_rows(rows, as_json=as_json)
    if rows:
        tables = ", ".join(row["table"] for row in rows)
        raise NoAnswer(f"{len(rows)} of {len(names)} tables differ: {tables}.")


def _read_contents(store: Store) -> dict[str, str]:
    """Read the content hash of each published table; raise StoreEmpty if there are none."""
    entries = read_manifest(store)
    if not entries:
        raise StoreEmpty(store, MANIFEST)
    return {name: entry.content for name, entry in entries.items()}
