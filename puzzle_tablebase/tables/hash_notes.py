"""Notes on files in a bucket: what the store said of each when its bytes were hashed.

A file of which it still says the same needs no download to be known as whole. Only `verify` and
readers look at the bytes. A lost, damaged or wrong note costs one download.
"""

from __future__ import annotations

from contextlib import suppress

from msgspec import DecodeError, json

from puzzle_tablebase.errors import StoreError
from puzzle_tablebase.tables.manifest import Entry, File, IndexEntry, find_mismatch
from puzzle_tablebase.tables.store import Store

NOTES = ".hashes.json"

HashNote = tuple[int, str, str]
"""The bytes and the version of a file, as `Store.get_version` returns them, and its SHA-256."""


class HashNotes:
    """The notes of a store: read when the first is needed, and saved only by a build."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._noted: dict[str, HashNote] | None = None
        self._new: dict[str, HashNote] = {}

    def find_mismatch(self, entry: File | IndexEntry) -> str:
        """Describe how a file differs from its entry; "" if it does not.

        Its bytes are read unless a note shows that these were read. Raise OSError if it cannot be
        opened.
        """
        size, version = self.store.get_version(entry.file)
        if not version:
            return find_mismatch(self.store, entry)
        if self._noted is None:
            self._noted = self._read()
        note = size, version, entry.sha256
        known = self._new.get(entry.file) or self._noted.get(entry.file)
        if size == entry.bytes and note == known:
            return ""
        problem = find_mismatch(self.store, entry)
        if not problem:
            self._new[entry.file] = note
        return problem

    def add_written(self, entry: Entry) -> None:
        """Note the files of a table that this process has written."""
        for file in entry.all_files:
            if note := self.store.find_written(file.file):
                self._new[file.file] = note

    def save(self) -> None:
        """Write the new notes beside those of other builds, if the store lets this process."""
        if self._new:
            with suppress(StoreError, OSError):
                self.store.update(NOTES, lambda old: json.encode(_parse(old) | self._new))

    def _read(self) -> dict[str, HashNote]:
        try:
            return _parse(self.store.read(NOTES))
        except OSError:
            return {}


def _parse(data: bytes | None) -> dict[str, HashNote]:
    """Return the notes in a file; none if there is none, or it is damaged."""
    try:
        return json.decode(data or b"{}", type=dict[str, HashNote])
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return {}
