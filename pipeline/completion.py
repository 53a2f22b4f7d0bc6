"""What the shell offers for a word that is not finished: what can be asked, and what is there."""

from __future__ import annotations

from collections.abc import Callable

from typer import Context

from queries.answers import reader
from queries.forms import FORMATS, INPUT_FORMATS
from tablebase.errors import TablebaseError
from tablebase.puzzles import MODULES, with_depths
from tablebase.puzzles.knight import LISTABLE, MOST_FILES, MOST_RANKS
from tablebase.tables.store import tables_store

Offered = Callable[[Context], list[str]]


def stages(context: Context) -> list[str]:
    """Those that are not named yet."""
    return [name for name in MODULES if name not in (context.params.get("stages") or [])]


def deep_puzzles(context: Context) -> list[str]:
    return with_depths()


def listable_boards(context: Context) -> list[str]:
    """Boards whose tours can be listed, but for those too narrow to have any."""
    sides = ((f, r) for f in range(3, MOST_FILES + 1) for r in range(3, MOST_RANKS + 1))
    return [f"{files}x{ranks}" for files, ranks in sides if files * ranks <= LISTABLE]


def removable_tables(context: Context) -> list[str]:
    from pipeline.removal import removable

    try:
        return removable(tables_store(context.params.get("outputs")))
    except TablebaseError:
        return []


def page_formats(context: Context) -> list[str]:
    from queries.report import FORMATS as PAGE_FORMATS

    return list(PAGE_FORMATS)


def of_query(puzzle: str, option: str) -> Offered | None:
    """What is offered for an option of a query, if anything can be."""
    formats = {"format": [*FORMATS], "input_format": [*INPUT_FORMATS]}.get(option)

    def offered(context: Context) -> list[str]:
        if formats is not None:
            return formats
        asks = reader(puzzle, tables_store(context.params.get("outputs")))
        try:
            return list(asks.values(option))
        except TablebaseError:
            return []

    return offered
