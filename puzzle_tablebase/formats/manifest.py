"""The manifest, `manifest.json`: the list of published tables, with their files.

A table that it does not list is not published. While a table is being replaced, it lists the old
and the new version, and a reader accepts either. Before each change, a copy is written, which is
read if the manifest is damaged.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import struct
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import starmap
from typing import IO, TYPE_CHECKING, Any

from msgspec import MsgspecError, Struct, json

from puzzle_tablebase import FORMAT_VERSION, MADE_BY
from puzzle_tablebase.errors import BadRequest, TableDamaged, TableVersionError, quote
from puzzle_tablebase.formats.counts import GoalCounts, Number
from puzzle_tablebase.formats.index import HEADER, MAGIC, MAX_NAME_BYTES, Header
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import (
    BACKUP,
    LOCK,
    MANIFEST,
    MAX_WHOLE_BYTES,
    Folder,
    Store,
    list_files,
    make_open_error,
)

if TYPE_CHECKING:
    from puzzle_tablebase.stores.bucket import Bucket

PARQUET = b"PAR1"
FOOTER_END = struct.Struct("<I4s")
"""The last bytes of a Parquet file: the length of its metadata, and `PAR1`."""
CHECKSUM_KEY = b',\n "checksum": "'
"""The text before a manifest's checksum, its last value in every version."""


class Footer(Struct, frozen=True, forbid_unknown_fields=True):
    """Size and hash of a Parquet file's footer; a reader of few rows checks only the footer."""

    bytes: Number
    sha256: str


class File(Struct, frozen=True, forbid_unknown_fields=True):
    """The Parquet file of a table's rows."""

    file: str
    bytes: Number
    sha256: str
    footer: Footer


class IndexEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """The index of a table; its header has the digest."""

    file: str
    records: Number
    bytes: Number
    sha256: str
    digest: str


class Entry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A version of a table: its files, and what made them.

    `code`: the digest of the code that made it. `counts`: of a table with distances, its states at
    each of them.
    """

    parquet: File | None
    rows: Number
    content: str
    made_by: str
    code: str
    parameters: dict[str, Any]
    index: IndexEntry | None
    counts: list[GoalCounts] = []

    def list_depths(self) -> Iterator[tuple[str | None, int | None, int]]:
        """Yield goal, distance and number of states in order; those unreachable come last."""
        for counts in self.counts:
            for distance, states in enumerate(counts.states):
                if states:
                    yield counts.goal, distance, states
            if counts.unreachable:
                yield counts.goal, None, counts.unreachable

    def list_amounts(self) -> dict[str, int]:
        """List the table's amounts: rows, or for an index alone, records and, if known, states."""
        if self.parquet:
            return {"rows": self.rows}
        states = sum(sum(counts.states) + counts.unreachable for counts in self.counts)
        return {"records": self.rows} | ({"states": states} if self.counts else {})

    @property
    def all_files(self) -> list[File | IndexEntry]:
        """Its Parquet file and its index, those that it has."""
        return [file for file in (self.parquet, self.index) if file]

    @property
    def total_bytes(self) -> int:
        """The bytes of all its files."""
        return sum(file.bytes for file in self.all_files)


Versions = dict[str, list[Entry]]
"""The listed versions of each table, by its name, the newest last."""


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """The text of a manifest without its checksum.

    `indexes`: the digests of each index by file name, for readers that parse nothing else.
    """

    format_version: int
    made_by: str
    indexes: dict[str, list[str]]
    tables: Versions


class _Head(Struct):
    """The values that are read from a manifest of any version."""

    format_version: int
    tables: Any = None

    def list_names(self) -> tuple[str, ...]:
        """List the names of the tables; none if this format version has another list."""
        names = tuple(self.tables) if isinstance(self.tables, dict) else ()
        return names if all(name.isidentifier() and name.isascii() for name in names) else ()


def read_manifest(store: Store) -> dict[str, Entry]:
    """Read the published tables by name; none if there is no manifest.

    If a table has several versions, take the current one, or else the newest.
    """
    tables = read_versions(store).items()
    return {name: find_current(store, versions) or versions[-1] for name, versions in tables}


def read_versions(store: Store) -> Versions:
    """Read all listed versions of the published tables.

    If the manifest is damaged or lost, its copy is read; a TableError if neither can be.
    """
    return _parse_or_read_copy(store, _read_data(store, MANIFEST))


