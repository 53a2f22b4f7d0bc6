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
from puzzle_tablebase.formats.manifest import (
    Entry,
    File,
    Footer,
    IndexEntry,
    add_version,
    compute_sha256,
    drop_versions,
    find_mismatch,
    format_manifest,
    is_own_file,
    parse_manifest,
    read_manifest,
    read_versions,
)
from puzzle_tablebase.stores import BACKUP, MANIFEST
from puzzle_tablebase.stores.folder import Folder
from tests.support.shell import ROOT
from tests.support.tampered import flip_byte, seal_tables, seal_values

PAGE = (ROOT / "docs" / "format" / "manifest.md").read_text("utf-8")
AGAIN = " Run: pipeline precompute --outputs "
NO_FOOTER = Footer(0, "")


def entry(rows: int = 3, name: str = "toys", *, index: bool = True) -> Entry:
    """Return an entry of a table with rows."""
    result = IndexEntry(f"{name}.idx", rows, 1, "") if index else None
    return Entry(File(f"{name}.parquet", 1, "", NO_FOOTER), rows, "", "somebody", "", {}, result)


def index_alone(file: str) -> Entry:
    """Return an entry of a table that is an index alone."""
    return Entry(None, 7, "", "", "", {}, IndexEntry(file, 7, 1, ""))


@pytest.fixture
def store(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def edit_entry(edit: Callable[[dict[str, Any]], object]) -> bytes:
    """Return a sealed manifest with a changed entry of a table."""
    tables = json.loads(TEXT)["tables"]
    edit(tables["toys"][0])
    return seal_tables(tables)


def seal_version(version: object) -> bytes:
    """Return a sealed manifest without tables, of another version."""
    return seal_values({**EMPTY, "format_version": version})


TEXT = format_manifest({"toys": [entry()]}, "somebody")
EMPTY = {"format_version": 4, "made_by": "", "indexes": {}, "tables": {}}
CHANGED = [TEXT.replace(b"somebody", b"another"), TEXT + b" ", TEXT.replace(b"\n ", b"\n")]
CHANGED += [TEXT.replace(b'"format_version": 4', b'"format_version": 7'), b'{"format_version": 4}']
CHANGED += [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b"1"]
LISTS: list[object] = [None, [], "page", 1, {"toys": 1}, {"toys": {}}, {"toys": [{"bytes": "1"}]}]
ENTRIES = [
    *((name, entry(name=name)) for name in ("to ys", "a\0b", "", "../eight", "é")),
    ("to ys", index_alone("to ys.idx")),
    ("other", entry()),
    ("toys", replace(entry(), parquet=File("toys.1.parquet", 1, "", NO_FOOTER))),
    ("toys", replace(entry(), parquet=File("../toys.parquet", 1, "", NO_FOOTER))),
    ("toys", replace(entry(), index=IndexEntry("other.idx", 3, 1, ""))),
    ("toys", index_alone("../evil.idx")),
    ("toys", index_alone("other.idx")),
    ("toys", Entry(None, 3, "", "", "", {}, None)),
]
EDITS: list[Callable[[dict[str, Any]], object]] = [
    lambda table: table["index"].update(records="1"),
    lambda table: table["index"].update(records=True),
    lambda table: table["index"].update(more=1),
    lambda table: table["index"].pop("records"),
    lambda table: table.update(more=1),
    lambda table: table.update(rows=-1),
    lambda table: table.update(made_by="\ud800"),
    lambda table: table.update(parameters={"goal": "\ud800"}),
]
INVALID = "its list of tables is invalid"
NONE, SEALED = "it is not a manifest", "its text or checksum was changed"
DAMAGED = [
    *((seal_version(version), NONE) for version in ("4", None, 4.5, True)),
    *((changed, SEALED) for changed in CHANGED),
    *((seal_values({**EMPTY, "tables": wrong}), NONE) for wrong in LISTS),
    *((format_manifest({name: [e]}, ""), INVALID) for name, e in ENTRIES),
    (format_manifest({"toys": []}, ""), INVALID),
    *((edit_entry(edit), NONE) for edit in EDITS),
    *((seal_values({**EMPTY, "indexes": wrong}), NONE) for wrong in (None, "toys")),
]


@pytest.mark.parametrize(("text", "problem"), DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_manifest_is_refused_with_its_fault(
    text: bytes, problem: str, store: Folder
) -> None:
    assert parse_manifest(TEXT, store) == {"toys": [entry()]}
    with pytest.raises(TableDamaged) as caught:
        parse_manifest(text, store)
    file = store.locate(MANIFEST)
    assert caught.value.file == file
    assert str(caught.value) == f"{file} is damaged: {problem}.{AGAIN}{store}"


@pytest.mark.parametrize("version", [1, 2, 3, 5])
def test_other_versions_are_rejected(version: int, store: Folder) -> None:
    with pytest.raises(TableVersionError) as text:
        parse_manifest(seal_values({"format_version": version, "shelves": []}), store)
    assert f"has format version {version}; this program reads version 4." in str(text.value)
    force = " --force" if version > 4 else ""
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
    (tmp_path / MANIFEST).write_bytes(format_manifest({}, ""))
    assert not any(is_own_file(store, name) for name in names)
    (tmp_path / MANIFEST).write_bytes(format_manifest({"toys": [entry()]}, ""))
    assert all(is_own_file(store, name) for name in names)
    assert is_own_file(store, "eight.idx"), "the name of a table that is not built"
    assert not any(is_own_file(store, name) for name in ("toys.1.parquet", "eight.html"))


def test_a_damaged_manifest_means_its_copy(
    store: Folder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    listed = {"toys": [entry(), entry(4)]}
    add_version(store, "toys", entry())
    add_version(store, "toys", entry(4))
    assert read_versions(store) == listed
    for name in (MANIFEST, BACKUP):
        flip_byte(tmp_path / name)
        assert read_versions(store) == listed, "one of them is whole"
        if name == MANIFEST:
            assert caplog.messages == [f"note: {store.locate(name)} is damaged; its copy is read"]
            drop_versions(store, "toys", [entry()], entry(4))
            assert read_versions(store) == (listed := {"toys": [entry(4)]})
    (tmp_path / MANIFEST).unlink()
    flip_byte(tmp_path / BACKUP)
    assert read_versions(store) == listed, "of a missing one, the copy"
    (tmp_path / MANIFEST).write_bytes(b"")
    flip_byte(tmp_path / BACKUP)
    with pytest.raises(TableDamaged):
        read_versions(store)


def test_versions_of_other_builds_stay(store: Folder) -> None:
    old, ours, others = entry(1), entry(2), entry(3)
    for each in (old, ours, others):
        add_version(store, "toys", each)
    drop_versions(store, "toys", [old], ours)
    assert read_versions(store) == {"toys": [others, ours]}
    drop_versions(store, "toys", [ours], others)
    assert read_versions(store) == {"toys": [others]}


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
    (table,) = manifest["tables"]["eight"]
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
