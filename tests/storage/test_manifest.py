"""The manifest: it is accepted as a whole, or refused with a message that names the fault."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from puzzle_tablebase.errors import TableDamaged, TableUnreadable, TableVersionError
from puzzle_tablebase.tables import BACKUP, MANIFEST
from puzzle_tablebase.tables.manifest import (
    Entry,
    File,
    Footer,
    IndexEntry,
    compute_sha256,
    find_mismatch,
    format_manifest,
    is_own_file,
    parse_manifest,
    read_manifest,
    seal,
)
from puzzle_tablebase.tables.store import Folder
from tests.support.shell import ROOT

PAGE = (ROOT / "docs" / "format" / "manifest.md").read_text("utf-8")
AGAIN = " Run: pipeline precompute --outputs "
NO_FOOTER = Footer(0, "")


def entry(rows: int = 3, name: str = "toys", *, index: bool = True) -> Entry:
    """Return an entry of a table with rows."""
    result = IndexEntry(f"{name}.idx", rows, 1, "") if index else None
    return Entry(File(f"{name}.parquet", 1, "", NO_FOOTER), rows, "", "somebody", {}, "", result)


def index_alone(file: str) -> Entry:
    """Return an entry of a table that is an index alone."""
    return Entry(None, 7, "", "", {}, "", IndexEntry(file, 7, 1, ""))


@pytest.fixture
def store(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def edit_entry(edit: Callable[[dict[str, Any]], object]) -> str:
    """Return a sealed manifest with a changed entry of a table."""
    manifest = json.loads(TEXT)
    del manifest["checksum"]
    edit(manifest["tables"]["toys"])
    return seal(manifest)


TEXT = format_manifest({"toys": entry()}, "somebody")
VERSIONS = [("3", "'\"3\"'"), (None, "'null'"), (3.0, "'3.0'"), (True, "'true'")]
CHANGED = [TEXT.replace("somebody", "another"), f"{TEXT} ", TEXT.replace("\n ", "\n")]
CHANGED += [TEXT.replace('"format_version": 3', '"format_version": 7'), '{"format_version": 3}']
LISTS: list[object] = [None, [], "page", 1, {"toys": 1}, {"toys": {}}, {"toys": {"bytes": "1"}}]
INDEXES: list[object] = [None, [], {"toys.idx": ""}]
ENTRIES = [
    *((name, entry(name=name)) for name in ("to ys", "a\0b", "\ud800", "", "../eight", "é")),
    ("to ys", index_alone("to ys.idx")),
    ("other", entry()),
    ("toys", replace(entry(), parquet=File("toys.1.parquet", 1, "", NO_FOOTER))),
    ("toys", replace(entry(), parquet=File("../toys.parquet", 1, "", NO_FOOTER))),
    ("toys", entry(-1)),
    ("toys", replace(entry(), index=IndexEntry("other.idx", 3, 1, ""))),
    ("toys", index_alone("../evil.idx")),
    ("toys", index_alone("other.idx")),
    ("toys", Entry(None, 3, "", "", {}, "", None)),
]
EDITS: list[Callable[[dict[str, Any]], object]] = [
    lambda table: table["index"].update(records="1"),
    lambda table: table["index"].update(records=True),
    lambda table: table["index"].update(more=1),
    lambda table: table["index"].pop("records"),
    lambda table: table.update(more=1),
]
INVALID = "its list of {} is invalid"
DAMAGED = [
    *((data, "it is not a manifest") for data in ("", "[]", "{}", "\udcff", "[" * 100_000, "1")),
    *(
        (seal({"format_version": version}), f"its format version is {shown}, not a whole number")
        for version, shown in VERSIONS
    ),
    *((changed, "its text or checksum was changed") for changed in CHANGED),
    *(
        (seal({"format_version": 3, "indexes": {}, "tables": wrong}), INVALID.format("tables"))
        for wrong in LISTS
    ),
    *((format_manifest({name: listed}, ""), INVALID.format("tables")) for name, listed in ENTRIES),
    *((edit_entry(edit), INVALID.format("tables")) for edit in EDITS),
    *(
        (seal({"format_version": 3, "indexes": indexes, "tables": {}}), INVALID.format("indexes"))
        for indexes in INDEXES
    ),
]


@pytest.mark.parametrize(("text", "problem"), DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_manifest_is_refused_with_its_fault(
    text: str, problem: str, store: Folder
) -> None:
    assert parse_manifest(TEXT.encode(), store) == {"toys": entry()}
    with pytest.raises(TableDamaged) as caught:
        parse_manifest(text.encode("utf-8", "surrogateescape"), store)
    file = store.locate(MANIFEST)
    assert caught.value.file == file
    assert str(caught.value) == f"{file} is damaged: {problem}.{AGAIN}{store}"


@pytest.mark.parametrize("version", [1, 2, 4])
def test_other_versions_are_rejected(version: int, store: Folder) -> None:
    with pytest.raises(TableVersionError) as text:
        parse_manifest(seal({"format_version": version, "shelves": []}).encode(), store)
    assert f"has format version {version}; this program reads version 3." in str(text.value)
    force = " --force" if version > 3 else ""
    assert str(text.value).endswith(f" Run: pipeline precompute{force} --outputs {store}")


@pytest.mark.parametrize(
    ("make", "problem", "remedy"),
    [
        (lambda path: path.symlink_to(MANIFEST), "", "Check what is there."),  # to itself
        (os.mkfifo, "it is a named pipe, not a file", "Move it away."),
        (Path.mkdir, "it is a folder, not a file", "Move it away."),
    ],
)
def test_an_unreadable_manifest_is_reported(
    make: Callable[[Path], None], problem: str, remedy: str, store: Folder, tmp_path: Path
) -> None:
    make(tmp_path / MANIFEST)
    with pytest.raises(TableUnreadable) as text:
        read_manifest(store)
    assert text.value.file == store.locate(MANIFEST)
    assert str(text.value).startswith(f"{store.locate(MANIFEST)} cannot be read: {problem}")
    assert str(text.value).endswith(f" {remedy}")


def test_a_missing_manifest_lists_nothing(store: Folder) -> None:
    assert read_manifest(store) == {}
    assert not is_own_file(store, MANIFEST)


def test_own_files_are_those_listed(store: Folder, tmp_path: Path) -> None:
    names = (MANIFEST, BACKUP, ".lock", "toys.parquet", "toys.idx")
    (tmp_path / MANIFEST).write_text(format_manifest({}, ""))
    assert not any(is_own_file(store, name) for name in names)
    (tmp_path / MANIFEST).write_text(format_manifest({"toys": entry()}, ""))
    assert all(is_own_file(store, name) for name in names)
    assert is_own_file(store, "eight.idx"), "the name of a table that is not built"
    assert not any(is_own_file(store, name) for name in ("toys.1.parquet", "eight.html"))


def test_find_mismatch_names_the_difference(store: Folder, tmp_path: Path) -> None:
    (tmp_path / "toys.idx").write_bytes(os.urandom(3_000_000))
    text = IndexEntry("toys.idx", 1, 3_000_000, compute_sha256(store, "toys.idx"))
    assert find_mismatch(store, text) == ""
    (tmp_path / "toys.idx").write_bytes(bytes(3_000_000))
    assert find_mismatch(store, text) == "its SHA-256 differs from the manifest"
    (tmp_path / "toys.idx").write_bytes(b"")
    assert find_mismatch(store, text) == "it has 0 bytes, the manifest says 3,000,000"


def test_the_docs_name_every_manifest_key(outputs: Path) -> None:
    manifest = json.loads((outputs / MANIFEST).read_text("utf-8"))
    table = manifest["tables"]["eight"]
    words = []
    for heading in ("The object", "A table", "A file"):
        section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        rows = "".join(re.findall(r"^\|.*\n", section, re.MULTILINE))
        words.append({*re.findall(r"`([a-z_0-9]+)`", rows)})
    assert words[0] == {*manifest}
    assert words[1] == {*table, *table["index"]}
    assert words[2] == {*table["parquet"]}


def test_the_docs_describe_the_manifest_checksum(outputs: Path) -> None:
    text = (outputs / MANIFEST).read_text("utf-8")
    result = re.fullmatch(r'(.*),\n "checksum": "([0-9a-f]{64})"(\n})\n', text, re.DOTALL)
    assert result
    assert hashlib.sha256((result[1] + result[3]).encode()).hexdigest() == result[2]
