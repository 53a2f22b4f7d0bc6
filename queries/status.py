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


def format_repair_command(table: str, store: Store) -> str:
    """Return the command that builds a table again, or removes one that no puzzle here has."""
    return format_command(store, COMMAND if find_owner(table) else REMOVE, table)


def list_status(store: Store) -> list[dict[str, Any]]:
    """List every published or default table, with its state and its repair command."""
    rows, entries = list[dict[str, Any]](), read_manifest(store)
    for name in dict.fromkeys([*_list_defaults(), *entries]):
        entry, facts = entries.get(name), dict[str, Any]()
        if entry:
            facts = {**entry.list_amounts(), "bytes": entry.total_bytes}
            facts |= {"made_by": entry.made_by, "code": entry.code}
        state, command = _find_state(store, entry), format_repair_command(name, store)
        rows.append({"table": name, "state": state, **facts, "command": command})
    return rows


def _list_defaults() -> list[str]:
    return [table.name for puzzle in list_puzzles() for table in puzzle.tables]


def _find_state(store: Store, entry: Entry | None) -> str:
    if entry is None:
        return "missing"
    try:
        is_damaged = any(find_mismatch(store, file) for file in entry.all_files)
    except FileNotFoundError:
        return "damaged"
    except OSError:
        return "unreadable"
    return "damaged" if is_damaged else "published"


def make_unusable_error(rows: list[dict[str, Any]], store: Store) -> TableError | None:
    """Return an error with the unusable tables of `list_status` and repair commands, or None."""
    unusable_rows = [row for row in rows if row["state"] != "published"]
    if not unusable_rows:
        return None
    states = Counter(row["state"] for row in unusable_rows)
    summary = ", ".join(f"{count} {state}" for state, count in states.items())
    commands = {row["table"]: row["command"] for row in unusable_rows}
    if len(commands) > 1:  # one command builds all default tables
        rebuild_all = format_rebuild_command("", store)
        commands |= dict.fromkeys(commands.keys() & {*_list_defaults()}, rebuild_all)
    return TableError(
        f"{len(unusable_rows)} of {len(rows)} tables cannot be used ({summary}).",
        store.locate(MANIFEST),
        " && ".join(filter(None, dict.fromkeys(commands.values()))),
    )
