"""Shell completion: the values of options, and the tables that are published."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from typer import Context

from queries.dispatch import open_reader
from queries.format_names import FORMATS, INPUT_FORMATS
from tablebase.errors import TablebaseError
from tablebase.puzzles import list_names, list_puzzles, list_puzzles_with_depths
from tablebase.tables.access import open_store
from tablebase.tables.manifest import read_manifest
from tablebase.tables.run_records import list_run_names

Completer = Callable[[Context], list[str]]


def complete_requests(context: Context) -> list[str]:
    """List the names that can be built and that the command line does not have yet."""
    from pipeline.selection import list_requests

    names = list_requests(list_puzzles())
    with suppress(TablebaseError):
        names += read_manifest(open_store(context.params.get("outputs")))
    given = context.params.get("names") or []
    return [name for name in dict.fromkeys(names) if name not in given]


def complete_commands(context: Context) -> list[str]:
    """List the commands, or those below the command that is named already."""
    group: Any = context.find_root().command
    for word in context.params.get("words") or []:
        group = find_subcommand(group, word)
    return group.list_commands(context) if hasattr(group, "list_commands") else []


def find_subcommand(group: Any, word: str) -> Any:
    """Find the command of that name in a group; None if there is none, or no group."""
    return group.get_command(None, word) if hasattr(group, "get_command") else None


def complete_puzzles(context: Context) -> list[str]:
    """List the puzzles."""
    return list_names()


def complete_boards(context: Context) -> list[str]:
    """List the published boards of the puzzle that is named, if its states have depths."""
    name = context.params.get("name")
    completer = make_query_completer(name, "board") if name in list_puzzles_with_depths() else None
    return completer(context) if completer else []


def complete_removable_tables(context: Context) -> list[str]:
    """List the tables that can be removed, or nothing if the store cannot be read."""
    from pipeline.removal import list_removable

    try:
        return list_removable(open_store(context.params.get("outputs")))
    except TablebaseError:
        return []


def complete_runs(context: Context) -> list[str]:
    """List the names of the run records, or nothing if the store cannot be read."""
    try:
        return ["last", *list_run_names(open_store(context.params.get("outputs")))]
    except (OSError, TablebaseError):
        return []


def complete_page_formats(context: Context) -> list[str]:
    """List the formats of a report."""
    from queries.report.writer import PAGE_FORMATS

    return list(PAGE_FORMATS)


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
