"""The status of tables: which are published, and in which state; and their list at a prompt."""

from __future__ import annotations

from collections import Counter
from typing import Any

from puzzle_tablebase.errors import TablebaseError, TableError
from puzzle_tablebase.formats.manifest import Entry, find_mismatch, read_manifest
from puzzle_tablebase.puzzles import find_owner, list_puzzles
from puzzle_tablebase.stores import COMMAND, MANIFEST, REMOVE
from puzzle_tablebase.stores.access import format_command, format_rebuild_command
from puzzle_tablebase.stores.folder import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from puzzle_tablebase.puzzle import Puzzle


UNUSABLE = "missing", "damaged", "unreadable"
"""The states of tables that answer nothing."""


def format_repair_command(table: str, store: Store) -> str:
    """Return the command that builds a table again, or removes one that no puzzle here has."""
    return format_command(store, COMMAND if find_owner(table) else REMOVE, table)


def list_status(store: Store) -> list[dict[str, Any]]:
    """List every published or default table, with its state and its repair command."""
    rows = []
    defaults = [table.name for puzzle in list_puzzles() for table in puzzle.tables]
    entries = read_manifest(store)
    for name in dict.fromkeys([*defaults, *entries]):
        rows.append(_make_row(store, name, entries.get(name)))
    return rows


def _make_row(store: Store, name: str, entry: Entry | None) -> dict[str, Any]:
    command = format_repair_command(name, store)
    if entry is None:
        return {"table": name, "state": "missing", "command": command}
    facts = {
        **entry.list_amounts(),
        "bytes": entry.total_bytes,
        "made_by": entry.made_by,
        "code": entry.code,
    }
    return {"table": name, "state": _find_state(store, entry), **facts, "command": command}


def _find_state(store: Store, entry: Entry) -> str:
    try:
        damaged = any(find_mismatch(store, file) for file in entry.all_files)
    except FileNotFoundError:
        damaged = True
    except OSError:
        return "unreadable"
    return "damaged" if damaged else "published"


def make_unusable_error(rows: list[dict[str, Any]], store: Store) -> TableError | None:
    """Return an error with the unusable tables of `list_status` and repair commands, or None."""
    unusable_rows = [row for row in rows if row["state"] in UNUSABLE]
    if not unusable_rows:
        return None
    states = Counter(row["state"] for row in unusable_rows)
    summary = ", ".join(f"{count} {state}" for state, count in states.items())
    commands = dict.fromkeys(row["command"] for row in unusable_rows)
    if len(commands) > 1:
        default_names = {table.name for puzzle in list_puzzles() for table in puzzle.tables}
        rebuild_all = format_rebuild_command("", store)
        commands = dict.fromkeys(
            rebuild_all if row["table"] in default_names else row["command"]
            for row in unusable_rows
        )
    return TableError(
        f"{len(unusable_rows)} of {len(rows)} tables cannot be used ({summary}).",
        store.locate(MANIFEST),
        " && ".join(filter(None, commands)),
    )


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


def format_html(tables: object, store: Store, puzzle: Puzzle | None = None) -> str:
    """Format opened tables for a notebook: the published tables, each with size and meaning."""
    from html import escape

    caption = escape(_format_head(tables, store).removeprefix("<"))
    try:
        entries = _read_entries(store, puzzle)
    except TablebaseError as error:
        return f"<p>{caption}: {escape(str(error))}</p>"
    rows, puzzles = "", [puzzle] if puzzle else list_puzzles()
    for name, entry in entries.items():
        table = next(filter(None, (each.find_table(name) for each in puzzles)), None)
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


def _read_entries(store: Store, puzzle: Puzzle | None) -> dict[str, Entry]:
    """Read the published tables by name: those of the puzzle, if there is one."""
    entries = read_manifest(store).items()
    return {name: entry for name, entry in entries if puzzle is None or puzzle.find_table(name)}
