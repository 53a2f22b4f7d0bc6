"""Tests of damage in an index whose checksums are right but whose records contradict each other."""

import re
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.errors import TableDamaged
from puzzle_tablebase.pipeline.single_query import answer_as_text
from puzzle_tablebase.puzzles import senet
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.sliding import EIGHT
from puzzle_tablebase.queries import open_reader, open_tables
from puzzle_tablebase.queries.api import Tables
from tests.support.asking import ask_many
from tests.support.tampered import place, replace_link, reseal

LINE = "283104765"
"""A state with one solution, of four moves."""


def open_with_change(folder: Path, name: str, rank: int, field: int, *values: int) -> Tables:
    """Change some bytes of one record, and open the tables."""
    path = replace_link(folder / f"{name}.idx")
    data = bytearray(path.read_bytes())
    at = place(data, rank) + field
    assert data[at : at + len(values)] != bytes(values)
    data[at : at + len(values)] = values
    path.write_bytes(reseal(data))
    return open_tables(str(folder))


def assert_names_index(
    damaged: pytest.ExceptionInfo[TableDamaged], folder: Path, name: str
) -> None:
    assert damaged.value.file == str(folder / f"{name}.idx")
    assert damaged.value.command == f"pipeline precompute {name} --force --outputs {folder}"


@pytest.mark.parametrize("distance", [1, 7, 255])
@pytest.mark.parametrize("neighbour", ["203184765", "023184765", "123804765"])
def test_distances_that_lead_nowhere(copy: Path, neighbour: str, distance: int) -> None:
    table = open_with_change(copy, "eight", EIGHT.rank(neighbour), 0, distance).eight
    for call in (table.path, table.solution):
        with pytest.raises(TableDamaged, match="no solution of 4 moves leads from") as caught:
            call(LINE)
        assert_names_index(caught, copy, "eight")
    if neighbour == "203184765":
        with pytest.raises(TableDamaged, match=f"no move from {LINE} is nearer to"):
            table.probe(LINE, goal="centre")
    for word, problem in (("path", "no solution of 4 moves leads"), ("solutions", "0 solutions")):
        with pytest.raises(TableDamaged, match=f"({problem}|no move)"):
            answer_as_text("eight", LINE, {word: True, "outputs": str(copy)})


@pytest.mark.parametrize("distance", [0, 9, 31])
def test_distances_that_lead_nowhere_in_a_batch(copy: Path, distance: int) -> None:
    tables = open_with_change(copy, "eight", EIGHT.rank("203184765"), 0, distance)
    reader, keys = open_reader("eight", tables.store), pl.Series(["123456780"])
    answers = ask_many(reader, keys, goal="123804765")
    assert answers["error"].is_not_null().all(), "the rows answer, which are intact"
    rows = ask_many(reader, pl.Series(["283104765"]), goal="centre")
    assert rows.select("distance", "best_moves").row(0) == (4, "U")


def test_another_number_of_solutions(copy: Path) -> None:
    open_with_change(copy, "eight", EIGHT.rank("378546201"), 1, 16)
    with pytest.raises(TableDamaged, match="15 solutions lead from 378546201 to 123456780, not 16"):
        answer_as_text("eight", "378546201", {"solutions": True, "outputs": str(copy)})


@pytest.mark.parametrize("move", [0x15, 0x1B, 0x51, 0x5F])
def test_a_last_move_that_leads_nowhere(outputs: Path, copy: Path, move: int) -> None:
    """Change the last throw of a line of three plies."""
    rows = pl.read_parquet(outputs / "senet.parquet")
    position = rows.filter(pl.col("plies_even").is_null(), plies_odd=3)["position"][0]
    table = open_with_change(copy, "senet", senet.rank(position), 3, move).senet
    with pytest.raises(TableDamaged, match="no line leads to ") as caught:
        table.probe(position)
    assert_names_index(caught, copy, "senet")


def test_another_opening(copy: Path) -> None:
    position = "ABABABAB.B....A"
    with pytest.raises(TableDamaged, match=re.escape(f"no line leads to {position}")):
        open_with_change(copy, "senet", senet.rank(position), 0, 0).senet.probe(position)


def test_a_tour_that_is_missing(outputs: Path, copy: Path) -> None:
    """Write one tour of b1 over another, so that two lead to one end and none to the other."""
    first, second = (open_tables(str(outputs)).knight.probe("b1", number=n) for n in (0, 1))
    board = KnightBoard(8, 8)
    squares = [board.parse_square(second.path[at : at + 2]) for at in range(0, 128, 2)]
    knight = open_with_change(copy, "knight_tours_8x8", 32, 0, *squares).knight
    assert knight.probe("b1").finish == second.finish
    with pytest.raises(TableDamaged, match="an existing tour from b1 is missing") as caught:
        knight.probe("b1", to=first.finish)
    assert_names_index(caught, copy, "knight_tours_8x8")


@pytest.mark.parametrize(("field", "squares"), [(0, [16, 1]), (1, [11]), (63, [1])])
def test_a_path_that_is_no_tour(outputs: Path, copy: Path, field: int, squares: list[int]) -> None:
    """Make the tour begin elsewhere, jump too far, or visit a square twice."""
    knight = open_with_change(copy, "knight_tours_8x8", 32, field, *squares).knight
    assert knight.probe("b1", number=1) == open_tables(str(outputs)).knight.probe("b1", number=1)
    with pytest.raises(TableDamaged, match="tour 0 from b1 is none") as caught:
        knight.probe("b1", number=0)
    assert_names_index(caught, copy, "knight_tours_8x8")
