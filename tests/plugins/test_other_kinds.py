"""Tests of two puzzles without goals, one of each kind, added through the registry."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from puzzle_tablebase import puzzles
from puzzle_tablebase.errors import BadRequest, NoAnswer, NotationError
from puzzle_tablebase.graph import SearchResult
from puzzle_tablebase.pipeline.single_query import answer_as_text
from puzzle_tablebase.pipeline.verify import prove
from puzzle_tablebase.pipeline.verify.files import check_files, list_tables
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tables.store import Folder
from tests.support import jugs, lanes, oracles
from tests.support.build_recorder import build_tables
from tests.support.tampered import (
    TABLES,
    Change,
    Records,
    cell,
    change_byte,
    exchange_rows,
    falsify,
    without,
)

if TYPE_CHECKING:
    from puzzle_tablebase.puzzle import Columns

TOYS = {"jugs": jugs.PUZZLE, "lanes": lanes.PUZZLE}


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, toy in TOYS.items():
        monkeypatch.setitem(puzzles.MODULES, name, f"tests.support.{name}")
        for table in toy.tables:
            monkeypatch.setitem(TABLES, table.name, table)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Build the tables of both toys, and no others."""
    path = tmp_path_factory.mktemp("toys")
    for toy in TOYS.values():
        assert build_tables(path, toy).finished == [table.name for table in toy.tables]
    yield path
    assert not list(path.glob(".*.unpublished"))


def list_shortest_lines() -> dict[str, list[str]]:
    """Return all shortest lines to each state, the smallest first, by following all lines."""
    result, layer = {"00": [""]}, {"00": [""]}
    while layer:
        after: dict[str, list[str]] = {}
        for state, shortest in layer.items():
            for letter, jars in zip(jugs.MOVES, jugs.moves(*map(int, state)), strict=True):
                reached = "".join(map(str, jars))
                if reached not in result:
                    after.setdefault(reached, []).extend(line + letter for line in shortest)
        for shortest in after.values():
            shortest.sort(key=lambda line: [*map(jugs.MOVES.index, line)])
        result, layer = result | after, after
    return result


def test_the_table_of_a_searched_toy_has_its_shortest_lines(folder: Path) -> None:
    expected = list_shortest_lines()
    assert 0 < len(expected) < jugs.PUZZLE.size
    rows = []
    for state in map(jugs.PUZZLE.unrank, range(jugs.PUZZLE.size)):
        shortest, held = expected.get(state, []), tuple(map(int, state))
        first = shortest[0] if shortest else None
        steps = None if first is None else len(first)
        changes = sum(after != held for after in jugs.moves(*held))
        rows.append((state, steps, len(shortest), first, changes))
    assert pl.read_parquet(folder / "jugs.parquet").rows() == rows


@pytest.mark.parametrize("name", ["lane_3x4", "lane_4x3"])
def test_the_rows_of_a_listed_toy_are_the_tours(folder: Path, name: str) -> None:
    files, ranks = map(int, name.removeprefix("lane_").split("x"))
    tours = [
        "".join(oracles.square_name(files, square) for square in tour)
        for start in range(files * ranks)
        for tour in oracles.knight_tours(files, ranks, start)
    ]
    assert pl.read_parquet(folder / f"{name}.parquet")["path"].to_list() == tours


def test_lookups_of_a_searched_toy(folder: Path) -> None:
    options: dict[str, str | bool] = {"outputs": str(folder)}
    lines = list_shortest_lines()["43"]
    last = jugs.MOVES.index(lines[0][-1]) << 4
    text = json.loads(answer_as_text("jugs", " 43 ", {**options, "json": True}))
    assert text == {"state": "43", "steps": 6, "ways": len(lines), "last": last}
    assert answer_as_text("jugs", "43", options).split() == [
        str(word) for pair in text.items() for word in pair
    ]
    with pytest.raises(NotationError, match="it needs 0-5, then 0-3"):
        answer_as_text("jugs", "60", options)


def test_lookups_of_a_listed_toy(folder: Path) -> None:
    options: dict[str, str | bool] = {"outputs": str(folder), "json": True}
    with pytest.raises(BadRequest, match="has 16 rows for '3x4': its board does not tell them"):
        answer_as_text("lanes", "3x4", options)
    with pytest.raises(NoAnswer):
        answer_as_text("lanes", "9x9", options)


# ---- verification ---------------------------------------------------------------------------


