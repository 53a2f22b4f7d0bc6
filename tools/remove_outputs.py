"""Removal of what the program has written to `outputs/`: `python -m tools.remove_outputs [FOLDER]`.

That is what the manifest lists, what `pipeline clean` lists, the manifest itself with its copy, and
the run records. Other files stay.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from puzzle_tablebase.errors import StoreError, TablebaseError
from puzzle_tablebase.pipeline.cleaning import remove_leftovers
from puzzle_tablebase.tables import BACKUP, MANIFEST
from puzzle_tablebase.tables.manifest import read_manifest, read_pages
from puzzle_tablebase.tables.run_records import RUNS, SUFFIX, list_run_names
from puzzle_tablebase.tables.store import DEFAULT_FOLDER, LOCK, Folder


def remove_outputs(store: Folder) -> None:
    """Remove what the program has written to a store; raise TableError if the manifest is damaged:
    then nobody knows what is ours."""
    remove_leftovers(store)
    listed = [file.file for entry in read_manifest(store).values() for file in entry.all_files]
    runs = store.open_subfolder(RUNS)
    for folder, names in (
        (runs, [f"{name}{SUFFIX}" for name in list_run_names(store)]),
        (store, [*listed, *read_pages(store), MANIFEST, BACKUP, LOCK]),
    ):
        for name in names:
            with suppress(StoreError):  # it is gone already
                folder.remove(name)
    with suppress(OSError):  # it is missing, or files of others are in it
        os.rmdir(store.locate(RUNS))


if __name__ == "__main__":
    try:
        remove_outputs(Folder((sys.argv[1:] or [DEFAULT_FOLDER])[0]))
    except TablebaseError as error:
        sys.exit(f"outputs/ stays as it is: {error}")
