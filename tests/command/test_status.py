"""Tests of `status`: it shows the state of every table, and fails if one cannot be used."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.default_tables import COUNT
from tests.support.shell import Cli
from tests.support.tampered import (
    edit_manifest,
    flip_byte,
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
