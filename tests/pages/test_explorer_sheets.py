"""Tests of the explorer's sheets to print: as many answers as boards, all of them right."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from puzzle_tablebase.puzzles import senet
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.queries.reader import Reader
from tests.support.asking import ask_one
from tests.support.explorer_browser import Explorer, broken_rules
from tests.support.oracles import senet_successors


def make_sheet(page: Page, view: str, count: int, level: str = "") -> None:
    page.click(f"#view-{view} >> text=Sheet to print")
    page.fill(f"#{view}-sheet-count", str(count))
    if level:
        page.select_option(f"#{view}-sheet-level", level)
    page.click(f"#{view}-sheet-make")


def test_a_sheet_has_boards_and_answers(shown: Explorer, readers: dict[str, Reader]) -> None:
    page = shown.open("eight/play/123456708/123456780")
    make_sheet(page, "eight", 8, "20")
    _, _, goal, states = shown.address().split("/")
    assert page.locator("#eight-sheet-boards svg").count() == 8
    for state, answer in zip(
        states.split(","), page.locator("#eight-sheet-answers li").all_inner_texts(), strict=True
    ):
        expected = ask_one(readers["eight"], state, goal=goal).to_dict()
        assert expected["distance"] == 20
        assert answer == f"20 moves: {' '.join(str(expected['tiles']))}"
    address = shown.address()
    shown.reload()
    assert shown.address() == address
    page.click("#eight-sheet-close")
    assert shown.address() == f"eight/play/{states.split(',')[0]}/{goal}"
    make_sheet(page, "eight", 8, "hardest")
    expect(page.locator("#eight-sheet-boards svg")).to_have_count(2)
    assert shown.text("#eight-sheet-few") == "There are only 2 boards of this difficulty."


def test_a_sheet_of_senet_has_a_line_to_write_each_ply_on(shown: Explorer) -> None:
    page = shown.open("senet/play/9-14")
    make_sheet(page, "senet", 3, "4")
    positions = shown.address().removeprefix("senet/sheet/").split(",")
    boards = page.locator("#senet-sheet-boards li")
    answers = page.locator("#senet-sheet-answers li").all_inner_texts()
    for position, board, answer in zip(positions, boards.all(), answers, strict=True):
        assert board.locator(".blanks span").all_inner_texts() == ["1 A", "2 B", "3 A", "4 B"]
        assert "".join(board.locator("text").all_text_contents()) == _draw_labels(position)
        count, _, line = answer.replace("\u2011", "-").replace("\u00a0", " ").partition(": ")
        assert count == "4 plies"
        at = senet.OPENING
        for ply, step in enumerate(line.split(", ")):
            throw, start, kind, target = re.findall(r"\d+|[-x]", step)
            (at,) = (
                after
                for value, from_, to, is_swap, after in senet_successors(at, "AB"[ply % 2])
                if (value, from_, to, "-x"[is_swap]) == (int(throw), int(start), int(target), kind)
            )
        assert at == position
    assert broken_rules(page) == []
    page.click("#senet-sheet-close")
    assert shown.address() == "senet/play/9-14", "the game goes on"


def _draw_labels(position: str) -> str:
    """Return what stands on the squares: each one's number, and its piece."""
    return "".join(f"{at}{piece}" for at, piece in enumerate(position, 1)).replace(".", "")


def test_a_sheet_of_the_knight_has_a_tour_from_each_start(shown: Explorer) -> None:
    page = shown.open("knight/play/6x6/a1b3")
    page.click("#view-knight >> text=Sheet to print")
    assert page.locator("#knight-sheet-level").is_hidden()
    assert page.input_value("#knight-sheet-count") == "6"
    page.click("#knight-sheet-make")
    starts = shown.address().removeprefix("knight/sheet/6x6/").split(",")
    assert len({*starts}) == 6
    board = KnightBoard(6, 6)
    boards = page.locator("#knight-sheet-boards svg")
    answers = page.locator("#knight-sheet-answers svg")
    for start, empty, answer in zip(starts, boards.all(), answers.all(), strict=True):
        assert empty.locator("text").all_text_contents() == ["1"]
        squares = re.findall("..", str(answer.get_attribute("aria-label")))
        assert squares[0] == start
        assert sorted(squares) == sorted(board.name_squares())
        numbers = [board.parse_square(square) for square in squares]
        assert all(to in board.list_neighbours(at) for at, to in pairwise(numbers))
        drawn = answer.locator("text").all_text_contents()
        assert drawn == [str(number) for number in range(1, 37)]
    assert broken_rules(page) == []
    page.click("#knight-sheet-close")
    assert shown.address() == "knight/play/6x6/a1b3", "the game goes on"
    page = shown.open("knight/play/8x8")
    make_sheet(page, "knight", 8)
    assert page.locator("#knight-sheet-answers svg").count() == 8


@pytest.mark.parametrize(
    ("view", "count", "level"),
    [
        ("senet", 6, "10"),
        pytest.param("eight", 24, "20", marks=pytest.mark.slow),
        pytest.param("knight", 8, "", marks=pytest.mark.slow),
        pytest.param("knight", 1, "", marks=pytest.mark.slow),
    ],
)
def test_boards_and_answers_take_a_page_each(
    shown: Explorer, view: str, count: int, level: str
) -> None:
    page = shown.open(f"{view}/play")
    make_sheet(page, view, count, level)
    expect(page.locator(f"#{view}-sheet-boards li")).to_have_count(count)
    assert shown.text(f"#{view}-sheet-few") == ""
    for width in (320, 1200):
        page.set_viewport_size({"width": width, "height": 860})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert page.locator(".sheet-page:visible").count() == 2
    margins = dict.fromkeys(("top", "bottom", "left", "right"), "1.5cm")
    for paper in ("A4", "Letter"):
        pages = page.pdf(format=paper, margin=margins)  # type: ignore[arg-type]
        assert len(re.findall(rb"/Type\s*/Page\b", pages)) == 2
