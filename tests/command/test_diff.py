"""Tests of `pipeline diff`: tables whose content differs, or that only one store has."""

import json
from pathlib import Path

from msgspec.structs import replace

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.stores.folder import Folder
from tests.support.shell import Cli
from tests.support.tampered import rename_entry, write_manifest


def test_tables_whose_content_differs_are_listed(cli: Cli, copy: Path, outputs: Path) -> None:
    entries = read_manifest(Folder(copy))
    # other bytes of the same content are no difference
    write_manifest(Folder(copy), {**entries, "eight": replace(entries["eight"], made_by="another")})
    assert cli("diff", str(outputs), str(copy)) == (0, "", "")
    other = {**entries, "hanoi": rename_entry(entries["senet"], "hanoi")}
    other["eight"] = replace(entries["eight"], content="0" * 64)
    del other["senet"]
    write_manifest(Folder(copy), other)
    said = cli("diff", str(outputs), str(copy), "--json")
    assert said.code == 1
    assert {row["table"]: row["difference"] for row in json.loads(said.out)} == {
        "eight": "content",
        "hanoi": "only in B",
        "senet": "only in A",
    }
