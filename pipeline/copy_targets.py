"""Targets of copies: a folder, which keeps partial files, or a bucket."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from puzzle_tablebase.errors import BadRequest, FileChanged, TableDamaged
from puzzle_tablebase.formats.manifest import (
    Entry,
    File,
    IndexEntry,
    add_version,
    find_mismatch,
    is_version,
)
from puzzle_tablebase.pipeline.publish import manifest_lock, note_copy
from puzzle_tablebase.stores import (
    PARTIAL_COPY_SUFFIX,
    WORK,
    Folder,
    Store,
    make_open_error,
    open_store,
)
from puzzle_tablebase.stores.new_files import make_store_error, translate_errors

if TYPE_CHECKING:
    from puzzle_tablebase.stores.bucket import Bucket

STEP_BYTES = 16 << 20
"""The bytes of a file that are read at a time, while the ones before are written."""
Listed = File | IndexEntry
Advance = Callable[[int], None]


class Target(Protocol):
    """A store that tables are copied to."""

    @property
    def store(self) -> Folder | Bucket: ...

    def claim(self, *, take_over: bool) -> AbstractContextManager[None]:
        """Lock out all other writers; raise StoreError if another one is at work."""

    def has(self, entry: Entry, file: Listed) -> bool:
        """Return whether the target has a file of a version."""

    def require_room(self, files: Sequence[Listed]) -> None:
        """Raise StoreError if the files do not fit, before any is written."""

    def replace(
        self, source: Store, name: str, entry: Entry, files: Sequence[Listed], advance: Advance
    ) -> None:
        """List a version of a table beside the others, and give these files of it their names."""


def open_target(location: object) -> Target:
    """Open the folder or bucket of a path or URL; BadRequest for a web host."""
    store = open_store(location)
    if isinstance(store, Folder):
        return FolderTarget(store)
    from puzzle_tablebase.stores.bucket import Bucket  # it needs a library

    return BucketTarget(Bucket(store))


class FolderTarget:
    """A folder. Partial files are in its hidden folder, each named by the hash that is due."""

    def __init__(self, store: Folder) -> None:
        self.store = store

    def claim(self, *, take_over: bool) -> AbstractContextManager[None]:
        if take_over:
            problem = "A folder has no claim: its lock ends with the copy that has it"
            raise BadRequest(problem, "Leave out --take-over")
        return self.store.lock()

    def has(self, entry: Entry, file: Listed) -> bool:
        with suppress(OSError):
            return not find_mismatch(self.store, file)
        return False

    def require_room(self, files: Sequence[Listed]) -> None:
        missing = sum(file.bytes - self._measure(name_partial(file)) for file in files)
        self.store.require_space("The copy", missing)

    def replace(
        self, source: Store, name: str, entry: Entry, files: Sequence[Listed], advance: Advance
    ) -> None:
        for file in files:
            self._bring(source, file, advance)
        with manifest_lock:
            note_copy(self.store, name, entry)
            add_version(self.store, name, entry)
        for file in files:
            self.store.rename(name_partial(file), file.file)

    def _bring(self, source: Store, file: Listed, advance: Advance) -> None:
        """Copy a file, or the rest of it if a killed copy left its beginning."""
        name, digest = name_partial(file), hashlib.sha256()
        present = self._hash(name, file, digest)
        advance(present)
        try:
            with closing(iter_pieces(source, file, advance, digest, present)) as pieces:
                for data in pieces:
                    with translate_errors(partial(make_store_error, str(self.store))):
                        self.store.append(name, data)
        except TableDamaged:
            self.store.remove(name)
            if not present:
                raise
            advance(-file.bytes)
            # the part that a killed copy left may be the wrong one
            self._bring(source, file, advance)

    def _measure(self, name: str) -> int:
        with suppress(OSError):
            return self.store.get_size(name)
        return 0

    def _hash(self, name: str, file: Listed, digest: Any) -> int:
        """Hash a partial file, and return its size; remove it if it is too long."""
        if self._measure(name) > file.bytes:
            self.store.remove(name)
        present = self._measure(name)
        if present:
            with (
                translate_errors(partial(make_store_error, str(self.store))),
                self.store.open(name) as opened,
            ):
                while data := opened.read(STEP_BYTES):
                    digest.update(data)
        return present


def name_partial(file: Listed) -> str:
    """Return the hidden name of a partial file."""
    return f"{WORK}{file.sha256}{PARTIAL_COPY_SUFFIX}"


class BucketTarget:
    """A bucket's folder. A file appears when all of it is sent and its hash is right."""

    def __init__(self, store: Bucket) -> None:
        self.store = store

    def claim(self, *, take_over: bool) -> AbstractContextManager[None]:
        return self.store.claim(is_taken_over=take_over)

    def has(self, entry: Entry, file: Listed) -> bool:
        try:
            return is_version(self.store, entry, file)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise make_open_error(self.store, file.file, error) from error

    def require_room(self, files: Sequence[Listed]) -> None:
        self.store.require_parts(max((file.bytes for file in files), default=0))

    def replace(
        self, source: Store, name: str, entry: Entry, files: Sequence[Listed], advance: Advance
    ) -> None:
        with manifest_lock:
            add_version(self.store, name, entry)
        for file in files:
            with closing(iter_pieces(source, file, advance, hashlib.sha256())) as pieces:
                self.store.send(file.file, pieces, file.bytes)


# ---- reading ------------------------------------------------------------------------------------


def iter_pieces(
    source: Store, file: Listed, advance: Advance, digest: Any, begin: int = 0
) -> Generator[bytes]:
    """Yield a file's bytes from an offset on; raise TableDamaged if the file has another hash.

    Each piece is read in another thread while the one before is written, because a bucket's library
    cannot make a request while it takes a piece.
    """
    hint = "If it was published anew meanwhile, copy again."
    make_error = partial(TableDamaged, source, file.file, table=None, hint=hint)
    with ThreadPoolExecutor(1) as reader:
        try:
            opened = reader.submit(source.open_random_access, file.file).result()
            if opened.size != file.bytes:
                problem = f"it has {opened.size:,} bytes, the manifest says {file.bytes:,}"
                raise make_error(problem)
            coming = reader.submit(opened.read, STEP_BYTES, begin)
            while begin < file.bytes:
                data = coming.result()
                begin += STEP_BYTES
                coming = reader.submit(opened.read, STEP_BYTES, begin)  # none after the end
                digest.update(data)
                advance(len(data))
                yield data
        except FileChanged as error:
            raise make_error(str(error)) from error
        except OSError as error:
            raise make_open_error(source, file.file, error) from error
    if digest.hexdigest() != file.sha256:
        raise make_error("its SHA-256 differs from the manifest")
