"""What is said of a file that is missing or cannot be read, and the command that mends it."""

from __future__ import annotations

import errno

from tablebase.errors import TableError, TableMissing, TableUnreadable
from tablebase.stdio import explain_os_error
from tablebase.tables import COMMAND, REMOVE
from tablebase.tables.store import DEFAULT_FOLDER, Store, Unreachable

ABSENT = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
"""What is raised where there is no file of that name."""


def format_rebuild_command(stage: str, store: Store, *, force: bool = False) -> str:
    """The command that makes a stage's tables in a store; no stage: all of them.

    Empty for a store that is only read: no command can make them there.

    >>> from tablebase.tables.store import Folder
    >>> format_rebuild_command("eight", Folder("my tables"), force=True)
    "pipeline precompute eight --force --outputs 'my tables'"
    """
    if store.is_read_only():
        return ""
    words = [COMMAND, stage] if stage else [COMMAND]
    words += ["--force"] if force else []
    return " ".join(words) + _format_outputs(str(store))


def format_remove_command(table: str, store: Store) -> str:
    """The command that removes a table from a store; empty for one that is only read."""
    return "" if store.is_read_only() else f"{REMOVE} {table}{_format_outputs(str(store))}"


def _format_outputs(folder: str) -> str:
    """How a command names a folder that is not the usual one."""
    if folder == DEFAULT_FOLDER:
        return ""
    # shlex would quote it too, but importing it takes longer than an answer
    is_plain = all(letter.isalnum() or letter in "/._-" for letter in folder)
    escaped = folder.replace("'", "'\\''")
    return f" --outputs {folder}" if is_plain else f" --outputs '{escaped}'"


def list_files(store: Store, begin: str = "") -> list[str]:
    """The names of a store's files; TableUnreadable where they cannot be listed."""
    try:
        return store.list_names(begin)
    except OSError as error:
        raise make_open_error(str(store), error, "") from error


def make_open_error(path: str, error: OSError, command: str) -> TableError:
    """What is wrong with a file that did not open: it is not there, or cannot be read.

    `command` rebuilds it; it is empty where that is no remedy. It never is one for a store that
    does not answer, or refuses to.
    """
    if isinstance(error, ABSENT):
        return TableMissing(path, command)
    if isinstance(error, Unreachable):
        hint = "Check the address, the network and the credentials"
        return TableUnreadable(path, str(error), hint)
    is_refused = error.errno in (errno.EACCES, errno.EPERM)
    hint = "Change its permissions" if is_refused else "Check what is there"
    return TableUnreadable(path, explain_os_error(error), hint, command)
