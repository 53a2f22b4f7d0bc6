"""Tests of `status`: it shows the state of every table, and fails if one cannot be used."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tablebase.tables.manifest import Page, read_manifest, seal
from tablebase.tables.store import Folder
from tests.support.default_tables import COUNT
from tests.support.shell import Cli
from tests.support.tampered import (
    describe_file,
    edit_manifest,
    flip_byte,
    write_manifest,
)


def remove_from_manifest(path: Path) -> None:
    with edit_manifest(path.parent) as entries:
        del entries[path.stem]


@pytest.mark.parametrize(
    ("spoil", "state"), [(remove_from_manifest, "missing"), (flip_byte, "damaged")]
)
def test_a_table_that_cannot_be_used(
    copy: Path, cli_in_process: Cli, spoil: Callable[[Path], None], state: str
) -> None:
    """`test_damaged_files.py` tries every damage of every kind of file."""
    spoil(copy / "senet.idx")
    command = f"pipeline precompute senet --outputs {copy}"
    text = cli_in_process("status", "--outputs", str(copy))
    assert text.code == 3
    assert f"{state}: {command}" in text.out
    assert text.out.count(" published\n") == COUNT - 1
    summary = f"1 of {COUNT} tables cannot be used (1 {state})"
    assert text.err == f"pipeline: {summary}. Run: {command}\n"
    as_json = cli_in_process("status", "--json", "--outputs", str(copy))
    assert (as_json.code, as_json.err) == (3, text.err)
    assert {row["state"] for row in json.loads(as_json.out)} == {"published", state}


def test_the_repair_commands_cover_all_damaged_tables(copy: Path, cli_in_process: Cli) -> None:
    """Expect a command of its own for a requested table, which no default build includes."""
    with edit_manifest(copy) as entries:
        listed = describe_file(copy / "knight_tours_5x5.parquet")
        file = {**listed, "file": "knight_tours_3x4.parquet"}
        entries["knight_tours_3x4"] = {**entries["knight_tours_5x5"], "parquet": file}
        total = len(entries)
    for name in ("eight.idx", "knight_counts.parquet"):
        (copy / name).unlink()
    text = cli_in_process("status", "--outputs", str(copy))
    default_command, _, requested_command = text.err.partition(" Run: ")[2].partition(" && ")
    assert text.err.startswith(f"pipeline: 3 of {total} tables cannot be used (3 damaged). ")
    assert default_command == f"pipeline precompute --outputs {copy}"
    assert requested_command == f"pipeline precompute knight_tours_3x4 --outputs {copy}\n"


def test_an_outdated_page_is_no_error(copy: Path, cli_in_process: Cli) -> None:
    (copy / "report.html").write_text("old")
    entries = read_manifest(Folder(copy))
    page = Page(3, "", {"eight": "another"}, "report")
    write_manifest(Folder(copy), entries, {"report.html": page})
    text = cli_in_process("status", "--outputs", str(copy))
    assert (text.code, text.err) == (0, "")
    assert "out of date" in text.out


def test_tables_of_another_format_version(copy: Path, cli_in_process: Cli) -> None:
    path = copy / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["checksum"]
    path.write_text(seal({**manifest, "format_version": 0}))
    text = cli_in_process("status", "--outputs", str(copy))
    assert (text.code, text.out) == (3, "")
    assert "format version 0" in text.err
