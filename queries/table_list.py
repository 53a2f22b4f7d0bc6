"""The list of published tables: a line for a prompt, and HTML for a notebook."""

from __future__ import annotations

from collections.abc import Iterable

from tablebase.errors import TablebaseError
from tablebase.tables.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tablebase.puzzle import Puzzle
    from tablebase.tables.manifest import Entry

HEADINGS = ("table", "rows", "bytes", "meaning")


def format_repr(tables: object, store: Store, puzzle: Puzzle | None = None) -> str:
    """Format opened tables for a Python prompt: their location, and the published tables.

    With a puzzle, only its tables.
    """
    try:
        names = [*_read_entries(store, puzzle)]
    except TablebaseError as error:
        names = [str(error)]
    return f"{_format_head(tables, store)}: {', '.join(names) or 'none published'}>"


def format_html(
    tables: object, store: Store, puzzles: Iterable[Puzzle], *, has_all: bool = False
) -> str:
    """Format opened tables for a notebook: the published tables, each with size and meaning.

    `has_all`: also list the tables of no puzzle.
    """
    from html import escape

    puzzles = [*puzzles]
    caption = escape(_format_head(tables, store).removeprefix("<"))
    try:
        entries = _read_entries(store)
    except TablebaseError as error:
        return f"<p>{caption}: {escape(str(error))}</p>"
    rows = ""
    for name, entry in entries.items():
        table = next(filter(None, (puzzle.find_table(name) for puzzle in puzzles)), None)
        if table is None and not has_all:
            continue
        rows += (
            f"<tr><td>{escape(name)}</td><td>{entry.rows:,}</td><td>{entry.bytes:,}</td>"
            f'<td style="text-align:left">{escape(table.meaning if table else "")}</td></tr>\n'
        )
    if not rows:
        return f"<p>{caption}: none published</p>"
    head = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
    return (
        f"<table>\n<caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}</tbody>\n</table>"
    )


def _format_head(tables: object, store: Store) -> str:
    return f"<{type(tables).__name__} in {store}"


def _read_entries(store: Store, puzzle: Puzzle | None = None) -> dict[str, Entry]:
    """Read the published tables by name: those of the puzzle, if there is one."""
    from tablebase.tables.manifest import read_manifest

    entries = read_manifest(store)
    if puzzle is None:
        return entries
    return {name: entry for name, entry in entries.items() if puzzle.find_table(name)}
