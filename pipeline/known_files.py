"""Hashes of large files, which a build does not read again while they are unchanged.

A hidden file of the folder has the size, the modification time and the inode of each. If one of
these differs, as in a copied folder, the file is hashed. Damage that does not change them is found
by `pipeline verify`, which reads everything.
"""

from __future__ import annotations

from contextlib import suppress

from msgspec import MsgspecError, json

from puzzle_tablebase.errors import StoreError
from puzzle_tablebase.formats.manifest import File, IndexEntry, find_mismatch
from puzzle_tablebase.stores import Folder

KNOWN = ".known.json"
MIN_BYTES = 1 << 30
"""Bytes from which a file is large: smaller ones are hashed in seconds."""
State = tuple[int, int, int]
"""The size of a file, the time of its last change and its inode."""


class KnownFiles:
    """The large files of a folder, with their hashes when they were last read."""

    def __init__(self, store: Folder) -> None:
        self._store = store
        try:
            self._known = json.decode(store.read(KNOWN), type=dict[str, tuple[str, State]])
        except (OSError, MsgspecError, UnicodeDecodeError, RecursionError):
            self._known = {}
        self._saved = dict(self._known)

    def find_mismatch(self, file: File | IndexEntry) -> str:
        """Describe how a file differs from its entry, as the manifest's `find_mismatch` does."""
        if file.bytes < MIN_BYTES:
            return find_mismatch(self._store, file)
        state = self._store.get_state(file.file)  # before it is read
        if self._known.get(file.file) == (file.sha256, state):
            return ""
        problem = find_mismatch(self._store, file)
        if not problem:
            self._known[file.file] = file.sha256, state
        return problem

    def add(self, file: File | IndexEntry) -> None:
        """Add a file that was just written."""
        if file.bytes >= MIN_BYTES:
            self._known[file.file] = file.sha256, self._store.get_state(file.file)

    def save(self) -> None:
        """Save new hashes, if the folder is writable."""
        if self._known != self._saved:
            with suppress(StoreError):
                self._store.write(KNOWN, json.format(json.encode(self._known), indent=1) + b"\n")
                self._saved = dict(self._known)
