"""A table of several files is one table to readers and to the proof."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import NoSuchTour, TableError
from pipeline.puzzles.knight import PUZZLE as KNIGHT
from pipeline.tables.manifest import read_manifest, write_manifest
from pipeline.verify import verify
from queries import open_tables
from queries.answers import reader
from queries.explorer.tours import signposts
from queries.overview import status
from queries.published import scanned
from queries.report import figures
from queries.report.figure import Asked
from tests.falsified import (
    FIVE,
    TABLES,
    linked_copy,
    prove_one,
    refuted,
    split,
    vouch,
    written,
)
from tests.recorder import built
from tests.shell import Cli

CUTS = {
    "eight": (70_000, 200_000),
    "eight_edge": (1,),
    "senet": (400_000,),
    FIVE: (100, 200, 304, 304, 900),
    "knight_tours_6x6": (1_000_000, 3_000_000),
    "knight_tours_8x8": (40, 64),
    "knight_counts": (30,),
}
"""Borders in the midst of a start's tours, twice in those of a1, and where a start's begin."""


@pytest.fixture(scope="module")
def several(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is published, every table in several files."""
    folder = linked_copy(outputs, tmp_path_factory.mktemp("several"))
    for name, cuts in CUTS.items():
        split(folder, name, *cuts)
    return folder


# ---- readers --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CUTS)
def test_the_rows_are_those_of_one_file(name: str, several: Path, outputs: Path) -> None:
    assert len(read_manifest(several)[name]["files"]) == len(CUTS[name]) + 1
    assert not (several / f"{name}.parquet").exists()
    rows, whole = (scanned(str(folder), "", TABLES[name]) for folder in (several, outputs))
    if name == "knight_tours_6x6":
        rows, whole = (frame.drop("board", "path") for frame in (rows, whole))
    assert rows.collect().equals(whole.collect())


@settings(max_examples=25)
@given(st.lists(st.integers(0, 1728), min_size=1, max_size=6))
def test_wherever_files_end(
    outputs: Path, tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    folder = linked_copy(outputs, tmp_path_factory.mktemp("cut"))
    split(folder, FIVE, *sorted(cuts))
    rows, whole = (scanned(str(where), "", TABLES[FIVE]) for where in (folder, outputs))
    assert rows.collect().equals(whole.collect())
    prove_one(folder, FIVE)


@pytest.mark.parametrize("board", ["5x5", "6x6"])
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"number": "0"},
        {"number": "99"},
        {"number": "100"},
        {"number": "250"},
        {"number": "303"},
        {"number": "524485"},
        {"to": "e5"},
        {"to": "c3"},
        {"closed": True},
        {"count": True},
    ],
    ids=str,
)
def test_answers_are_those_of_one_file(
    board: str, asked: dict[str, Any], several: Path, outputs: Path
) -> None:
    for start in ("a1", "c1", "e5", "b1"):
        told = []
        for folder in (several, outputs):
            try:
                told.append(reader("knight", str(folder)).facts(start, {"board": board, **asked}))
            except NoSuchTour as error:
                told.append({"error": str(error)})
        assert told[0] == told[1]


def test_the_shell_answers_from_any_of_the_files(cli: Cli, several: Path, outputs: Path) -> None:
    for words in (
        "query knight a1 --board 5x5 --number 303",
        "query knight --board 5x5 --count",
        "histogram eight",
        "histogram senet",
    ):
        said, whole = (cli(*words.split(), "--outputs", str(f)) for f in (several, outputs))
        assert said == whole
        assert said.code == 0


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("knight --board 5x5 --number 250", "a1\nb1\nc1\na3\n"),
        ("knight --board 6x6 --to b6", "a1\nd4\n"),
        ("knight --closed", "a1\nh8\n"),
        ("eight", "123456780\n876543210\n123456708\n"),
        ("senet", "ABAAABBB.B...A.\nABABABABAB.....\n"),
    ],
)
def test_batches_are_those_of_one_file(
    cli: Cli, words: str, keys: str, several: Path, outputs: Path
) -> None:
    asked = ("query", *words.split(), "-")
    said, whole = (cli(*asked, "--outputs", str(f), stdin=keys) for f in (several, outputs))
    assert said == whole
    assert len(said.out.splitlines()) == 1 + len(keys.splitlines())


def test_python_answers_from_any_of_the_files(several: Path, outputs: Path) -> None:
    with open_tables(str(several)) as tables, open_tables(str(outputs)) as whole:
        for start in ("a1", "a3", "e5"):
            found = tables.knight.probe(start, board="5x5", number=150 if start == "a1" else 20)
            assert found == whole.knight.probe(start, board="5x5", number=found.number)
            assert tables.knight.count(start, board="6x6") == whole.knight.count(start, board="6x6")
        frame = pl.DataFrame({"state": ["876543210", "123456708"]})
        assert tables.eight.annotate(frame).equals(whole.eight.annotate(frame))


def test_report_and_explorer_ask_it_as_one(several: Path, outputs: Path) -> None:
    asked, whole = Asked(str(several)), Asked(str(outputs))
    for figure in figures():
        assert asked.answer(figure).equals(whole.answer(figure)), figure.name
    assert asked.rows == whole.rows
    for name in (FIVE, "knight_tours_6x6"):
        posts = [signposts(str(folder), "knight", TABLES[name]) for folder in (several, outputs)]
        assert posts[0] == posts[1]


