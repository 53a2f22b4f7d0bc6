"""Removal of what the program has written to `outputs/`: `python -m tools.remove_outputs [FOLDER]`.

That is what the manifest lists, the two pages, and the hidden files of builds. Other files stay.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from puzzle_tablebase.errors import TablebaseError
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.runs import RUNS
from puzzle_tablebase.queries.explorer.writer import EXPLORER_PAGE
from puzzle_tablebase.queries.report import REPORT_PAGE
from puzzle_tablebase.stores import BACKUP, MANIFEST, WORK
from puzzle_tablebase.stores.folder import DEFAULT_FOLDER, LOCK, Folder


def remove_outputs(store: Folder) -> None:
    """Remove what the program has written to a store; raise TableError if the manifest is damaged:
    then nobody knows what is ours."""
    listed = [file.file for entry in read_manifest(store).values() for file in entry.all_files]
    hidden = store.list_names(WORK)
    pages = [EXPLORER_PAGE, REPORT_PAGE]
    for name in [*listed, *hidden, *pages, MANIFEST, BACKUP, RUNS, LOCK]:
        store.remove(name)
    with suppress(OSError):
        os.rmdir(store.locate(WORK))


if __name__ == "__main__":
    try:
        remove_outputs(Folder((sys.argv[1:] or [DEFAULT_FOLDER])[0]))
    except TablebaseError as error:
        sys.exit(f"outputs/ stays as it is: {error}")
