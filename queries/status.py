"""The status of tables: which are published, and in which state; and their list at a prompt."""

from __future__ import annotations

from collections import Counter
from typing import Any

from puzzle_tablebase.errors import TableError
from puzzle_tablebase.formats.manifest import Entry, find_mismatch, read_manifest
from puzzle_tablebase.puzzles import find_owner, list_puzzles
from puzzle_tablebase.stores import COMMAND, MANIFEST, REMOVE
from puzzle_tablebase.stores.access import format_command, format_rebuild_command
from puzzle_tablebase.stores.folder import Store

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
