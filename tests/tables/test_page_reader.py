"""Tours by number are what the document says: its own reader answers as the program does."""

import re
from collections import defaultdict
from pathlib import Path
from random import Random

import pytest

from queries import open_tables
from tablebase.errors import NoSuchTour
from tests import often
from tests.support.index_page import tables_under
from tests.support.page_reader import NumberedTours


def squares(path: str) -> list[str]:
    return re.findall("[a-z][0-9]", path)


def jumps(path: list[str]) -> set[frozenset[str]]:
    return {frozenset(jump) for jump in zip(path, path[1:] + path[:1], strict=True)}


@pytest.mark.parametrize("board", ["10x3", "5x6", "6x5", "6x6"])
def test_closed_tours_are_numbered_as_the_document_says(numbered: Path, board: str) -> None:
    page = NumberedTours(numbered / f"knight_cycles_{board}.idx")
    knight = open_tables(str(numbered)).knight
    total = page.total()
    for number in Random(board).sample(range(total), min(total, often(20, 1000))):
        path = squares(knight.cycle(number, board=board).path)
        assert jumps(page.tour(number)) == jumps(path)
        assert page.number(path) == number
    with pytest.raises(NoSuchTour):
        knight.cycle(total, board=board)


@pytest.mark.parametrize("board", ["5x4", "5x5", "8x3"])
def test_open_tours_are_numbered_as_the_document_says(numbered: Path, board: str) -> None:
    """Squares that are images of each other share the numbers, and so their proof."""
    page = NumberedTours(numbered / f"knight_numbers_{board}.idx")
    knight = open_tables(str(numbered)).knight
    kinds: dict[int | None, list[str]] = defaultdict(list)
    for start in page.names:
        kinds[page.turned(start)[0]].append(start)
    for starts in kinds.values():
        total = page.total(starts[0])
        for number in range(total):
            start = starts[number % len(starts)]
            path = squares(knight.tour(number, start, board=board).path)
            assert page.tour(number, start) == path
            assert page.number(path) == number
        with pytest.raises(NoSuchTour):
            knight.tour(total, starts[-1], board=board)


def test_the_examples_in_the_document_are_right(numbered: Path) -> None:
    for row in tables_under("Tours by number")[-1]:
        page = NumberedTours(numbered / row["file"])
        start, number = row["from"], int(row["number"])
        path = squares(row["squares of the tour"])
        assert page.number(path) == number
        assert path == page.tour(number, None if start == "any" else start)
