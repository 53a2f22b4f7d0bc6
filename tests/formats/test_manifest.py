"""The manifest: it is accepted as a whole, or refused with a message that names the fault."""

import hashlib
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from puzzle_tablebase.errors import TableDamaged, TableUnreadable, TableVersionError
from puzzle_tablebase.formats.manifest import (
    Entry,
    File,
    Footer,
    IndexEntry,
    add_version,
    drop_versions,
    find_mismatch,
    format_manifest,
    measure_file,
    parse_manifest,
    read_manifest,
    read_versions,
)
from puzzle_tablebase.pipeline.terminal import format_repair
from puzzle_tablebase.stores import BACKUP, MANIFEST, Folder
from tests.support.shell import ROOT
from tests.support.tampered import flip_byte, seal_tables, seal_values

PAGE = (ROOT / "docs" / "format" / "manifest.md").read_text("utf-8")
NO_FOOTER = Footer(0, "")


def entry(rows: int = 3, name: str = "toys") -> Entry:
    rows_file = File(f"{name}.parquet", 1, "", NO_FOOTER)
    return Entry(
        rows_file, rows, "", "somebody", "", {}, IndexEntry(f"{name}.idx", rows, 1, "", "")
    )


def index_alone(file: str) -> Entry:
    return Entry(None, 7, "", "", "", {}, IndexEntry(file, 7, 1, "", ""))


@pytest.fixture
def store(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def edit_entry(edit: Callable[[dict[str, Any]], object]) -> bytes:
    tables = json.loads(TEXT)["tables"]
    edit(tables["toys"][0])
    return seal_tables(tables)


TEXT = format_manifest({"toys": [entry()]})
EMPTY = {"format_version": 5, "made_by": "", "indexes": {}, "tables": {}}
CHANGED = [TEXT.replace(b"somebody", b"another"), TEXT + b" ", TEXT.replace(b"\n ", b"\n")]
CHANGED += [TEXT.replace(b'"format_version": 5', b'"format_version": 7'), b'{"format_version": 5}']
CHANGED += [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b"1"]
LISTS: list[object] = [None, [], "page", 1, {"toys": 1}, {"toys": {}}, {"toys": [{"bytes": "1"}]}]
ENTRIES = [
    *((name, entry(name=name)) for name in ("to ys", "a\0b", "", "../eight", "é")),
    ("to ys", index_alone("to ys.idx")),
    ("other", entry()),
    ("toys", replace(entry(), parquet=File("toys.1.parquet", 1, "", NO_FOOTER))),
    ("toys", replace(entry(), parquet=File("../toys.parquet", 1, "", NO_FOOTER))),
    ("toys", replace(entry(), index=IndexEntry("other.idx", 3, 1, "", ""))),
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
DAMAGED = [
    *(seal_values({**EMPTY, "format_version": version}) for version in ("5", None, 5.5, True)),
    *CHANGED,
    *(seal_values({**EMPTY, "tables": wrong}) for wrong in LISTS),
    *(format_manifest({name: [e]}) for name, e in ENTRIES),
    format_manifest({"toys": []}),
    *(edit_entry(edit) for edit in EDITS),
    *(seal_values({**EMPTY, "indexes": wrong}) for wrong in (None, "toys")),
]


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_manifest_is_refused(text: bytes, store: Folder) -> None:
    assert parse_manifest(TEXT, store) == {"toys": [entry()]}
    with pytest.raises(TableDamaged) as caught:
        parse_manifest(text, store)
    assert caught.value.file == store.locate(MANIFEST)
    assert format_repair(caught.value) == f"pipeline precompute --outputs {store}"


@pytest.mark.parametrize("version", [1, 2, 3, 4, 6])
def test_other_versions_are_rejected(version: int, store: Folder) -> None:
    with pytest.raises(TableVersionError) as caught:
        parse_manifest(seal_values({"format_version": version, "shelves": []}), store)
    assert (caught.value.version, caught.value.supported) == (version, 5)
    force = " --force" if version > 5 else ""
    assert format_repair(caught.value) == f"pipeline precompute{force} --outputs {store}"


@pytest.mark.parametrize("make", [lambda path: path.symlink_to(MANIFEST), os.mkfifo, Path.mkdir])
def test_an_unreadable_manifest_is_reported(
    make: Callable[[Path], None], store: Folder, tmp_path: Path
) -> None:
    make(tmp_path / MANIFEST)
    with pytest.raises(TableUnreadable) as caught:
        read_manifest(store)
    assert caught.value.file == store.locate(MANIFEST)


def test_a_damaged_manifest_means_its_copy(
    store: Folder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    add_version(store, "toys", entry())
    add_version(store, "toys", entry(4))
    manifest, backup = tmp_path / MANIFEST, tmp_path / BACKUP
    flip_byte(manifest)
    assert read_versions(store) == {"toys": [entry(), entry(4)]}
    assert len(caplog.messages) == 1
    drop_versions(store, "toys", [entry()], entry(4))
    for damaged in (manifest, backup):
        whole = damaged.read_bytes()
        damaged.unlink()
        assert read_versions(store) == {"toys": [entry(4)]}
        damaged.write_bytes(whole)
    flip_byte(manifest)
    flip_byte(backup)
    with pytest.raises(TableDamaged):
        read_versions(store)


class CountedReads(io.BytesIO):
    """A file that counts what is read of it."""

    bytes_read = 0

    def read(self, *arguments: Any) -> bytes:
        data = super().read(*arguments)
        self.bytes_read += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        self.bytes_read += count
        return count

    def close(self) -> None:
        """Stay open, to be opened again."""


def test_a_file_of_another_size_is_not_read() -> None:
    file = CountedReads(b"some bytes")
    store = Mock(Folder, open=Mock(return_value=file))
    digest = hashlib.sha256(file.getvalue()).hexdigest()
    other = File("toys.parquet", 11, digest, NO_FOOTER)
    assert find_mismatch(store, other) == "it has 10 bytes, the manifest says 11"
    assert file.bytes_read == 0
    assert find_mismatch(store, replace(other, bytes=10)) == ""
    assert find_mismatch(store, replace(other, bytes=10, sha256="")).startswith("its SHA-256")
    assert measure_file(store, "toys.parquet") == (10, digest)


def test_versions_of_other_builds_stay(store: Folder) -> None:
    old, ours, others = entry(1), entry(2), entry(3)
    for each in (old, ours, others):
        add_version(store, "toys", each)
    drop_versions(store, "toys", [old], ours)
    assert read_versions(store) == {"toys": [others, ours]}
    drop_versions(store, "toys", [ours], others)
    assert read_versions(store) == {"toys": [others]}


def test_the_docs_name_every_manifest_key(outputs: Path) -> None:
    manifest = json.loads((outputs / MANIFEST).read_text("utf-8"))
    (table,) = manifest["tables"]["eight"]
    words = []
    for heading in ("The object", "A table", "A file"):
        section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        rows = "".join(re.findall(r"^\|.*\n", section, re.MULTILINE))
        words.append({*re.findall(r"`([a-z_0-9]+)`", rows)})
    assert words == [{*manifest}, {*table, *table["index"]}, {*table["parquet"]}]


def test_the_docs_describe_the_manifest_checksum(outputs: Path) -> None:
    text = (outputs / MANIFEST).read_text("utf-8")
    result = re.fullmatch(r'(.*),\n "checksum": "([0-9a-f]{64})"(\n})\n', text, re.DOTALL)
    assert result
    assert hashlib.sha256((result[1] + result[3]).encode()).hexdigest() == result[2]
