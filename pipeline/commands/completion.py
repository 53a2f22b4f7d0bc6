"""Shell completion: the values of options, and the tables that are published."""

from collections.abc import Callable

from typer import Context

from queries.dispatch import open_reader
from queries.query_options import FORMATS, INPUT_FORMATS
from tablebase.errors import TablebaseError
from tablebase.puzzles import list_names, list_puzzles
from tablebase.tables.store_factory import open_store

Completer = Callable[[Context], list[str]]


def complete_stages(context: Context) -> list[str]:
    """List the stages that the command line does not name yet."""
    return [name for name in list_names() if name not in (context.params.get("stages") or [])]


def complete_boards(context: Context) -> list[str]:
    """List the boards of the stages that the command line names, or of all."""
    names_given = context.params.get("stages") or context.params.get("name") or list_names()
    return [
        board
        for stage in list_puzzles()
        if stage.name in names_given
        for board in stage.list_boards()
    ]


def complete_goals(context: Context) -> list[str]:
    """List the values of --goals."""
    return ["all"]


def complete_removable_tables(context: Context) -> list[str]:
    """List the tables that can be removed, or nothing if the store cannot be read."""
    from pipeline.removal import list_removable

    try:
        return list_removable(open_store(context.params.get("outputs")))
    except TablebaseError:
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