def prove_toy(folder: Path, toy: Puzzle, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Prove the tables of one toy, with the other one unregistered; return the passed claims."""
    modules = {name: puzzles.MODULES[name] for name, candidate in TOYS.items() if candidate is toy}
    monkeypatch.setattr(puzzles, "MODULES", modules)
    claims = list[str]()
    tables = list_tables(
        Folder(folder), lambda claim, done: claims.extend([claim.claim] if claim.passed else [])
    )
    toy_tables = [listed for listed in tables if listed.table]
    for listed in toy_tables:
        check_files(listed)
    prove(toy_tables)
    return claims


STATE = jugs.PUZZLE.rank("43")
AGAIN = "steps and all other columns are as a second search of the graph finds them"


def test_a_searched_toy_is_proved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = prove_toy(folder, jugs.PUZZLE, monkeypatch)
    assert AGAIN in text
    assert text[-2:] == [
        "each record is as a second search of the graph finds it",
        "as many states are at each distance as the proof counted",
    ]


@pytest.mark.parametrize(
    ("name", "change", "row", "claim"),
    [
        *(
            ("jugs", cell(column, STATE, value), STATE, AGAIN)
            for column, value in (
                *(("steps", 9), ("steps", None), ("ways", 9), ("line", "F"), ("moves", 9)),
                ("state", "00"),
            )
        ),
        ("jugs", without(7), None, AGAIN),
        ("jugs", change_byte(7, 16, 2), 7, "each record is as a second search"),
        ("lane_3x4", cell("number", 3, 9), 3, "board, start, finish, closed and number match"),
    ],
)
def test_a_false_toy_is_refuted(
    tmp_path: Path, name: str, change: Change | Records, row: int | None, claim: str
) -> None:
    build_tables(tmp_path, jugs.PUZZLE if name == "jugs" else lanes.PUZZLE)
    failure = falsify(tmp_path, name, change)
    assert failure.claim.claim.startswith(claim)
    assert failure.row == row


def test_a_listed_toy_is_proved_as_its_recipe_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = prove_toy(folder, lanes.PUZZLE, monkeypatch)
    assert sum("no tour is missing" in claim for claim in text) == 2


class Tagged(jugs.Jugs):
    """The jugs with text in their index, and without a column of depths."""

    def __init__(self) -> None:
        (old,) = super().tables
        columns = tuple(column for column in old.columns if column.name != "steps")
        index = (*old.index, ("tag", "3s"))
        self.tables = (Table("jugs", old.meaning, old.rank, columns, old.recipe, index, 24),)

    def make_records(self, table: Table, walks: Mapping[str, SearchResult]) -> Columns:
        tags = np.array([b"a", b"bc"] * 12, "S3")
        return {**super().make_records(table, walks), "tag": tags}


def test_records_of_text_are_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = Tagged()
    monkeypatch.setattr(jugs, "PUZZLE", toy)
    monkeypatch.setitem(TABLES, "jugs", toy.tables[0])
    build_tables(tmp_path, toy)
    monkeypatch.setitem(TOYS, "jugs", toy)
    assert "each record is as a second search" in " ".join(prove_toy(tmp_path, toy, monkeypatch))
    failure = falsify(tmp_path, "jugs", change_byte(7, 1, 4))
    assert (failure.row, failure.expected) == (7, b"bc")


class WithoutRules(Puzzle):
    """A puzzle with the jugs' table, but without rules."""

    name = "jugs"
    title = "Unknown"
    tables = jugs.PUZZLE.tables


@pytest.fixture
def folder_without_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    build_tables(tmp_path, jugs.PUZZLE)
    monkeypatch.setattr(jugs, "PUZZLE", WithoutRules())
    monkeypatch.setitem(TOYS, "jugs", jugs.PUZZLE)
    return tmp_path


def test_general_claims_are_proved_without_rules(
    folder_without_rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = prove_toy(folder_without_rules, jugs.PUZZLE, monkeypatch)
    assert claims[-6:] == [
        "schema, all metadata and number of rows match the definition of the table",
        "every row decodes, and the content hash matches the manifest",
        "the rows ascend by state",
        "ways: each record matches its row",
        "steps, last: not proved, because no column holds the same numbers",
        "states at each distance: not proved, because its proof counts no states",
    ]


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (exchange_rows(7, 8), "the rows ascend by state"),
        (cell("ways", 7, 9), "ways: each record matches its row"),
    ],
)
def test_false_tables_are_refuted_without_rules(
    folder_without_rules: Path, change: Change, claim: str
) -> None:
    failure = falsify(folder_without_rules, "jugs", change)
    assert (failure.claim.claim, failure.row) == (claim, 7)
