"""Tests of `pipeline diff`: tables whose content differs, or that only one store has."""

import json
from pathlib import Path

from msgspec.structs import replace

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.stores.folder import Folder
from tests.support.shell import Cli
from tests.support.tampered import rename_entry, write_manifest


def test_tables_that_differ_are_listed(cli: Cli, copy: Path, outputs: Path) -> None:
    entries = read_manifest(Folder(copy))
    other = {**entries, "hanoi": rename_entry(entries["senet"], "hanoi")}
    other["eight"] = replace(entries["eight"], content="0" * 64)
    del other["senet"]
    write_manifest(Folder(copy), other)
    expected = {"eight": "content", "hanoi": "only in B", "senet": "only in A"}
    said = cli("diff", str(outputs), str(copy), "--json")
    assert said.code == 1
    assert {row["table"]: row["difference"] for row in json.loads(said.out)} == expected
    total = len(entries) + 1
    assert said.err == f"pipeline: 3 of {total} tables differ: eight, hanoi, senet.\n"
    lines = cli("diff", str(outputs), str(copy)).out.splitlines()
    assert [line.split(maxsplit=1) for line in lines[1:]] == [[*row] for row in expected.items()]


def test_equal_content_in_other_bytes_is_no_difference(cli: Cli, copy: Path, outputs: Path) -> None:
    entries = read_manifest(Folder(copy))
    write_manifest(Folder(copy), {**entries, "eight": replace(entries["eight"], made_by="another")})
    assert cli("diff", str(outputs), str(copy)) == (0, "", "")
    assert cli("diff", str(outputs), str(copy), "--json") == (0, "[]\n", "")


def test_a_store_without_a_manifest_is_an_error(cli: Cli, outputs: Path, tmp_path: Path) -> None:
    for pair in ((outputs, tmp_path), (tmp_path, outputs)):
        said = cli("diff", *map(str, pair))
        assert (said.code, said.out) == (3, "")
        assert f"{tmp_path}/manifest.json is not published" in said.err
