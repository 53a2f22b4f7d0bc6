"""What is published, and in which state."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tablebase.errors import TableError
from tablebase.puzzles import puzzles
from tablebase.tables import MANIFEST
from tablebase.tables.checkpoints import pieces_of
from tablebase.tables.manifest import (
    Entry,
    read_manifest,
    read_pages,
    unlike,
)
from tablebase.tables.repair import ABSENT, mending, removing
from tablebase.tables.store import Store


def status(store: Store) -> list[dict[str, Any]]:
    """Every table that is published or could be: what it is, or the command that makes it."""
    entries = read_manifest(store)
    contents = {name: entry.content for name, entry in entries.items()}
    pieces = {name: some for name, some in pieces_of(store).items() if name not in entries}
    rows = []
    for asked in puzzles():
        for table in asked.tables:
            entry, some = entries.pop(table.name, None), pieces.pop(table.name, "")
            rows.append(_row(store, table.name, entry, mending(asked.name, store), some))
    for name in [*entries, *pieces]:
        entry, some = entries.get(name), pieces.get(name, "")
        maker = next((asked for asked in puzzles() if asked.owns(name)), None)
        # what no rule knows cannot be made again
        command = mending(maker.stage(name), store) if maker else removing(name, store)
        rows.append(_row(store, name, entry, command, some))
    for name, page in read_pages(store).items():
        try:
            size = store.size(name)
        except OSError:
            continue
        known = all(contents.get(table) == made for table, made in page.made_from.items())
        state = "published" if known else "older than its tables"
        rows.append({"table": name, "state": state, "bytes": size})
    return rows


def _row(store: Store, name: str, entry: Entry | None, command: str, pieces: str) -> dict[str, Any]:
    if entry is None and pieces:
        return {"table": name, "state": "partial", "pieces": pieces, "command": command}
    if entry is None:
        return {"table": name, "state": "missing", "command": command}
    facts = {"rows": entry.rows, "bytes": entry.bytes, "made_by": entry.made_by}
    return {"table": name, "state": _state(store, entry), **facts, "command": command}


def _state(store: Store, entry: Entry) -> str:
    try:
        damaged = any(unlike(store, file) for file in entry.every_file)
    except ABSENT:
        damaged = True
    except OSError:
        return "unreadable"
    return "damaged" if damaged else "published"


def unusable(rows: list[dict[str, Any]], store: Store) -> TableError | None:
    """What is wrong with the tables of `status`, in a sentence, and what mends it."""
    tables = [row for row in rows if "command" in row]
    bad = [row for row in tables if row["state"] != "published"]
    if not bad:
        return None
    states = Counter(row["state"] for row in bad)
    said = ", ".join(f"{count} {state}" for state, count in states.items())
    commands = dict.fromkeys(row["command"] for row in bad)
    if len(commands) > 1:
        own = {table.name for asked in puzzles() for table in asked.tables}
        every = mending("", store)
        commands = dict.fromkeys(every if row["table"] in own else row["command"] for row in bad)
    return TableError(
        f"{len(bad)} of {len(tables)} tables cannot be used ({said}).",
        store.full(MANIFEST),
        " && ".join(filter(None, commands)),
    )
