"""Access to stores: by path or URL, with errors for what is missing or unreadable."""

from __future__ import annotations

import os

from puzzle_tablebase.errors import (
    BadRequest,
    FileChanged,
    NotAFolder,
    TableDamaged,
    TableError,
    TableMissing,
    TableUnreadable,
    Unreachable,
    quote,
)
from puzzle_tablebase.process import explain_os_error
from puzzle_tablebase.stores.folder import (
    Address,
    Folder,
    Store,
    get_default_location,
    make_scheme_error,
)


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
    """Open the folder of a path, to build in it; NotAFolder for the address of another store."""
    store = open_store(location)
    if isinstance(store, Folder):
        return store
    raise NotAFolder(store)


def make_damage_error(
    store: Store, name: str, problem: str, suffix: str = "parquet"
) -> TableDamaged:
    """Make the error for a file that is as published, and yet contradicts itself."""
    return TableDamaged(store, f"{name}.{suffix}", problem, name, needs_force=True)


def list_files(store: Store, begin: str = "") -> list[str]:
    """List the names of a store's files; raise TableUnreadable if they cannot be listed."""
    try:
        return store.list_names(begin)
    except OSError as error:
        raise make_open_error(store, "", error) from error


def make_open_error(
    store: Store, file: str, error: OSError, table: str | None = None
) -> TableError:
    """Make the error for a file that did not open: it is missing, damaged or unreadable.

    `table`: what builds it; None where that would not help, as in a store that does not answer.
    """
    if isinstance(error, FileNotFoundError):
        return TableMissing(store, file, table)
    if isinstance(error, FileChanged):
        return TableDamaged(store, file, str(error), table)
    if isinstance(error, Unreachable):
        hint = "Check the address, the network and the credentials"
        return TableUnreadable(store, file, str(error), hint)
    hint = "Check what is there and its permissions"
    return TableUnreadable(store, file, explain_os_error(error), hint, table)
