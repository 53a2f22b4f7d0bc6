"""Access to stores: by path or URL, with commands and errors for what is missing or unreadable."""

from __future__ import annotations

import os

from puzzle_tablebase.errors import (
    READ_ONLY,
    BadRequest,
    FileChanged,
    StoreEmpty,
    TableDamaged,
    TableError,
    TableMissing,
    TableUnreadable,
    Unreachable,
    quote,
)
from puzzle_tablebase.process import explain_os_error
from puzzle_tablebase.stores import COMMAND, COPY, MANIFEST
from puzzle_tablebase.stores.folder import DEFAULT_FOLDER, Address, Folder, Store, make_scheme_error


def get_default_location() -> str:
    """Return where tables are if nothing else is said: in `PIPELINE_OUTPUTS`, or else `outputs`."""
    return os.environ.get("PIPELINE_OUTPUTS") or DEFAULT_FOLDER


def open_store(location: object) -> Store:
    """Open the store of a path or URL; by default `PIPELINE_OUTPUTS`, or else `outputs`.

    A store is returned as it is; BadRequest for a text that names no place.
    """
    if isinstance(location, Store):
        return location
    given = get_default_location() if location is None else location
    text = os.path.expanduser(str(given))
    address = Address(text)
    # messages must be able to show it: in UTF-8
    if not text or "\0" in text or text.encode(errors="ignore").decode() != text:
        problem = f"{quote(str(address))} is no folder's name in UTF-8, and no URL"
        raise BadRequest(problem, "Example: outputs, or https://example.org/tables")
    if "://" in text:
        from puzzle_tablebase.stores.remote import RemoteStore

        return RemoteStore(text)
    if str(address) != text:  # commands and files would have its password
        raise make_scheme_error(address)
    return Folder(text)


def open_folder(location: object) -> Folder:
    """Open the folder of a path, to build in it; BadRequest for the address of another store."""
    store = open_store(location)
    if isinstance(store, Folder):
        return store
    hint = f"Build in a folder, then run: {COPY} FOLDER {store}"
    raise BadRequest(f"{store} is no folder, and only folders are built in", hint)


def format_rebuild_command(name: str, store: Store, *, force: bool = False) -> str:
    """Return the command that builds a table, or a group's, in a store; no name: all defaults.

    Empty for a store that is no folder: no command can build them there.

    >>> from puzzle_tablebase.stores.folder import Folder
    >>> format_rebuild_command("eight", Folder("my tables"), force=True)
    "pipeline precompute eight --force --outputs 'my tables'"
    """
    return format_command(store, COMMAND, name, "--force" * force)


def make_empty_error(store: Store, *, in_python: bool = False) -> StoreEmpty:
    """Make the error for a store without tables, with what to type: at the shell, or in Python."""
    from shlex import quote as quote_word

    place, command = str(store), format_rebuild_command("", store)
    if not command:
        hint = READ_ONLY
    elif in_python:
        is_default = not format_outputs(place)
        build = "pt.precompute()" if is_default else f"pt.precompute(outputs={place!r})"
        hint = f"Build them: {build}, or copy them: pt.copy_tables(ADDRESS, {place!r})"
    else:
        hint = f"Run: {command}, or: {COPY} ADDRESS {quote_word(place)}"
    return StoreEmpty(place, store.locate(MANIFEST), command, hint)


def make_damage_error(
    store: Store, name: str, problem: str, suffix: str = "parquet"
) -> TableDamaged:
    """Make the error for a file that is as published, and yet contradicts itself."""
    command = format_rebuild_command(name, store, force=True)
    return TableDamaged(store.locate(f"{name}.{suffix}"), problem, command)


def format_command(store: Store, *words: str) -> str:
    """Return a command that changes a folder; empty for another store, which none can change."""
    if not isinstance(store, Folder):
        return ""
    return " ".join(filter(None, words)) + format_outputs(str(store))


def format_outputs(folder: str) -> str:
    """Return the option that names a store; empty for the default folder, if it is the default."""
    from shlex import quote as quote_word  # importing it takes longer than an answer

    is_default = folder == DEFAULT_FOLDER == get_default_location()
    return "" if is_default else f" --outputs {quote_word(folder)}"


def list_files(store: Store, begin: str = "") -> list[str]:
    """List the names of a store's files; raise TableUnreadable if they cannot be listed."""
    try:
        return store.list_names(begin)
    except OSError as error:
        raise make_open_error(str(store), error, "") from error


def make_open_error(path: str, error: OSError, command: str) -> TableError:
    """Make the error for a file that did not open: it is missing, damaged or unreadable.

    `command` rebuilds it; it is empty where that would not help. It is not shown for a store that
    does not answer, or refuses to.
    """
    if isinstance(error, FileNotFoundError):
        return TableMissing(path, command)
    if isinstance(error, FileChanged):
        return TableDamaged(path, str(error), command)
    if isinstance(error, Unreachable):
        hint = "Check the address, the network and the credentials"
        return TableUnreadable(path, str(error), hint)
    hint = "Check what is there and its permissions"
    return TableUnreadable(path, explain_os_error(error), hint, command)
