"""What the shell offers for a word that is not finished: what can be asked, and what is there."""

from collections.abc import Callable

from typer import Context

from queries.dispatch import reader
from queries.query_options import FORMATS, INPUT_FORMATS
from tablebase.errors import TablebaseError
from tablebase.puzzles import names, puzzles
from tablebase.tables.store_factory import tables_store

Offered = Callable[[Context], list[str]]


def stages(context: Context) -> list[str]:
    """Those that are not named yet."""
    return [name for name in names() if name not in (context.params.get("stages") or [])]


def boards(context: Context) -> list[str]:
    named = context.params.get("stages") or context.params.get("name") or names()
    return [board for stage in puzzles() if stage.name in named for board in stage.boards()]


def every_goal(context: Context) -> list[str]:
    return ["all"]


def removable_tables(context: Context) -> list[str]:
    from pipeline.removal import removable

    try:
        return removable(tables_store(context.params.get("outputs")))
    except TablebaseError:
        return []


def page_formats(context: Context) -> list[str]:
    from queries.report.writer import PAGE_FORMATS

    return list(PAGE_FORMATS)


def of_query(puzzle: str, option: str) -> Offered | None:
    """What is offered for an option of a query, if anything can be."""
    formats = {"format": [*FORMATS], "input_format": [*INPUT_FORMATS]}.get(option)

    def offered(context: Context) -> list[str]:
        if formats is not None:
            return formats
        try:
            asks = reader(puzzle, tables_store(context.params.get("outputs")))
            return list(asks.values(option))
        except TablebaseError:
            return []

    return offered
