"""Folders and files whose names are patterns, options or addresses to a library or a shell."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from puzzle_tablebase.pipeline.proofs.claims import Silence
from puzzle_tablebase.pipeline.proofs.verdicts import Verdict
from puzzle_tablebase.pipeline.verify import prove
from tests.support.shell import Cli, Completed, run_here
from tests.support.tampered import (
    cell,
    get_refutation,
    link_copy,
    open_one,
    prove_one,
    rewrite,
    run,
)

FIVE = "knight_tours_5x5"
SIBLINGS = {
    "tables[1]": "tables1",
    "t*": "tables",
    "?": "t",
    "{a,b}": "a",
    "run:1": "1",
    "hf:": "hf",
    "file:": "file",
    "line\nbreak": "linebreak",
    "-o": "o",
    "e\u0301": "\u00e9",
    "**": "x",
    "~": "home",
}
"""Each name, with one that it stands for, or may be mistaken for."""
SISTERS = {"t*", "?", "**", "run:1"}
"""Names that a library reads as it does `tables[1]`, or `file:`."""


@pytest.fixture(
    params=[
        pytest.param(name, marks=[pytest.mark.slow] * (name in SISTERS), id=ascii(name))
        for name in SIBLINGS
    ]
)
def name(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    found: str = request.param
    return found


def link_as(outputs: Path, tmp_path: Path, name: str) -> Path:
    """Return a linked copy of the tables in a folder of a name, by its absolute path."""
    return link_copy(outputs, tmp_path).rename(tmp_path / name)


def test_a_proof_reads_no_other_folder(name: str, outputs: Path, tmp_path: Path) -> None:
    forged, true = (link_as(outputs, tmp_path, each) for each in (name, SIBLINGS[name]))
    rewrite(forged, FIVE, cell("number", 5, 4))
    assert prove_one(Path(SIBLINGS[name]), FIVE).verdicts
    assert get_refutation(Path(name), FIVE).row == 5
    rewrite(true, FIVE, cell("number", 5, 4))
    rewrite(forged, FIVE, cell("number", 5, 5))
    assert prove_one(Path(name), FIVE).verdicts


COMMANDS = (
    *("query eight 378546201", "query knight a1 --board 5x5 --number 7", "histogram eight"),
    *("sample knight --board 5x5 --size 2", f"verify {FIVE} --json", "status --json"),
)


@cache
def query_usual(outputs: Path, words: str) -> Completed:
    """Return what a command says of the published tables."""
    return run_here(*words.split(), f"--outputs={outputs}")


@pytest.mark.slow
def test_a_report_reads_the_folder_that_is_named(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draw charts of most tables, which takes longer than other commands."""
    monkeypatch.chdir(tmp_path)
    link_as(outputs, tmp_path, "tables[1]")
    completed = run_here("report", "--output", "-", "--outputs=tables[1]", cwd=tmp_path)
    assert completed == query_usual(outputs, "report --output -")


def test_every_command_reads_the_folder_that_is_named(
    name: str, outputs: Path, tmp_path: Path, cli: Cli
) -> None:
    link_as(outputs, tmp_path, name)
    folder = "./~" if name == "~" else name
    for words in COMMANDS:
        completed = cli(*words.split(), f"--outputs={folder}", cwd=tmp_path)
        expected = query_usual(outputs, words)
        assert completed.code == expected.code == 0, (words, completed.err)
        if not words.startswith("verify"):  # it says a time
            assert completed.out == expected.out, words


def test_a_batch_reads_the_file_that_is_named(
    name: str, outputs: Path, tmp_path: Path, cli: Cli
) -> None:
    keys = {name: "378546201", SIBLINGS[name]: "123456780"}
    for suffix, write in (("parquet", pl.DataFrame.write_parquet), ("csv", pl.DataFrame.write_csv)):
        for each, key in keys.items():
            with (tmp_path / f"{each}.{suffix}").open("wb") as file:
                write(pl.DataFrame({"state": [key]}), file)
        words = (f"--input={name}.{suffix}", f"--outputs={outputs}", f"--output={name}.out.parquet")
        if name != "~":
            assert cli("query", "eight", *words, cwd=tmp_path) == (0, "", "")
            with (tmp_path / f"{name}.out.parquet").open("rb") as file:
                assert pl.read_parquet(file)["state"].to_list() == ["378546201"]


class Exchanger(Silence):
    """An observer that replaces a file once its bytes were compared with the manifest."""

    def __init__(self, new: Path, old: Path) -> None:
        self._new, self._old = new, old

    def on_claim(self, claim: Mapping[str, Any]) -> None:
        if "SHA-256" in claim["claim"]:
            self._new.replace(self._old)


def test_a_proof_is_about_the_bytes_that_were_hashed(outputs: Path, tmp_path: Path) -> None:
    true, forged = (link_copy(outputs, tmp_path).rename(tmp_path / each) for each in ("a", "b"))
    rewrite(forged, FIVE, cell("number", 5, 4))
    listed = open_one(true, FIVE)
    exchanger = Exchanger(*(folder / listed.file for folder in (forged, true)))
    result = run(listed, prove(listed, {}), exchanger)
    assert [each.verdict for each in result.verdicts] == [Verdict.PROVED]
    assert get_refutation(true, FIVE).claim["claim"].startswith("size and SHA-256")
