"""Tests of playing in the explorer: moves, hints, undo, the end, and the address of each."""

import random
import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from playwright.sync_api import Browser, Page, expect

from puzzle_tablebase.puzzles import eight, senet
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.queries.reader import Reader
from tests.support.asking import ask_one
from tests.support.explorer_browser import Explorer
from tests.support.explorer_fixtures import in_both
from tests.support.oracles import senet_successors

HARDEST = 31


def distance_of(shown: Explorer) -> int:
    """Return the page's own distance of the board in play, from its start."""
    _, _, start, goal, *_ = shown.address().split("/")
    return int(shown.page.evaluate(f"explorer.eight('{start}', '{goal}').distance"))


# ---- sliding boards -------------------------------------------------------------------------


@in_both
def test_a_board_is_played_with_hints_to_its_end(shown: Explorer) -> None:
    page = shown.open()
    assert shown.address().startswith("eight/play/")
    assert distance_of(shown) == 5
    start = shown.address()
    for answer in ("#eight-distance", "#eight-facts", "#eight-player", "#eight-chart"):
        assert page.locator(answer).is_hidden(), "play shows no answer"
    assert page.locator("#eight-board .best").count() == 0
    for button in ("undo", "again", "next"):
        assert page.locator(f"#eight-{button}").is_hidden(), "one button on the first screen"
    for left in range(5, 0, -1):
        page.click("#eight-help")
        assert page.locator("#eight-board .best").count() == 1, "a hint shows one move"
        assert shown.text("#eight-word").startswith("Hint: slide tile ")
        assert shown.address().endswith("/hint")
        page.click("#eight-board .best")
        assert page.locator("#eight-board .best").count() == 0
        assert shown.text("#eight-count") == str(6 - left)
    told = "Solved! 5 moves with 5 hints; the best is 5."
    assert shown.text("#eight-word") == told
    shown.reload()
    assert shown.text("#eight-word") == told
    assert page.locator("#eight-help").is_hidden()
    page.click("#eight-board .open")
    assert shown.text("#eight-count") == "5", "a solved board stays solved"
    page.click("#eight-undo")
    assert shown.text("#eight-count") == "4"
    page.click("#eight-again")
    assert shown.address() == start
    page.click("#eight-another")
    assert shown.address() != start
    assert distance_of(shown) == 5
    page.evaluate("history.back()")
    expect(page.locator("#eight-count")).to_have_text("0")
    assert shown.address() == start
    for level, distance in (("10", 10), ("20", 20), ("hardest", HARDEST)):
        page.select_option("#eight-level", level)
        expect(page).not_to_have_url(re.compile(re.escape(start)))
        start = shown.address()
        assert distance_of(shown) == distance
        shown.reload()
        assert shown.address() == start
        assert page.locator("#eight-level").input_value() == level


def test_the_end_compares_with_the_best(shown: Explorer) -> None:
    page = shown.open("eight/play/123456708/123456780/LRUD")
    assert shown.text("#eight-count") == "4"
    page.keyboard.press("Tab")
    page.focus("#eight-board")
    page.keyboard.press("ArrowLeft")
    assert shown.text("#eight-word") == "Solved! 5 moves; the best is 1."
    assert shown.address() == "eight/play/123456708/123456780/LRUDR"
    assert shown.text("#say") == "Solved! 5 moves; the best is 1."
    shown.reload()
    assert shown.text("#eight-word") == "Solved! 5 moves; the best is 1."
    assert page.title() == "solved · 8-puzzle"
    # the same game in study, and back
    page.click("#view-eight >> text=Study")
    assert shown.address() == "eight/123456708/123456780/LRUDR"
    assert shown.text("#eight-player .count") == "move 5 of 5"
    page.click("#eight-player [aria-label='To the beginning']")
    assert shown.address() == "eight/123456708/123456780/LRUDR/0"
    shown.reload()
    assert shown.text("#eight-player .count") == "move 0 of 5"
    page.click("#view-eight >> text=Play")
    # who has seen the answer has had a hint
    assert shown.address() == "eight/play/123456708/123456780/hints=1"
    page.evaluate("history.back()")
    expect(page.locator("#eight-player .count")).to_have_text("move 0 of 5")
    shown.go("eight/play/213456780/123456780")
    assert "cannot reach the goal" in shown.text("#eight-word")
    page.click("#eight-next")
    assert distance_of(shown) == 5
    shown.go("eight/play/123456708/123456780/R")
    assert shown.text("#eight-word") == "Solved! 1 move; the best is 1. Nobody can do better."


