"""Tests of the document's text: a reader of ranked tours that is written from it alone answers as
the program does."""

import re
from collections import defaultdict
from pathlib import Path
from random import Random

import pytest

from puzzle_tablebase.errors import NoAnswer
from puzzle_tablebase.queries.tables import open_tables
from tests import first, usual_or_nightly
from tests.support.document_reader import NumberedTours, fall
from tests.support.format_page import read_cases, section, tables_under


def split_path(path: str) -> list[str]:
    return re.findall("[a-z][0-9]", path)


@pytest.mark.parametrize("board", ["10x3", "5x6", "6x5", "6x6"])
def test_closed_tours_are_ranked_as_the_document_says(ranked_boards: Path, board: str) -> None:
    page = NumberedTours(ranked_boards / f"knight_closed_ranks_{board}.idx")
    knight = open_tables(str(ranked_boards)).knight
    total = page.total()
    for number in Random(board).sample(range(total), min(total, usual_or_nightly(20, 1000))):
        tour = knight.probe("a1", rank=number, board=board, closed=True).path
        path = split_path(tour)
        assert page.tour(number) == path
        assert page.number(path) == number == knight.rank(tour, board=board, closed=True)
    with pytest.raises(NoAnswer, match=f"numbered 0 to {total - 1:,}"):
        knight.probe("a1", rank=total, board=board, closed=True)


@pytest.mark.parametrize("board", first(2, ["5x4", "8x3", "5x5"]))
def test_open_tours_are_ranked_as_the_document_says(ranked_boards: Path, board: str) -> None:
    """Test starts that are images of each other in turn, because they share their ranks."""
    page = NumberedTours(ranked_boards / f"knight_ranks_{board}.idx")
    knight = open_tables(str(ranked_boards)).knight
    groups: dict[int | None, list[str]] = defaultdict(list)
    for start in page.names:
        groups[page.turned(start)[0]].append(start)
    for starts in groups.values():
        total = page.total(starts[0])
        for number in range(total):
            start = starts[number % len(starts)]
            path = split_path(knight.probe(start, rank=number, board=board).path)
            assert page.tour(number, start) == path
            assert page.number(path) == number
        with pytest.raises(NoAnswer):
            knight.probe(starts[-1], rank=total, board=board)


def test_the_tours_of_the_cases_have_their_ranks(ranked_boards: Path) -> None:
    for case in read_cases("ranks"):
        page, rank = NumberedTours(ranked_boards / f"{case['table']}.idx"), case["rank"]
        if "error" in case:
            assert case["error"] == "unreachable"
            assert rank >= page.total(case["key"])
        else:
            path = split_path(case["answer"]["path"])
            assert (page.number(path), page.tour(rank, case["key"])) == (rank, path)


def test_the_steps_of_the_example_are_right(ranked_boards: Path) -> None:
    page = NumberedTours(ranked_boards / "knight_closed_ranks_5x6.idx")
    example = section("Tours by rank")
    keys = re.findall("`(0x[0-9a-f]+)`", example)
    chosen, alternative, previous, *states = (int(key, 16) for key in keys)
    assert fall(5, page.layers[11].items()) == (chosen, 1)
    assert [*page.layers[11]].index(chosen) == 2
    needs, matching = page.state(10, chosen)
    assert f"are {', '.join(map(str, needs.values()))};" in example
    assert {end: matching[end] for end in (10, 11, 12)} == {10: 19, 11: 14, 12: 16}
    finishes = [({(10, 17), (12, 15)}, chosen), ({(12, 15)}, alternative)]
    assert page.finishes(chosen, None) == [(finish, 1) for finish in finishes]
    before = [(states[0], ()), *((key, ((6, 13),)) for key in states[1:])]
    assert page.steps_back(7, previous, None) == [*zip(before, [0] * 6 + [1], strict=True)]


def test_the_layers_of_the_starts_are_where_the_document_says(ranked_boards: Path) -> None:
    rows = tables_under("Open tours")[-1]
    assert len(rows) == 2
    for row in rows:
        page = NumberedTours(ranked_boards / f"knight_ranks_{row['board']}.idx")
        assert page.left == int(row["*L*"])
        own_layers = [(turn, layer) for turn, (_, layer) in page.own.items() if turn is not None]
        columns = (
            [int(n) for n in row[name].split(",")] for name in ("*t*", "its own layers begin at")
        )
        assert own_layers == [*zip(*columns, strict=True)]