def _parse_or_read_copy(store: Store, data: bytes | None) -> Versions:
    damage = None
    if data is not None:
        try:
            return parse_manifest(data, store)
        except TableDamaged as error:
            damage = error
    try:
        copy = _read_data(store, BACKUP)
        tables = {} if copy is None else parse_manifest(copy, store)
    except (TableDamaged, TableVersionError):
        copy = None
    if copy is None:
        if damage:
            raise damage
        return {}
    _warn_about_copy(store.locate(MANIFEST), "damaged" if damage else "missing")
    return tables


@cache
def _warn_about_copy(path: str, problem: str) -> None:
    logging.getLogger(__name__).warning("note: %s is %s; its copy is read", path, problem)


def _read_data(store: Store, name: str) -> bytes | None:
    """Read a manifest or its copy, damaged or not; None if there is none."""
    try:
        return store.read(name, MAX_WHOLE_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise make_open_error(store, name, error) from error


def find_current(store: Store, versions: Sequence[Entry]) -> Entry | None:
    """Find the current version, all of whose files have their names; None if there is none.

    A single version counts as current: nothing is read. Of several, an index's header and the
    footer of a file of rows tell which one it is: where a build or a copy was killed, no reader
    has to hash a table.
    """
    if len(versions) == 1:
        return versions[0]
    for entry in reversed(versions):
        with suppress(OSError):
            if all(is_version(store, entry, file) for file in entry.all_files):
                return entry
    return None


def is_version(store: Store, entry: Entry, file: File | IndexEntry) -> bool:
    """Return whether a file is its entry's, by its header or footer; the rest is not read.

    Raise OSError if it cannot be opened.
    """
    opened = store.open_random_access(file.file)
    if opened.size != file.bytes:
        return False
    if isinstance(file, IndexEntry):
        header = Header(opened.read(HEADER.size, 0))
        return header.magic == MAGIC and header.digest.hex() == file.digest
    footer = opened.read(file.footer.bytes, max(0, file.bytes - file.footer.bytes))
    return hashlib.sha256(footer).hexdigest() == file.footer.sha256


def find_mismatch(store: Store, entry: File | IndexEntry) -> str:
    """Describe how a file differs from its entry; "" if it does not.

    Raise OSError if it cannot be opened.
    """
    with store.open(entry.file) as file:
        size = file.seek(0, os.SEEK_END)
        if size != entry.bytes:  # a large file takes seconds to hash
            return f"it has {size:,} bytes, the manifest says {entry.bytes:,}"
        is_same = hash_stream(file) == entry.sha256
    return "" if is_same else "its SHA-256 differs from the manifest"


def measure_file(store: Store, name: str) -> tuple[int, str]:
    """Return the bytes and the SHA-256 of a file."""
    with store.open(name) as file:
        return measure_stream(file)


def measure_stream(file: IO[bytes]) -> tuple[int, str]:
    """Return the bytes and the SHA-256 of an open file."""
    return file.seek(0, os.SEEK_END), hash_stream(file)


def hash_stream(file: IO[bytes]) -> str:
    """Return the SHA-256 of an open file."""
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def measure_footer(file: IO[bytes]) -> Footer:
    """Measure the footer of a Parquet file: the metadata, its length and the closing magic.

    Raise OSError if there is none.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - FOOTER_END.size, 0))
    end = file.read()
    if not end.endswith(PARQUET) or len(end) < FOOTER_END.size:
        raise OSError(errno.EINVAL, "it is no Parquet file")
    footer = FOOTER_END.size + FOOTER_END.unpack(end)[0]
    if footer > size:
        raise OSError(errno.EINVAL, "it is shorter than its footer")
    file.seek(size - footer)
    return Footer(footer, hashlib.sha256(file.read()).hexdigest())


def parse_manifest(data: bytes, store: Store) -> Versions:
    """Return the versions that a manifest lists.

    Raise TableDamaged unless it is exactly as it was written, and TableVersionError if it has
    another format version.
    """
    body = remove_checksum(data)
    if body is None:
        raise TableDamaged(store, MANIFEST, "its text or checksum was changed", "")
    try:
        head = json.decode(body, type=_Head)
        version, names = head.format_version, head.list_names()
        if version != FORMAT_VERSION:
            raise TableVersionError(store, MANIFEST, version, FORMAT_VERSION, "", names)
        manifest = json.decode(body, type=Manifest)
    except (MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise TableDamaged(store, MANIFEST, "it is not a manifest", "") from error
    tables = manifest.tables
    listed = [(name, entry) for name in tables for entry in tables[name]]
    if not all(tables.values()) or not all(starmap(_is_consistent, listed)):
        raise TableDamaged(store, MANIFEST, "its list of tables is invalid", "")
    return tables


def _is_consistent(name: str, entry: Entry) -> bool:
    """Return whether a version of a table has files, all with the table's name."""
    return (
        name.isidentifier()
        and name.isascii()
        and bool(entry.all_files)
        and (entry.parquet is None or entry.parquet.file == f"{name}.parquet")
        and (entry.index is None or entry.index.file == f"{name}.idx")
    )


def require_table_name(table: Table) -> None:
    """Raise BadRequest for a table with a name that no manifest or index can have."""
    problem = ""
    if not (table.name.isidentifier() and table.name.isascii()):
        problem = "use ASCII letters, digits and underscores"
        if table.name[:1].isdecimal():
            problem += ", beginning with a letter"
    elif table.index and len(table.name) > MAX_NAME_BYTES:
        problem = f"{len(table.name)} characters are more than {MAX_NAME_BYTES}"
    if problem:
        raise BadRequest(f"Invalid table name {quote(table.name, 80)}: {problem}")


def add_version(store: Folder | Bucket, name: str, entry: Entry) -> None:
    """List a new version of a table beside the others, before its files get their names."""
    assert _is_consistent(name, entry)
    _change_manifest(store, [name], lambda known: [*_exclude([entry], known), entry])


def drop_versions(store: Folder | Bucket, name: str, old: Collection[Entry], kept: Entry) -> None:
    """Remove the old versions of a table from the list, once another is current.

    Versions that other builds have added stay.
    """
    excluded = [*old, kept]
    _change_manifest(store, [name], lambda known: [*_exclude(excluded, known), kept])


def _exclude(excluded: Collection[Entry], known: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in known if entry not in excluded]


def remove_entries(store: Folder | Bucket, names: Collection[str]) -> None:
    """Remove tables from the manifest."""
    _change_manifest(store, names, lambda known: [])


def _change_manifest(
    store: Folder | Bucket, names: Collection[str], change: Callable[[list[Entry]], list[Entry]]
) -> None:
    """Change the listed versions of some tables; the copy is written first.

    At every moment, one of the two is whole, and lists the current files.
    """

    def replace(old_data: bytes | None) -> bytes:
        try:
            tables = _parse_or_read_copy(store, old_data)
        except (TableDamaged, TableVersionError):  # the build has decided to replace it
            tables = {}
        tables |= {name: change(tables.get(name, [])) for name in names}
        tables = {name: versions for name, versions in tables.items() if versions}
        data = format_manifest(tables)
        store.write(BACKUP, data)
        return data

    store.update(MANIFEST, replace)


def format_manifest(tables: Versions) -> bytes:
    """Format a manifest; equal contents give equal bytes, which end with a checksum."""
    listed = dict(sorted(tables.items()))
    indexed = {name: [each.index for each in listed[name] if each.index] for name in listed}
    digests = {
        f"{name}.idx": [*dict.fromkeys(index.digest for index in indexes)]
        for name, indexes in indexed.items()
        if indexes
    }
    manifest = Manifest(FORMAT_VERSION, MADE_BY, digests, listed)
    return add_checksum(json.format(json.encode(manifest), indent=1))


def add_checksum(body: bytes) -> bytes:
    """Return a manifest's text with its checksum as the last value."""
    checksum = hashlib.sha256(body).hexdigest().encode()
    return body.removesuffix(b"\n}") + CHECKSUM_KEY + checksum + b'"\n}\n'


def remove_checksum(data: bytes) -> bytes | None:
    """Return a manifest's text without its checksum; None if the checksum is wrong."""
    body = data.rpartition(CHECKSUM_KEY)[0] + b"\n}"
    return body if add_checksum(body) == data else None


def is_own_file(store: Store, name: str) -> bool:
    """Return whether a file of that name belongs to a store's tables."""
    if name not in (MANIFEST, BACKUP, LOCK):
        return is_table_file(store, name)
    # the manifest may be that of another program
    is_ours = remove_checksum(_read_data(store, MANIFEST) or b"") is not None
    return is_ours or any(is_table_file(store, other) for other in list_files(store))


def is_table_file(store: Store, name: str) -> bool:
    """Return whether this program wrote a file for the table in the file's name.

    The magic and the name in an index's header show this, or the metadata of a Parquet file.
    """
    table, _, suffix = name.partition(".")
    if suffix not in ("idx", "parquet"):
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with store.open(name) as file:
            if suffix == "parquet":
                return (pq.read_metadata(file).metadata or {}).get(b"table") == table.encode()
            header = Header(file.read(HEADER.size))
            return (header.magic, header.name) == (MAGIC, table.encode())
    except (OSError, pa.ArrowException):
        return False