def test_a_board_is_described_by_what_is_on_view(shown: Explorer) -> None:
    page = shown.open()
    for address, view, told in (
        ("eight/play/378546201/123456780", "eight", "Tap a tile"),
        ("eight/378546201/123456780", "eight", "The best moves are marked."),
        ("eight/213456780/123456780", "eight", "Click or drag a tile"),
        ("senet/play", "senet", "Choose throws"),
        ("senet/play/free", "senet", "Throw"),
        ("senet/ABAAABBB.B...A.", "senet", "Click a square to change it"),
    ):
        shown.go(address)
        board = page.locator(f"#{view}-board")
        text = page.locator(f"#{board.get_attribute('aria-describedby')}:visible").inner_text()
        assert told in text
        assert ("marked" in text) == (page.locator(f"#{view}-board .best").count() > 0)


# ---- Senet ----------------------------------------------------------------------------------


def list_open(page: Page) -> list[int]:
    """Return the squares whose pieces the page marks as movable."""
    labels = page.locator("#senet-board .open").evaluate_all(
        "squares => squares.map((square) => square.getAttribute('aria-label'))"
    )
    return [int(re.findall(r"\d+", label)[0]) for label in labels]


def test_senet_is_played_by_the_rules(shown: Explorer, readers: dict[str, Reader]) -> None:
    page = shown.open("senet/play/free")
    assert page.locator("#senet-plies").is_hidden(), "play shows no answer"
    position, line, throws = senet.OPENING, list[str](), list[int]()
    for throw in (5, 3, 2, 4, 1, 5, 2, 3, 1):
        turn = len(line)
        legal = {
            start: (target, is_swap, after)
            for value, start, target, is_swap, after in senet_successors(position, "AB"[turn % 2])
            if value == throw
        }
        die = page.locator(f"#senet-dice >> text={throw}")
        assert die.get_attribute("aria-disabled") == str(not legal).lower()
        if not legal:
            continue
        die.click()
        assert list_open(page) == sorted(legal)
        start = min(legal)
        target, is_swap, position = legal[start]
        throws.append(throw)
        line.append(f"{start}{'x' if is_swap else '-'}{target}")
        assert shown.text("#senet-word") == f"{'AB'[turn % 2]} threw {throw}: tap a marked piece."
        page.click(f"#senet-board [aria-label^='square {start if turn % 2 else target}:']")
        assert shown.address() == f"senet/play/{','.join(line)}"
    turns = len(line)
    assert turns >= 6
    shown.reload()
    assert shown.text("#senet-count") == str(turns)
    page.click("#senet-undo")
    assert shown.address() == f"senet/play/{','.join(line[:-1])}"
    page.click(f"#senet-dice >> text={throws[-1]}")
    page.click("#senet-board .open >> nth=0")
    # in study: how far the position is from the opening, and the shortest line
    page.click("#view-senet >> text=Study")
    expected = ask_one(readers["senet"], position).to_dict()
    assert shown.address().split("/")[1] == position
    assert shown.text("#senet-plies") == str(expected["plies"])
    page.click("#view-senet >> text=Play")
    assert shown.address() == f"senet/play/{','.join(line)}", "the game goes on"


def test_senet_ends_and_the_page_takes_a_side(shown: Explorer) -> None:
    page = shown.open("senet/play/.....BBBBBAAAAA/A")
    assert shown.text("#senet-word").startswith("A cannot move with any throw: the game ends")
    assert page.locator("#senet-throw").is_hidden()
    page.click("#senet-next")
    assert shown.address() == "senet/play/free"
    shown.go("senet/play/page")
    page.click("#senet-dice >> text=5")
    page.click("#senet-board [aria-label^='square 9:']")
    expect(page.locator("#senet-count")).to_have_text("2")
    assert re.fullmatch(r"senet/play/9-14,\d+[-x]\d+/page", shown.address())
    page.click("#senet-undo")
    assert shown.address() == "senet/play/page"
    page.click("#senet-throw")
    assert re.fullmatch(r"senet/play/[1-5]/page", shown.address())
    shown.go("senet/ABAAABBB.B...AB")
    assert shown.text("#senet-now") == "Setting up: 5 of 5 A, 6 of 5 B."
    shown.go("senet/ABAAABBB.B...A./1")
    assert shown.text("#senet-now") == "A threw 5: 9 to 14. B to move."
    page.click("#senet-parity >> text=B to move")
    page.click("#senet-player [aria-label='One ply back']")
    assert shown.address() == "senet/ABAAABBB.B...A./2/B"
    shown.reload()
    assert shown.text("#senet-player .count") == "ply 2 of 3"


