"""The state of each table: whether it is published, and whether its files are there."""

from __future__ import annotations

from typing import Any

from puzzle_tablebase.formats.manifest import Entry, find_mismatch, read_manifest
from puzzle_tablebase.registry import list_puzzles
from puzzle_tablebase.stores import Store


def list_status(store: Store) -> list[dict[str, Any]]:
    """List every published or default table, with its state and its sizes."""
    rows, entries = list[dict[str, Any]](), read_manifest(store)
    defaults = [table.name for puzzle in list_puzzles() for table in puzzle.tables]
    for name in dict.fromkeys([*defaults, *entries]):
        entry, facts = entries.get(name), dict[str, Any]()
        if entry:
            facts = {**entry.list_amounts(), "bytes": entry.total_bytes}
            facts |= {"made_by": entry.made_by, "code": entry.code}
        rows.append({"table": name, "state": _find_state(store, entry), **facts})
    return rows


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
