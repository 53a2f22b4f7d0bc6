"""What is said of a file that is missing or cannot be read, and the command that mends it."""

from __future__ import annotations

from tablebase.errors import TableError, TableMissing, TableUnreadable
from tablebase.streams import reason
from tablebase.tables import COMMAND, REMOVE

DEFAULT_FOLDER = "outputs"


def mending(stage: str, folder: str, *, force: bool = False) -> str:
    """The command that makes a stage's tables in a folder; no stage: all of them.

    >>> mending("eight", "my tables", force=True)
    "pipeline precompute eight --force --outputs 'my tables'"
    """
    words = [COMMAND, stage] if stage else [COMMAND]
    words += ["--force"] if force else []
    return " ".join(words) + _in(folder)


def removing(table: str, folder: str) -> str:
    """The command that removes a table from a folder."""
    return f"{REMOVE} {table}{_in(folder)}"


def _in(folder: str) -> str:
    """How a command names a folder that is not the usual one."""
    if folder == DEFAULT_FOLDER:
        return ""
    # shlex would quote it too, but importing it costs more than a lookup
    plain = all(letter.isalnum() or letter in "/._-" for letter in folder)
    escaped = folder.replace("'", "'\\''")
    return f" --outputs {folder}" if plain else f" --outputs '{escaped}'"


def unopened(path: str, error: OSError, command: str) -> TableError:
    """What is wrong with a file that did not open: it is not there, or may not be read."""
    if isinstance(error, (FileNotFoundError, NotADirectoryError, IsADirectoryError)):
        return TableMissing(path, command)
    return TableUnreadable(path, reason(error), command)