# ---- the knight -----------------------------------------------------------------------------


def read_tours(outputs: Path, board: str, start: str) -> pl.Series:
    """Return the paths of all tours of a board from a square, by number."""
    rows = pl.scan_parquet(outputs / f"knight_tours_{board}.parquet")
    return rows.filter(pl.col("start") == start).select("path").collect()["path"]


def test_a_tour_is_made_square_by_square(shown: Explorer, outputs: Path) -> None:
    tours = read_tours(outputs, "6x6", "c3")
    number = 43_210
    path = tours[number]
    squares = re.findall("..", path)
    page = shown.open("knight")
    assert shown.address() == "knight/play/5x5"
    assert page.locator("#knight-board .barred").count() == 12, "no tour starts there"
    page.click("[data-board='6x6']")
    for square in squares[:3]:
        page.click(f"#knight-board [aria-label^={square}]")
    assert shown.address() == f"knight/play/6x6/{path[:6]}"
    board = KnightBoard(6, 6)
    last = board.parse_square(squares[2])
    free = {board.name_square(to) for to in board.list_neighbours(last)} - set(squares[:3])
    reachable = page.locator("#knight-board .reachable").evaluate_all(
        "cells => cells.map((cell) => cell.getAttribute('aria-label').slice(0, 2))"
    )
    assert {*reachable} == free
    page.click("#knight-ask")
    alike = tours.str.starts_with(path[:6]).sum()
    assert shown.text("#knight-word") == (
        f"Yes, it can still be completed. {alike:,} tours begin like this."
    )
    page.click("#knight-help")
    hint = shown.text("#knight-word").removeprefix("Hint: jump to ").removesuffix(".")
    assert tours.str.starts_with(path[:6] + hint).any()
    page.click("#knight-undo")
    assert shown.address() == f"knight/play/6x6/{path[:4]}"
    page.goto(f"{shown.file.as_uri()}#knight/play/6x6/{path[:-2]}")
    expect(page.locator("#knight-count")).to_have_text("35")
    page.click(f"#knight-board [aria-label^={squares[-1]}]")
    assert shown.text("#knight-word").endswith(
        f"Of the {len(tours):,} tours from c3, numbered from 0, it is number {number:,}."
    )
    page.click("#view-knight >> text=Study")
    assert shown.address() == f"knight/6x6/c3/{number}"


def test_the_page_knows_whether_a_tour_can_be_completed(shown: Explorer, outputs: Path) -> None:
    """Compare with the tables, after each number of squares, for random walks of a knight."""
    rng = random.Random(5)
    paths = {
        KnightBoard(5, 5): read_tours(outputs, "5x5", "a1"),
        KnightBoard(6, 6): read_tours(outputs, "6x6", "c3"),
    }
    page = shown.open("knight/play/5x5")
    questions = list[tuple[str, list[int], bool]]()
    for board, tours in paths.items():
        for _ in range(15 if board.squares == 25 else 12):
            walk = re.findall("..", tours[rng.randrange(len(tours))])[: rng.randrange(1, 20)]
            while (
                free := [
                    name
                    for to in board.list_neighbours(board.parse_square(walk[-1]))
                    if (name := board.name_square(to)) not in walk
                ]
            ) and rng.random() < 0.6:
                walk.append(rng.choice(free))
            is_possible = tours.str.starts_with("".join(walk)).any()
            numbers = [board.parse_square(name) for name in walk]
            questions.append((str(board), numbers, is_possible))
    answers = page.evaluate(
        "questions => questions.map(([board, squares]) => explorer.completeTour(board, squares))",
        questions,
    )
    assert len({possible for _, _, possible in questions}) == 2
    for (_, squares, is_possible), answer in zip(questions, answers, strict=True):
        assert answer["isSure"]
        assert (answer["tour"] is not None) == is_possible
        assert not is_possible or answer["tour"][: len(squares)] == squares


