"""`manifest.json`: what is published. A table that it does not list does not exist."""

from __future__ import annotations

import errno
import hashlib
import json
import re
import struct
from collections.abc import Collection, Mapping
from itertools import accumulate
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert, to_builtins

from tablebase.errors import TableDamaged, TableError, TableVersionError, quote
from tablebase.tables import BACKUP, FORMAT_VERSION, MADE_BY, MANIFEST
from tablebase.tables.repair import ABSENT, format_rebuild_command, make_open_error
from tablebase.tables.store import LOCK, NotAFile, Store

PARQUET = b"PAR1"
FOOTER_END = struct.Struct("<I4s")
"""How a Parquet file ends: the length of its metadata, and `PAR1`."""

Name = Annotated[str, Meta(pattern=r"\A[ -~]*\Z")]


class Footer(Struct, frozen=True, forbid_unknown_fields=True):
    """The last bytes of a Parquet file, which say where its rows are and what they hold.

    With its hash known, a reader of one row group need not read the whole file to trust it.
    """

    bytes: int
    sha256: str


class File(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A file of a table's rows; `first`: the rows in the files before it.

    `begins`: where there are several, and rows are numbered within the equal values of a column,
    that column's value in the first row, and this row's number among all rows that have it.
    """

    file: str
    rows: int
    first: int
    bytes: int
    sha256: str
    footer: Footer
    begins: dict[str, str | int] = {}


class IndexEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A table's index."""

    file: str
    records: int
    bytes: int
    sha256: str


class Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """A table."""

    files: list[File]
    rows: int
    content: str
    made_by: str
    parameters: dict[str, Any]
    description: str
    index: IndexEntry | None

    @property
    def all_files(self) -> list[File | IndexEntry]:
        """Those of its rows, in order, then its index."""
        return [*self.files, *([self.index] if self.index else [])]

    @property
    def bytes(self) -> int:
        """The bytes of all its rows; those of its records, where it is an index alone."""
        return sum(file.bytes for file in self.files or self.all_files)


class Page(Struct, frozen=True, forbid_unknown_fields=True):
    """A page; `made_from`: the content hash of each table that it was made from."""

    bytes: int
    sha256: str
    made_from: dict[str, str]


def read_manifest(store: Store) -> dict[str, Entry]:
    """The published tables by name; none where there is no manifest."""
    return _read(store)[0]


def read_pages(store: Store) -> dict[str, Page]:
    """The pages made from published tables, by file name; none where there is no manifest."""
    return _read(store)[1]


def _read(store: Store) -> tuple[dict[str, Entry], dict[str, Page]]:
    try:
        text = store.read(MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        return {}, {}
    except OSError as error:
        raise make_open_error(store.locate(MANIFEST), error, "") from error
    return parse_manifest(text, store)


def read_backup(store: Store) -> tuple[dict[str, Entry], dict[str, Page]]:
    """Read what the manifest's copy lists; nothing where there is no copy that is whole."""
    try:
        return parse_manifest(store.read(BACKUP), store)
    except (OSError, TableError):
        return {}, {}


def list_parameters(tables: Mapping[str, Entry]) -> dict[str, dict[str, Any]]:
    """Each table's parameters: what a puzzle is told of what is published."""
    return {name: entry.parameters for name, entry in tables.items()}


def list_own_files(store: Store) -> set[str]:
    """The files that make a store a place of tables; none where it is no such place."""
    try:
        tables = read_manifest(store)
    except TableError:  # of another program, as far as can be told
        return set()
    listed = {file.file for entry in tables.values() for file in entry.all_files}
    return {MANIFEST, BACKUP, LOCK, *listed} if tables else set()


def is_row_file(file: str, name: str) -> bool:
    """Whether a file's name is one for a table's rows.

    >>> is_row_file("eight.parquet", "eight"), is_row_file("eight.2.parquet", "eight")
    (True, True)
    >>> is_row_file("eight_edge.parquet", "eight"), is_row_file("eight.old.parquet", "eight")
    (False, False)
    """
    return re.fullmatch(rf"{re.escape(name)}(\.[0-9]+)?\.parquet", file) is not None


def find_mismatch(store: Store, entry: File | IndexEntry) -> str:
    """How a file is not what the manifest says of it; "" where it is. OSError where none opens."""
    size = store.get_size(entry.file)
    if size != entry.bytes:
        return f"it has {size:,} bytes, the manifest says {entry.bytes:,}"
    same = compute_sha256(store, entry.file) == entry.sha256
    return "" if same else "its SHA-256 differs from the manifest"


def compute_sha256(store: Store, name: str) -> str:
    """The SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with store.open(name) as file:
        while data := file.read(1 << 20):
            digest.update(data)
    return digest.hexdigest()


def measure_file(store: Store, name: str) -> dict[str, Any]:
    """What the manifest says of any file."""
    return {"bytes": store.get_size(name), "sha256": compute_sha256(store, name)}


def facts_of_rows(store: Store, name: str) -> dict[str, Any]:
    """Measure a Parquet file as the manifest lists it."""
    return {**measure_file(store, name), "footer": measure_footer(store, name)}


def measure_footer(store: Store, name: str) -> Footer:
    """Measure the footer of a Parquet file: the metadata, its length and the closing magic."""
    file = store.open_random_access(name)
    size = min(FOOTER_END.size, file.size)
    end = file.read(size, file.size - size)
    if not end.endswith(PARQUET):
        raise OSError(errno.EINVAL, "it is no Parquet file")
    size += FOOTER_END.unpack(end)[0]
    if size > file.size:
        raise OSError(errno.EINVAL, "it is shorter than its footer")
    return Footer(size, hashlib.sha256(file.read(size, file.size - size)).hexdigest())


def parse_manifest(data: bytes, store: Store) -> tuple[dict[str, Entry], dict[str, Page]]:
    """The tables and pages that a manifest's text lists; an error where it is not as written."""
    path, again = store.locate(MANIFEST), format_rebuild_command("", store)
    try:
        text = data.decode()
        manifest = json.loads(text)
        version = manifest["format_version"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise TableDamaged(path, "it is not a manifest", again) from error
    if not _has_own_checksum(manifest, text):  # first: the version itself may be what is damaged
        raise TableDamaged(path, "its text or checksum was changed", again)
    if type(version) is not int:
        problem = f"its format version is {quote(json.dumps(version))}, not a whole number"
        raise TableDamaged(path, problem, again)
    if version != FORMAT_VERSION:
        # tables of a newer program are not replaced unasked
        again = format_rebuild_command("", store, force=version > FORMAT_VERSION)
        raise TableVersionError(path, version, FORMAT_VERSION, again)
    listed = "tables"
    try:
        tables = convert(manifest.get(listed), dict[Name, Entry])
        if not all(map(_is_consistent, tables, tables.values())):
            raise ValidationError
        listed = "pages"
        pages = convert(manifest.get(listed, {}), dict[Name, Page])
        if not all(map(_is_file_name, pages)):
            raise ValidationError
    except ValidationError as error:
        raise TableDamaged(path, f"its list of {listed} is invalid", again) from error
    if text != format_manifest(tables, str(manifest.get("made_by")), pages):
        raise TableDamaged(path, "its text or checksum was changed", again)
    return tables, pages


def _has_own_checksum(manifest: Any, text: str) -> bool:
    """Return whether a manifest's last value is the checksum of the others, as in every version."""
    if not isinstance(manifest, dict) or "checksum" not in manifest:
        return False
    written = manifest.pop("checksum")
    return text == seal(manifest) and text.rstrip().endswith(f'"{written}"\n}}')


def _is_file_name(name: str) -> bool:
    """Return whether a name stays in its folder, and is not hidden there."""
    return not name.startswith(".") and not set(name) & set("/\\:") and name != ""


def _is_consistent(name: str, entry: Entry) -> bool:
    """Whether a table's files bear its name, and their rows follow one another and are all."""
    files = {file.file for file in entry.files}
    firsts = [*(file.first for file in entry.files), entry.rows]
    return (
        name.isidentifier()
        and (len(files) > 0 or entry.index is not None)
        and len(files) == len(entry.files)
        and all(is_row_file(file, name) for file in files)
        and (entry.index is None or entry.index.file == f"{name}.idx")
        and (not files or firsts == [*accumulate((file.rows for file in entry.files), initial=0)])
        and firsts == sorted(firsts)
    )


def amend_manifest(
    store: Store,
    tables: Mapping[str, Entry] | None = None,
    pages: Mapping[str, Page] | None = None,
    without: Collection[str] = (),
) -> None:
    """List these too, and these tables no longer, whatever others list meanwhile."""

    def add_entries(before: bytes | None) -> bytes:
        listed, shown = ({}, {}) if before is None else parse_manifest(before, store)
        listed |= tables or {}
        kept = {name: entry for name, entry in listed.items() if name not in without}
        shown |= pages or {}
        return format_manifest(kept, MADE_BY, shown).encode()

    store.update(MANIFEST, add_entries)
    _back_up(store)


def replace_manifest(store: Store, tables: Mapping[str, Entry], pages: Mapping[str, Page]) -> None:
    """List these tables and pages alone, whatever was listed, and however damaged that was."""
    text = format_manifest(dict(tables), MADE_BY, dict(pages)).encode()
    store.update(MANIFEST, lambda before: text)
    _back_up(store)


def _back_up(store: Store) -> None:
    """Copy the manifest beside itself, so that no single damage loses what is listed."""
    text = store.read(MANIFEST)
    with store.write_atomically(BACKUP) as (file,):
        file.write(text)


def record_page(store: Store, path: str, made_from: Mapping[str, Entry]) -> None:
    """List a page and what the manifest said of the tables that it was made from.

    One that is not among the tables is not listed.
    """
    page = store.find_name(path)
    if page is None:
        return
    try:
        measured = measure_file(store, page)
    except (*ABSENT, NotAFile):
        return
    contents = {name: entry.content for name, entry in made_from.items()}
    with store.lock():
        amend_manifest(store, pages={page: Page(**measured, made_from=contents)})


def format_manifest(tables: dict[str, Entry], made_by: str, pages: dict[str, Page]) -> str:
    """The one text that lists all this; its last line but one is a checksum of the others."""
    listed = to_builtins(dict(sorted(tables.items())))
    manifest = {
        "format_version": FORMAT_VERSION,
        "made_by": made_by,
        "indexes": {
            entry["index"]["file"]: entry["content"] for entry in listed.values() if entry["index"]
        },
        "tables": listed,
    }
    if pages:
        manifest["pages"] = to_builtins(dict(sorted(pages.items())))
    return seal(manifest)


def seal(manifest: dict[str, Any]) -> str:
    """Write a manifest as text, with the checksum of everything in it."""
    body = json.dumps(manifest, indent=1)
    checksum = hashlib.sha256(body.encode()).hexdigest()
    return json.dumps({**manifest, "checksum": checksum}, indent=1) + "\n"
