"""What is said of a file that is missing or cannot be read, and the command that mends it."""

from __future__ import annotations

from tablebase.errors import TableError, TableMissing, TableUnreadable
from tablebase.streams import reason
from tablebase.tables import COMMAND, REMOVE
from tablebase.tables.store import DEFAULT_FOLDER, Store

ABSENT = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
"""What is raised where there is no file of that name."""


def mending(stage: str, store: Store, *, force: bool = False) -> str:
    """The command that makes a stage's tables in a store; no stage: all of them.

    >>> from tablebase.tables.store import Folder
    >>> mending("eight", Folder("my tables"), force=True)
    "pipeline precompute eight --force --outputs 'my tables'"
    """
    words = [COMMAND, stage] if stage else [COMMAND]
    words += ["--force"] if force else []
    return " ".join(words) + _in(str(store))


def removing(table: str, store: Store) -> str:
    """The command that removes a table from a store."""
    return f"{REMOVE} {table}{_in(str(store))}"


def _in(folder: str) -> str:
    """How a command names a folder that is not the usual one."""
    if folder == DEFAULT_FOLDER:
        return ""
    # shlex would quote it too, but importing it takes longer than an answer
    plain = all(letter.isalnum() or letter in "/._-" for letter in folder)
    escaped = folder.replace("'", "'\\''")
    return f" --outputs {folder}" if plain else f" --outputs '{escaped}'"


def unopened(path: str, error: OSError, command: str) -> TableError:
    """What is wrong with a file that did not open: it is not there, or may not be read."""
    if isinstance(error, ABSENT):
        return TableMissing(path, command)
    return TableUnreadable(path, reason(error), command)
