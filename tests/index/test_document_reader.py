"""Tests of the document's text: a reader written from it alone answers as the program does, or as
a search of its own."""

import re
from collections import defaultdict
from pathlib import Path
from random import Random

import pytest

from queries import open_tables
from tablebase.errors import NoSuchTour
from tests import first, often
from tests.support import sliding_oracle
from tests.support.document_reader import (
    NumberedTours,
    SlidingFiles,
    count_pairs,
    fall,
    iter_views,
    rank_board,
    reaches,
)
from tests.support.format_page import number_in, section, tables_under

HEADING = "Tours by rank"
BOARD_HEADING = "Sliding boards"
GOAL_HEADING = "Other goals and taller boards"


def split_path(path: str) -> list[str]:
    return re.findall("[a-z][0-9]", path)


def list_jumps(path: list[str]) -> set[frozenset[str]]:
    return {frozenset(jump) for jump in zip(path, path[1:] + path[:1], strict=True)}


@pytest.mark.parametrize("board", ["10x3", "5x6", "6x5", "6x6"])
def test_closed_tours_are_ranked_as_the_document_says(ranked_boards: Path, board: str) -> None:
    page = NumberedTours(ranked_boards / f"knight_closed_ranks_{board}.idx")
    knight = open_tables(str(ranked_boards)).knight
    total = page.total()
    for number in Random(board).sample(range(total), min(total, often(20, 1000))):
        path = split_path(knight.probe("a1", rank=number, board=board, closed=True).path)
        assert list_jumps(page.tour(number)) == list_jumps(path)
        assert page.number(path) == number
    with pytest.raises(NoSuchTour):
        knight.probe("a1", rank=total, board=board, closed=True)


@pytest.mark.parametrize("board", first(2, ["5x4", "8x3", "5x5"]))
def test_open_tours_are_ranked_as_the_document_says(ranked_boards: Path, board: str) -> None:
    """Test starts that are images of each other in turn, because they share their ranks."""
    page = NumberedTours(ranked_boards / f"knight_ranks_{board}.idx")
    knight = open_tables(str(ranked_boards)).knight
    kinds: dict[int | None, list[str]] = defaultdict(list)
    for start in page.names:
        kinds[page.turned(start)[0]].append(start)
    for starts in kinds.values():
        total = page.total(starts[0])
        for number in range(total):
            start = starts[number % len(starts)]
            path = split_path(knight.probe(start, rank=number, board=board).path)
            assert page.tour(number, start) == path
            assert page.number(path) == number
        with pytest.raises(NoSuchTour):
            knight.probe(starts[-1], rank=total, board=board)


def test_the_tours_in_the_document_have_their_ranks(ranked_boards: Path) -> None:
    rows = tables_under(HEADING)[-1]
    assert len(rows) > 5
    for row in rows:
        page = NumberedTours(ranked_boards / row["file"])
        number, path = int(row["number"]), split_path(row["squares of the tour"])
        assert page.number(path) == number
        assert path == page.tour(number, None if row["from"] == "any" else row["from"])


def test_the_steps_of_the_example_are_right(ranked_boards: Path) -> None:
    page = NumberedTours(ranked_boards / "knight_closed_ranks_5x6.idx")
    chosen, alternative, previous, *states = (
        int(key, 16) for key in re.findall("`(0x[0-9a-f]+)`", section(HEADING))
    )
    assert fall(5, page.layers[11].items()) == (chosen, 1)
    assert [*page.layers[11]].index(chosen) == 2
    needs, matching = page.state(10, chosen)
    assert f"need {', '.join(map(str, needs.values()))};" in section(HEADING)
    assert {end: matching[end] for end in (10, 11, 12)} == {10: 19, 11: 14, 12: 16}
    finishes = [({(10, 17), (12, 15)}, chosen), ({(12, 15)}, alternative)]
    assert page.finishes(chosen, None) == [(finish, 1) for finish in finishes]
    before = [(states[0], ()), *((key, ((6, 13),)) for key in states[1:])]
    assert page.steps_back(7, previous, None) == [*zip(before, [0] * 6 + [1], strict=True)]


def test_the_layers_of_the_starts_are_where_the_document_says(ranked_boards: Path) -> None:
    rows = tables_under(HEADING)[-2]
    assert len(rows) == 2
    for row in rows:
        page = NumberedTours(ranked_boards / f"knight_ranks_{row['board']}.idx")
        assert page.left == int(row["*L*"])
        own_layers = [(turn, layer) for turn, (_, layer) in page.own.items() if turn is not None]
        columns = (
            [int(n) for n in row[name].split(",")] for name in ("*t*", "its own layers begin at")
        )
        assert own_layers == [*zip(*columns, strict=True)]


# ---- sliding boards ------------------------------------------------------------------------


def test_a_board_of_bits_is_read_as_the_document_says(large_boards: Path) -> None:
    """The goals are reached in a few moves, so that a search from each is short."""
    files = SlidingFiles(large_boards)
    for board, goal in (
        ("3x4", "123456789ab0"),
        ("3x4", "5a10b3276894"),
        ("4x3", "123456789ab0"),
        ("4x3", "a90541b72368"),
    ):
        rows, columns = map(int, board.split("x"))
        assert next(iter_views(rows, columns, goal, goal)) == (12, "123456789ab0")
        state, path = goal, [goal]
        for _ in range(14):
            after = sliding_oracle.neighbours(state, rows, columns)
            state = after[Random(state).choice(sorted(after))]
            path.append(state)
        known = near(goal, rows, columns, 14)
        for state in path:
            assert files.find_distance(board, goal, state) == known[state]
            one, other = [mark for mark in state if mark != "0"][:2]
            twin = state.translate(str.maketrans(one + other, other + one))
            assert files.find_distance(board, goal, twin) is None


def near(goal: str, rows: int, columns: int, most: int) -> dict[str, int]:
    """Return the distance of each state that is at most so far from a goal."""
    known, layer = {goal: 0}, [goal]
    for distance in range(1, most + 1):
        after = {
            neighbour
            for state in layer
            for neighbour in sliding_oracle.neighbours(state, rows, columns).values()
        }
        layer = [state for state in after if state not in known]
        known |= dict.fromkeys(layer, distance)
    return known


def test_the_boards_that_the_document_lists_are_as_it_says() -> None:
    reached = tables_under(BOARD_HEADING)[1]
    for row in reached:
        rows, columns = map(int, row["board"].split("x"))
        goal, state = row["goal"], row["state"]
        pairs = number_in(row["pairs of the state"]), number_in(row["pairs of the goal"])
        assert pairs == (count_pairs(state), count_pairs(goal))
        assert (row["rows"] == "") == (columns % 2 == 1)
        assert number_in(row["sum"]) == sum(pairs) + int(row["rows"] or 0)
        assert reaches(rows, columns, goal, state) == (row["reached"] == "yes")
    assert {row["reached"] for row in reached} == {"yes", "no"}
    others = tables_under(GOAL_HEADING)[-1]
    assert len(others) > 5
    for row in others:
        rows, columns = map(int, row["board"].split("x"))
        ((cell, read),) = iter_views(rows, columns, row["goal"], row["state"])
        file = f"sliding_{min(rows, columns)}x{max(rows, columns)}_{cell}.idx"
        assert (row["file"], row["it is read as"]) == (file, read)
        rank = rank_board(min(rows, columns), max(rows, columns), read)
        assert rank == number_in(row["rank"])
