"""Tests of damage in an index whose checksums are right but whose records contradict each other."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.errors import TableDamaged
from puzzle_tablebase.pipeline.terminal import format_repair
from puzzle_tablebase.puzzles import senet
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.sliding import EIGHT
from puzzle_tablebase.queries.prober import answer_as_text, open_prober
from puzzle_tablebase.queries.tables import Tables, open_tables
from tests.support.querying import query_many
from tests.support.tampered import locate_record, replace_link, reseal

LINE = "283104765"
"""A state with one solution, of four moves."""


def open_with_change(folder: Path, name: str, rank: int, field: int, *values: int) -> Tables:
    """Change some bytes of one record, and open the tables."""
    path = replace_link(folder / f"{name}.idx")
    data = bytearray(path.read_bytes())
    at = locate_record(data, rank) + field
    assert data[at : at + len(values)] != bytes(values)
    data[at : at + len(values)] = values
    path.write_bytes(reseal(data))
    return open_tables(str(folder))


@contextmanager
def require_damage(folder: Path, name: str) -> Iterator[None]:
    """Require an error that names the index, and the command that builds it again."""
    with pytest.raises(TableDamaged) as damaged:
        yield
    assert damaged.value.file == str(folder / f"{name}.idx")
    command = f"pipeline precompute {name} --force --outputs {folder}"
    assert format_repair(damaged.value) == command


@pytest.mark.parametrize("distance", [1, 7, 255])
@pytest.mark.parametrize("neighbour", ["203184765", "023184765", "123804765"])
def test_distances_that_lead_nowhere(copy: Path, neighbour: str, distance: int) -> None:
    table = open_with_change(copy, "eight", EIGHT.rank(neighbour), 0, distance).eight
    for call in (table.path, table.solution):
        with require_damage(copy, "eight"):
            call(LINE)
    if neighbour == "203184765":
        with require_damage(copy, "eight"):
            table.probe(LINE, goal="centre")
    for word in ("path", "solutions"):
        with require_damage(copy, "eight"):
            answer_as_text("eight", LINE, {word: True, "outputs": str(copy)})


@pytest.mark.parametrize("distance", [0, 9, 31])
def test_distances_that_lead_nowhere_in_a_batch(copy: Path, distance: int) -> None:
    tables = open_with_change(copy, "eight", EIGHT.rank("203184765"), 0, distance)
    reader = open_prober("eight", tables.store)
    keys, others = (pl.Series([key] * 100) for key in ("123456780", "283104765"))
    answers = query_many(reader, keys, goal="123804765")
    assert answers["error"].is_not_null().all(), "of so many keys, the rows answer: they are intact"
    rows = query_many(reader, others, goal="centre")
    assert {*rows.select("distance", "best_moves").iter_rows()} == {(4, "U")}


def test_another_number_of_solutions(copy: Path) -> None:
    open_with_change(copy, "eight", EIGHT.rank(LINE), 1, 2)
    with require_damage(copy, "eight"):
        answer_as_text("eight", LINE, {"solutions": True, "outputs": str(copy)})


THREE_PLIES = "AABBABBABA....."


@pytest.mark.parametrize(
    ("position", "field", "value"),
    [*((THREE_PLIES, 3, move) for move in (0x15, 0x1B, 0x51, 0x5F)), ("ABABABAB.B....A", 0, 0)],
)
def test_a_last_move_or_an_opening_that_leads_nowhere(
    copy: Path, position: str, field: int, value: int
) -> None:
    table = open_with_change(copy, "senet", senet.rank(position), field, value).senet
    with require_damage(copy, "senet"):
        table.probe(position)


def test_a_tour_that_is_missing(outputs: Path, copy: Path) -> None:
    """Write one tour of b1 over another, so that two lead to one end and none to the other."""
    first, second = (open_tables(str(outputs)).knight.probe("b1", number=n) for n in (0, 1))
    board = KnightBoard(8, 8)
    squares = [board.parse_square(second.path[at : at + 2]) for at in range(0, 128, 2)]
    knight = open_with_change(copy, "knight_tours_8x8", 32, 0, *squares).knight
    assert knight.probe("b1").finish == second.finish
    with require_damage(copy, "knight_tours_8x8"):
        knight.probe("b1", to=first.finish)


@pytest.mark.parametrize(("field", "squares"), [(0, [16, 1]), (1, [11]), (63, [1])])
def test_a_path_that_is_no_tour(outputs: Path, copy: Path, field: int, squares: list[int]) -> None:
    """Make the tour begin elsewhere, jump too far, or visit a square twice."""
    knight = open_with_change(copy, "knight_tours_8x8", 32, field, *squares).knight
    assert knight.probe("b1", number=1) == open_tables(str(outputs)).knight.probe("b1", number=1)
    with require_damage(copy, "knight_tours_8x8"):
        knight.probe("b1", number=0)
