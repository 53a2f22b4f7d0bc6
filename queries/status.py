"""The status of tables: which are published, and in which state."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tablebase.errors import TableError
from tablebase.puzzles import find_owner, list_puzzles
from tablebase.tables import MANIFEST
from tablebase.tables.access import format_rebuild_command, format_remove_command
from tablebase.tables.hash_notes import HashNotes
from tablebase.tables.manifest import Entry, read_manifest, read_pages
from tablebase.tables.store import Store


def list_status(store: Store) -> list[dict[str, Any]]:
    """List every published or default table and page, with its state and its repair command."""
    with store.ask_one_question():
        return _list_rows(store)


def _list_rows(store: Store) -> list[dict[str, Any]]:
    entries = read_manifest(store)
    contents = {name: entry.content for name, entry in entries.items()}
    rows, notes = [], HashNotes(store)
    defaults = [table.name for puzzle in list_puzzles() for table in puzzle.tables]
    for name in dict.fromkeys([*defaults, *entries]):
        # a table that no puzzle owns cannot be rebuilt, only removed
        format_command = format_rebuild_command if find_owner(name) else format_remove_command
        rows.append(_make_row(notes, name, entries.get(name), format_command(name, store)))
    for name, page in read_pages(store).items():
        try:
            size = store.get_size(name)
        except OSError:
            continue
        is_current = all(contents.get(table) == digest for table, digest in page.made_from.items())
        state = "published" if is_current else "out of date"
        rows.append({"table": name, "state": state, "bytes": size})
    return rows


def _make_row(
    notes: HashNotes,
    name: str,
    entry: Entry | None,
    command: str,
) -> dict[str, Any]:
    if entry is None:
        return {"table": name, "state": "missing", "command": command}
    size = sum(file.bytes for file in entry.all_files)  # as the build reports it
    facts: dict[str, Any] = {**entry.list_amounts(), "bytes": size, "made_by": entry.made_by}
    return {"table": name, "state": _find_state(notes, entry), **facts, "command": command}


def _find_state(notes: HashNotes, entry: Entry) -> str:
    try:
        damaged = any(notes.find_mismatch(file) for file in entry.all_files)
    except FileNotFoundError:
        damaged = True
    except OSError:
        return "unreadable"
    return "damaged" if damaged else "published"


def make_unusable_error(rows: list[dict[str, Any]], store: Store) -> TableError | None:
    """Return an error with the unusable tables of `list_status` and repair commands, or None."""
    tables = [row for row in rows if "command" in row]
    unusable_rows = [row for row in tables if row["state"] != "published"]
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
        f"{len(unusable_rows)} of {len(tables)} tables cannot be used ({summary}).",
        store.locate(MANIFEST),
        " && ".join(filter(None, commands)),
    )
