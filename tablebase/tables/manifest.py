"""`manifest.json`: what is published. A table that it does not list does not exist."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import accumulate
from typing import Any

from tablebase import __version__
from tablebase.errors import TableDamaged, TableError, TableVersionError
from tablebase.tables import FORMAT_VERSION, MANIFEST
from tablebase.tables.mending import ABSENT, mending, unopened
from tablebase.tables.store import LOCK, Store

Entry = dict[str, Any]
"""A table's facts: files, rows, content, parameters, description, made_by, index (or null).

Each file of rows has file, rows, first (the rows in the files before it), bytes and sha256; the
index has file, records, bytes and sha256.
"""
Page = dict[str, Any]
"""A page's facts: bytes, sha256, and the content hash of each table that it was made from."""


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
        again = mending("", store, force=True)
        raise unopened(store.full(MANIFEST), error, again) from error
    return parse_manifest(text, store)


def files_of(entry: Entry) -> list[Entry]:
    """What is said of every file of a table: those of its rows, in order, then its index."""
    return [*entry["files"], *([entry["index"]] if entry["index"] else [])]


def own_files(store: Store) -> set[str]:
    """The files that make a store a place of tables; none where it is no such place."""
    try:
        tables = read_manifest(store)
    except TableError:  # of another program, as far as can be told
        return set()
    listed = {said["file"] for entry in tables.values() for said in files_of(entry)}
    return {MANIFEST, LOCK, *listed} if tables else set()


def size_of(entry: Entry) -> int:
    """The bytes of all a table's rows; those of its records, where it is an index alone."""
    return sum(file["bytes"] for file in entry["files"] or [entry["index"]])


def holds_rows(file: str, name: str) -> bool:
    """Whether a file's name is one for a table's rows.

    >>> holds_rows("eight.parquet", "eight"), holds_rows("eight.2.parquet", "eight")
    (True, True)
    >>> holds_rows("eight_edge.parquet", "eight"), holds_rows("eight.old.parquet", "eight")
    (False, False)
    """
    return re.fullmatch(rf"{re.escape(name)}(\.[0-9]+)?\.parquet", file) is not None


def unlike(store: Store, said: Entry) -> str:
    """How a file is not what the manifest says of it; "" where it is. OSError where none opens."""
    size = store.size(said["file"])
    if size != said["bytes"]:
        return f"it has {size:,} bytes, the manifest says {said['bytes']:,}"
    same = sha256(store, said["file"]) == said["sha256"]
    return "" if same else "its SHA-256 differs from the manifest"


def sha256(store: Store, name: str) -> str:
    """The SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with store.open(name) as file:
        while data := file.read(1 << 20):
            digest.update(data)
    return digest.hexdigest()


def facts(store: Store, name: str) -> Entry:
    """What the manifest says of any file."""
    return {"bytes": store.size(name), "sha256": sha256(store, name)}


def parse_manifest(data: bytes, store: Store) -> tuple[dict[str, Entry], dict[str, Page]]:
    """The tables and pages that a manifest's text lists; an error where it is not as written."""
    path, again = store.full(MANIFEST), mending("", store, force=True)
    try:
        text = data.decode()
        manifest = json.loads(text)
        version = manifest["format_version"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise TableDamaged(path, "it is not a manifest", again) from error
    if version != FORMAT_VERSION:
        raise TableVersionError(path, version, FORMAT_VERSION, again)
    tables, pages = manifest.get("tables"), manifest.get("pages", {})
    if not _is_list(tables, _is_entry) or not all(map(_is_named, tables, tables.values())):
        raise TableDamaged(path, "its list of tables is invalid", again)
    if not _is_list(pages, partial(_has, bytes=int, sha256=str, made_from=dict)):
        raise TableDamaged(path, "its list of pages is invalid", again)
    if text != manifest_text(tables, str(manifest.get("made_by")), pages):
        raise TableDamaged(path, "its text or checksum was changed", again)
    return tables, pages


def _is_list(listed: object, is_one: Callable[[object], bool]) -> bool:
    return isinstance(listed, dict) and all(
        name.isascii() and name.isprintable() and is_one(facts) for name, facts in listed.items()
    )


def _has(facts: Any, **kinds: type) -> bool:
    return isinstance(facts, dict) and all(
        isinstance(facts.get(key), kind) for key, kind in kinds.items()
    )


def _is_entry(entry: Any) -> bool:
    return (
        _has(entry, files=list, rows=int, content=str, made_by=str, parameters=dict)
        and all(
            _has(file, file=str, rows=int, first=int, bytes=int, sha256=str)
            for file in entry["files"]
        )
        and "index" in entry
        and (
            entry["index"] is None
            or _has(entry["index"], file=str, records=int, bytes=int, sha256=str)
        )
    )


def _is_named(name: str, entry: Entry) -> bool:
    """Whether a table's files bear its name, and their rows follow one another and are all."""
    index = entry["index"]
    files = [file["file"] for file in entry["files"]]
    rows = [file["rows"] for file in entry["files"]]
    begins = [*accumulate(rows, initial=0)]
    if not files:  # an index alone
        return name.isidentifier() and entry["index"] is not None
    return (
        name.isidentifier()
        and len(files) == len({*files})
        and all(holds_rows(file, name) for file in files)
        and (index is None or index["file"] == f"{name}.idx")
        and min(rows) >= 0
        and [*(file["first"] for file in entry["files"]), entry["rows"]] == begins
    )


def amend(
    store: Store,
    tables: Mapping[str, Entry] | None = None,
    pages: Mapping[str, Page] | None = None,
    without: Collection[str] = (),
) -> None:
    """List these too, and these tables no longer, whatever others list meanwhile."""

    def changed(before: bytes | None) -> bytes:
        listed, shown = ({}, {}) if before is None else parse_manifest(before, store)
        listed |= tables or {}
        left = {name: entry for name, entry in listed.items() if name not in without}
        shown |= pages or {}
        return manifest_text(left, f"puzzle-tablebase {__version__}", shown).encode()

    store.change(MANIFEST, changed)


def record_page(store: Store, path: str, made_from: Mapping[str, Entry]) -> None:
    """List a page and what the manifest said of the tables that it was made from.

    One that is not among the tables is not listed.
    """
    page = store.name_of(path)
    if page is None:
        return
    try:
        said = facts(store, page)
    except ABSENT:
        return
    contents = {name: entry["content"] for name, entry in made_from.items()}
    with store.lock():
        amend(store, pages={page: {**said, "made_from": contents}})


def manifest_text(tables: dict[str, Entry], made_by: str, pages: dict[str, Page]) -> str:
    """The one text that lists all this; its last line but one is a checksum of the others."""
    listed = dict(sorted(tables.items()))
    manifest = {
        "format_version": FORMAT_VERSION,
        "made_by": made_by,
        "indexes": {
            entry["index"]["file"]: entry["content"] for entry in listed.values() if entry["index"]
        },
        "tables": listed,
    }
    if pages:
        manifest["pages"] = dict(sorted(pages.items()))
    body = json.dumps(manifest, indent=1)
    manifest["checksum"] = hashlib.sha256(body.encode()).hexdigest()
    return json.dumps(manifest, indent=1) + "\n"