def test_8x8_knows_its_limits(shown: Explorer, readers: dict[str, Reader]) -> None:
    tour = str(ask_one(readers["knight"], "b1", to="a3").to_dict()["path"])
    page = shown.open(f"knight/play/8x8/{tour[:60]}")
    page.click("#knight-ask")
    assert shown.text("#knight-word") == "Yes, it can still be completed."
    page.goto(f"{shown.file.as_uri()}#knight/play/8x8/{tour}")
    expect(page.locator("#knight-word")).to_contain_text("You made a tour! It is closed.")
    assert "does not know its number" in shown.text("#knight-word")
    shown.go("knight/b1/a3/9")
    assert shown.text("#knight-player .count") == "jump 9 of 63"
    assert not page.locator("#knight-facts .tiles >> nth=1").is_visible(), "codes are folded away"


LINES_OVER_NUMBERS = """() => {
    const board = document.querySelector(".tour").getBoundingClientRect();
    const scale = board.width / 8;
    const numbers = [...document.querySelectorAll(".place")].filter((place) => place.textContent)
        .map((place) => {
            const text = document.createRange();
            text.selectNodeContents(place);
            return [place.textContent, text.getBoundingClientRect()];
        });
    const lines = document.querySelector(".path").getAttribute("d").split("M").slice(1)
        .map((line) => line.split(/[L ]/).map((part) => part * scale));
    const found = [];
    for (const [x1, y1, x2, y2] of lines) for (let at = 0; at <= 100; at++) {
        const x = board.left + x1 + (x2 - x1) * at / 100;
        const y = board.top + y1 + (y2 - y1) * at / 100;
        for (const [text, box] of numbers) {
            const margin = box.height / 5; // a digit is lower than its line
            const isInside = x > box.left && x < box.right && y > box.top + margin;
            if (isInside && y < box.bottom - margin) found.push(text);
        }
    }
    return found;
}"""
"""The numbers of the squares that a tour's lines cross."""


@pytest.mark.nightly
def test_lines_leave_the_numbers_free(shown: Explorer, readers: dict[str, Reader]) -> None:
    tour = str(ask_one(readers["knight"], "b1", to="a3").to_dict()["path"])
    page = shown.open(f"knight/play/8x8/{tour}")
    expect(page.locator("#knight-word")).to_contain_text("You made a tour!")
    assert page.evaluate(LINES_OVER_NUMBERS) == []


# ---- to take away ---------------------------------------------------------------------------


def test_a_board_is_taken_away_as_text_and_as_pictures(browser: Browser, explorer: Path) -> None:
    context = browser.new_context(accept_downloads=True, reduced_motion="reduce")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown = Explorer(explorer, context)
    tour = "knight/6x6/a1/12345"
    page = shown.open()
    for address, view, in_text, in_picture in (
        ("eight/378546201/123456780", "eight", " 3 7 8\n 5 4 6\n 2 . 1\n", "378546201"),
        ("senet/ABAAABBB.B...A.", "senet", "dice        5 3", "senet"),
        (tour, "knight", "squares     a1 ", "6x6"),
    ):
        shown.go(address)
        page.click(f"#view-{view} .take summary >> nth=0")
        page.click(f"#view-{view} [data-take=text]")
        expect(page.locator(f"#view-{view} .taken")).to_have_text("The text is copied.")
        assert in_text in page.evaluate("navigator.clipboard.readText()")
        if view == "eight":
            board = page.evaluate("navigator.clipboard.readText()").partition("\n\n")[0]
            assert eight.PUZZLE.parse(board) == "378546201"
        page.click(f"#view-{view} [data-take=link]")
        expect(page.locator(f"#view-{view} .taken")).to_contain_text(
            f"#{address} is copied: put it"
        )
        # the address of a file means nothing elsewhere
        assert page.evaluate("navigator.clipboard.readText()") == f"#{address}"
        for kind, begins in (("svg", b"<svg "), ("png", b"\x89PNG")):
            with page.expect_download() as saved:
                page.click(f"#view-{view} [data-take={kind}]")
            assert in_picture in saved.value.suggested_filename
            content = Path(saved.value.path()).read_bytes()
            assert content.startswith(begins)
            if kind == "svg":
                assert ElementTree.fromstring(content).tag.endswith("svg")
            else:
                width, height = struct.unpack(">II", content[16:24])
                assert min(width, height) >= 100
    assert shown.said == []
    context.close()
