"""What a proof says: a line a table, a verdict, and nothing after what fails."""

import json
import re
from pathlib import Path

import pytest

from pipeline import verify
from pipeline.doors import told
from tablebase.puzzle import Puzzle
from tablebase.puzzles.eight import PUZZLE as EIGHT
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests.support.falsified import cell, rewrite, write_manifest
from tests.support.shell import Cli, Said

LINE = re.compile(r"(\S+(?:, \.idx)?) +(?:([\d,]+) rows +)?(\d+) claims? +[\d.]+ s")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> Said:
    code = told(["verify", *words])
    return Said(code, *capsys.readouterr())


@pytest.fixture
def eight(copy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the 8-puzzle's tables and one of another puzzle, which has no rules here."""
    for module in (verify, verify.listed):
        monkeypatch.setattr(module, "puzzles", lambda: [EIGHT])
    only(copy, "eight", "eight_edge", "knight_tours_5x5")
    return copy


def only(folder: Path, *names: str) -> None:
    entries = read_manifest(Folder(folder))
    write_manifest(Folder(folder), {name: entries[name] for name in names})


def test_quick_says_that_nothing_was_proved(copy: Path, cli: Cli) -> None:
    code, out, err = cli("verify", "--quick", "--outputs", str(copy))
    *lines, verdict = out.splitlines()
    assert (code, err) == (0, "")
    rows = [found.groups() for found in map(LINE.fullmatch, lines) if found]
    assert [row[:2] for row in rows] == [
        ("manifest.json", None),
        ("eight.parquet, .idx", "362,880"),
        ("eight_edge.parquet, .idx", "181,440"),
        ("senet.parquet, .idx", "756,756"),
        ("knight_tours_5x5.parquet", "1,728"),
        ("knight_tours_6x6.parquet", "6,637,920"),
        ("knight_tours_8x8.parquet, .idx", "2,048"),
        ("knight_counts.parquet", "1,066"),
    ]
    claims = sum(int(row[2]) for row in rows)
    assert re.fullmatch(
        rf"the files match the manifest: {claims} claims, 7 tables, [\d.]+ s; "
        "nothing was proved from the rules",
        verdict,
    )
    told = json.loads(cli("verify", "--quick", "--json", "--outputs", str(copy)).out)
    assert (told["proved"], told["as_listed"], len(told["unproved"])) == (False, True, 7)
    assert told["totals"] | {"seconds": 0} == {"claims": claims, "tables": 7, "seconds": 0}
    assert len(told["claims"]) == claims


def test_the_verdict_names_what_no_rule_knows(
    eight: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = said(capsys, "--outputs", str(eight))
    *lines, verdict = out.splitlines()
    assert (code, err) == (0, "")
    rows = [found.groups() for found in map(LINE.fullmatch, lines) if found]
    assert [(name, int(claims)) for name, _, claims in rows] == [
        ("manifest.json", 1),
        ("eight.parquet, .idx", 15),
        ("eight_edge.parquet, .idx", 15),
        ("knight_tours_5x5.parquet", 1),
    ]
    assert re.fullmatch(
        r"proved: 32 claims, 3 tables, [\d.]+ s; not proved: the rows of "
        r"knight_tours_5x5\.parquet: no rules for them here",
        verdict,
    )
    told = json.loads(said(capsys, "--json", "--outputs", str(eight)).out)
    assert (told["proved"], told["unproved"]) == (False, ["knight_tours_5x5.parquet"])


class Bare(Puzzle):
    """A puzzle whose recipe no proof knows of a puzzle of its kind."""

    name = "bare"
    title = "Bare"
    tables = EIGHT.tables


def test_the_verdict_names_a_puzzle_without_a_proof(
    eight: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = Bare()
    for module in (verify, verify.listed):
        monkeypatch.setattr(module, "puzzles", lambda: [bare])
    only(eight, "eight", "eight_edge")
    code, out, _ = said(capsys, "--outputs", str(eight))
    assert code == 0
    assert out.endswith(
        "; not proved: the rows of eight.parquet, eight_edge.parquet: no rules for them here\n"
    )


def test_all_proved_is_said_plainly_and_every_claim_on_demand(
    eight: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only(eight, "eight", "eight_edge")
    out = said(capsys, "--verbose", "--outputs", str(eight)).out
    *claims, verdict = out.splitlines()
    assert re.fullmatch(r"proved: 31 claims, 2 tables, [\d.]+ s", verdict)
    assert len(claims) == 31
    assert all(line.endswith(" rows") for line in claims)
    told = json.loads(said(capsys, "--json", "--outputs", str(eight)).out)
    assert (told["proved"], told["unproved"]) == (True, [])


def test_nothing_is_claimed_after_what_fails(
    eight: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(eight, "eight_edge", cell("solutions", 7, 99))
    code, out, err = said(capsys, "--outputs", str(eight))
    assert code == 3
    assert "eight_edge.parquet fails a proof" in err
    # what was proved before stands there, and no verdict
    assert [line.split(",")[0] for line in out.splitlines()][1:] == ["eight.parquet"]
    assert "proved" not in out
    told = json.loads(said(capsys, "--json", "--outputs", str(eight)).out)
    assert told["proved"] is False
    assert told["failure"]["file"] == "eight_edge.parquet"