def test_status_adds_the_files_up(cli: Cli, several: Path) -> None:
    rows = {row["table"]: row for row in status(str(several))}
    for name in CUTS:
        files = [*several.glob(f"{name}.*.parquet")]
        assert len(files) == len(CUTS[name]) + 1
        assert rows[name]["state"] == "published"
        assert rows[name]["bytes"] == sum(path.stat().st_size for path in files)
    assert cli("status", "--outputs", str(several)).code == 0


# ---- the proof ------------------------------------------------------------------------------


def test_its_files_are_held_against_the_manifest(cli: Cli, several: Path) -> None:
    said = cli("verify", "--quick", "--outputs", str(several))
    assert (said.code, said.err) == (0, "")
    rows = re.findall(r"^(\w+)\.\*\.parquet\S* .*?([\d,]+) rows", said.out, re.MULTILINE)
    entries = read_manifest(several)
    assert dict(rows) == {name: f"{entries[name]['rows']:,}" for name in CUTS}


@pytest.mark.long
def test_it_is_proved_as_one(several: Path) -> None:
    told = [(claim.table, claim.claim, claim.rows) for claim in verify(several)]
    for name in CUTS:
        assert any(of == name and "every row decodes" in claim for of, claim, _ in told)
    assert {rows for of, _, rows in told if of == "knight_tours_6x6"} == {6_637_920}


def cut(second: Path, other: Path) -> None:
    second.write_bytes(second.read_bytes()[:-1])


def flipped(second: Path, other: Path) -> None:
    data = bytearray(second.read_bytes())
    data[len(data) // 2] ^= 1
    second.write_bytes(data)


def another(second: Path, other: Path) -> None:
    shutil.copy(other, second)


def missing(second: Path, other: Path) -> None:
    second.unlink()


@pytest.mark.parametrize("spoil", [cut, flipped, another, missing])
def test_a_second_file_that_is_not_the_listed_one(
    pieces: list[Path], cli: Cli, spoil: Callable[[Path, Path], None]
) -> None:
    _, second, third = pieces
    folder = second.parent
    spoil(second, third)
    assert [row["state"] for row in status(str(folder)) if row["table"] == FIVE] == ["damaged"]
    with pytest.raises(TableError) as caught:
        verify(folder, quick=True)
    assert caught.value.file == str(second)
    for words in ("query knight a1 --board 5x5", "query knight a1 --board 5x5 --number 3"):
        said = cli(*words.split(), "--outputs", str(folder))
        assert (said.code, said.out) == (3, "")
        assert str(second) in said.err
        assert said.err.endswith(f"Run: pipeline precompute knight --outputs {folder}\n")
    state = "missing" if spoil is missing else "damaged"
    report = built(folder, KNIGHT, TABLES[FIVE])
    assert report.reasons == {FIVE: f"{second.name} {state}"}


def test_files_in_another_order_fail_the_proof(pieces: list[Path]) -> None:
    first, second, _ = pieces
    spare = first.with_name("spare")
    first.rename(spare)
    second.rename(first)
    spare.rename(second)
    vouch(first.parent, FIVE, 3)
    failure = refuted(first.parent, FIVE)
    assert "strictly ascend" in failure.claim.claim
    assert failure.row == 800


def test_a_tour_that_two_files_hold_fails_the_proof(pieces: list[Path]) -> None:
    shutil.copy(pieces[0], pieces[1])
    vouch(pieces[0].parent, FIVE, 3)
    assert refuted(pieces[0].parent, FIVE).row == 100


def test_a_file_that_is_left_out_fails_the_proof(pieces: list[Path]) -> None:
    vouch(pieces[0].parent, FIVE, 2)
    assert "equally many tours lead" in refuted(pieces[0].parent, FIVE).claim.claim


def test_numbers_begin_anew_in_each_file(copy: Path) -> None:
    """Numbers that go on from one file to the next would be counted twice by readers."""
    whole = pq.read_table(copy / f"{FIVE}.parquet")
    _, second = split(copy, FIVE, 100)
    written(whole.slice(100), second, TABLES[FIVE])
    vouch(copy, FIVE, 2)
    failure = refuted(copy, FIVE)
    assert (failure.row, failure.found, failure.expected) == (100, "number 100", "0")


@pytest.mark.parametrize(
    ("name", "words"),
    [(FIVE, "meaning"), ("eight_edge", "meaning"), ("eight_edge", "sorting columns")],
)
def test_what_each_file_says_of_itself_is_proved(copy: Path, name: str, words: str) -> None:
    _, second, _ = split(copy, name, 100, 900)
    rows = pq.read_table(second)
    if words == "meaning":
        rows = rows.replace_schema_metadata({**rows.schema.metadata, b"meaning": b"nothing"})
    # and nothing is said of how the rows are sorted
    pq.write_table(rows, second)
    vouch(copy, name, 3)
    failure = refuted(copy, name)
    assert (failure.file, failure.claim.file) == (str(second), second.name)
    assert words in str(failure)


def test_each_file_has_the_rows_that_the_manifest_gives_it(pieces: list[Path]) -> None:
    folder = pieces[0].parent
    entries = read_manifest(folder)
    _, second, third = entries[FIVE]["files"]
    second["rows"] -= 1
    third["rows"] += 1
    third["first"] -= 1
    write_manifest(folder, entries)
    failure = refuted(folder, FIVE)
    assert (failure.file, failure.found, failure.expected) == (
        str(pieces[1]),
        "800 rows",
        "799 rows",
    )
