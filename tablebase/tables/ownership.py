"""The files that belong to tables: no output replaces them, and no page has a name of theirs."""

from __future__ import annotations

import re

from tablebase.errors import BadRequest, quote
from tablebase.table_errors import TableError
from tablebase.tables import BACKUP, MANIFEST
from tablebase.tables.index_format import HEADER, MAGIC, Header
from tablebase.tables.manifest import is_page_name, read_backup, read_manifest
from tablebase.tables.store import LOCK, Store

TABLE_FILE = re.compile(r"(\w+)\.(parquet|idx)")
"""The name of a file of a table's rows or index, with the name of the table."""


def require_page_name(store: Store, path: str) -> None:
    """Raise BadRequest if a page would be in the store under a name that no manifest can hold."""
    name = store.find_name(path)
    if name is not None and not is_page_name(name):
        problem = f"{quote(name)} is not a name for a page beside the tables"
        raise BadRequest(problem, "Choose another one, for example: page.html")


def is_own_file(store: Store, name: str) -> bool:
    """Return whether a file of that name belongs to a store's tables.

    Where the manifest does not say, because it is lost or damaged, the file itself does.
    """
    try:
        tables = read_manifest(store) or read_backup(store)[0]
    except TableError:
        try:
            tables, _ = read_backup(store)
        except TableError:
            tables = {}
    if name in (MANIFEST, BACKUP, LOCK):  # the manifest may be that of another program
        return bool(tables) or any(bears_table(store, other) for other in _list_names(store))
    listed = {file.file for entry in tables.values() for file in entry.all_files}
    return name in listed or bears_table(store, name)


def bears_table(store: Store, name: str) -> bool:
    """Return whether this program wrote a file as one of the table that its name says.

    The magic and the name in an index's header say so, or the metadata of a Parquet file.
    """
    match = TABLE_FILE.fullmatch(name)
    if match is None:
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = match[1].encode()
    try:
        with store.open(name) as file:  # pyarrow would wait for a named pipe
            header = Header(file.read(HEADER.size))
        if match[2] == "idx":
            return (header.magic, header.name) == (MAGIC, table)
        with pq.ParquetFile(store.get_source(name)) as rows:
            return bool((rows.metadata.metadata or {}).get(b"table") == table)
    except (OSError, pa.ArrowException):
        return False


def _list_names(store: Store) -> list[str]:
    try:
        return store.list_names()
    except OSError:
        return []
