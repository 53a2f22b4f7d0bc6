"""Options of several commands, the parsing of their values, and their completion by the shell."""

import re
from collections.abc import Callable, Iterable
from typing import Annotated

import typer
from typer import Context

from puzzle_tablebase.errors import BadRequest, TablebaseError, quote
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.costs import PROCESS_BYTES
from puzzle_tablebase.pipeline.single_query import OUTPUTS
from puzzle_tablebase.puzzles import list_puzzles, list_puzzles_with_depths
from puzzle_tablebase.queries.answer import FORMATS, INPUT_FORMATS
from puzzle_tablebase.queries.dispatch import open_reader
from puzzle_tablebase.queries.options import parse_positive_number
from puzzle_tablebase.stores.access import open_store
from puzzle_tablebase.stores.folder import Store

Completer = Callable[[Context], list[str]]

Outputs = Annotated[
    str | None, typer.Option(OUTPUTS.flag, metavar=OUTPUTS.metavar, help=OUTPUTS.help)
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors.")]
Memory = Annotated[
    str | None,
    typer.Option("--memory", metavar="GB", help="Memory limit in GB (default: free memory)."),
]


def make_store_completer(list_names: Callable[[Store], Iterable[str]]) -> Completer:
    """Make the completer of names in a store that the command line does not have yet.

    There are none if the store cannot be read.
    """

    def complete(context: Context) -> list[str]:
        given = context.params.get("names") or []
        try:
            names = [*list_names(open_store(context.params.get("outputs")))]
        except (OSError, TablebaseError):
            return []
        return [name for name in names if name not in given]

    return complete


def list_removable(store: Store) -> list[str]:
    """List the published tables that are not default tables."""
    defaults = {table.name for puzzle in list_puzzles() for table in puzzle.tables}
    return sorted(read_manifest(store).keys() - defaults)


complete_published_tables = make_store_completer(read_manifest)
complete_removable_tables = make_store_completer(list_removable)


def complete_requests(context: Context) -> list[str]:
    """List the names that can be built and that the command line does not have yet."""
    from puzzle_tablebase.pipeline.jobs import list_requests  # slow to import

    given = context.params.get("names") or []
    names = [name for name in list_requests(list_puzzles()) if name not in given]
    return [*dict.fromkeys([*names, *complete_published_tables(context)])]


def complete_boards(context: Context) -> list[str]:
    """List the published boards of the puzzle that is named, if its states have depths."""
    name = context.params.get("name")
    completer = make_query_completer(name, "board") if name in list_puzzles_with_depths() else None
    return completer(context) if completer else []


def make_query_completer(puzzle: str, option: str) -> Completer | None:
    """Return the completer for an option of a query."""
    formats = {"format": [*FORMATS], "input_format": [*INPUT_FORMATS]}.get(option)

    def complete(context: Context) -> list[str]:
        if formats is not None:
            return formats
        try:
            reader = open_reader(puzzle, open_store(context.params.get("outputs")))
            return list(reader.list_values(option))
        except TablebaseError:
            return []

    return complete


def make_number_parser(flag: str, least: int, most: int | None = None) -> Callable[[object], int]:
    """Make the parser of an option's value, a whole number; `least` and `most` are allowed."""

    def parse_number(value: object) -> int:
        text = str(value).strip()
        number = int(text) if re.fullmatch(r"[0-9]{1,30}", text) else None
        if number is None or number < least or (most is not None and number > most):
            limits = f"from {least:,}" if most is None else f"from {least:,} to {most:,}"
            problem = f"{flag} needs a whole number {limits}, not {quote(text)}"
            raise BadRequest(problem, f"Example: {flag} {least}")
        return number

    return parse_number


def parse_memory(gigabytes: str | None) -> int | None:
    """Return the bytes that `--memory` allows, or None if it is not given."""
    if gigabytes is None:
        return None
    allowed = int(parse_positive_number(gigabytes, "--memory", "gigabytes", 16) * 1e9)
    if allowed < PROCESS_BYTES:  # the smallest tables reserve none, and could not obey
        least = f"{PROCESS_BYTES / 1e9:g}"
        problem = f"--memory {quote(gigabytes)} is too little: the program itself needs {least} GB"
        raise BadRequest(problem, f"Example: --memory {least}")
    return allowed


Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        parser=make_number_parser("--jobs", 1),
        help="Number of tasks in parallel.",
        show_default="all cores",
    ),
]
