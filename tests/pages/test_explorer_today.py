"""Tests of what brings one back to the explorer: the puzzle of the day, the timer, a level of one's
own; and of what it keeps in the browser.
"""

import datetime
import math
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser, Page, expect

from puzzle_tablebase.puzzles import eight
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from tests.support.explorer_browser import DESK, Explorer, broken_rules, read_board
from tests.support.explorer_fixtures import in_both
from tests.support.oracles import draw_day_number

ZONE = "Pacific/Auckland"
"""Where it is the 26th when it is the 25th in Greenwich."""
NOW = "2026-11-25T11:30:00Z"
DAY = datetime.date(2026, 11, 26)
TWO_PLIES = "senet/play/to=ABAAABBB.B...A."
"""The address of a position that two plies lead to."""
NO_STORAGE = """Object.defineProperty(globalThis, "localStorage", {
    get() { throw new DOMException("denied", "SecurityError"); },
});"""
STRANGE_STORAGE = """if (location.protocol === "file:") {
    localStorage.setItem("puzzle-explorer", '{"level of 8-puzzle": "<b>", "isTimerHidden": null}');
}"""


@pytest.fixture
def shown(explorer: Path, browser: Browser) -> Iterator[Explorer]:
    """Yield the page in a browser that has kept nothing."""
    context = browser.new_context(**DESK, timezone_id=ZONE)
    shown = Explorer(explorer, context)
    shown.page.clock.install(time=NOW)
    yield shown
    context.close()
    assert shown.said == []


def draw_board(day: datetime.date) -> str:
    return eight.unrank(draw_day_number(day, math.factorial(9)))


def draw_position(day: datetime.date, outputs: Path) -> str:
    plies = 4 + draw_day_number(day, 5)
    rows = pl.scan_parquet(outputs / "senet.parquet").filter(pl.col("plies") == plies)
    positions = rows.select("position").collect()["position"]
    return str(positions[draw_day_number(day, len(positions))])


def play(page: Page, view: str) -> None:
    page.click(f"#{view}-today")
    expect(page.locator(f"#{view}-today")).to_have_text(f"Today’s puzzle, {DAY}")


def solve(shown: Explorer) -> int:
    """Play the best moves to the end; return their number."""
    _, _, start, goal, *_ = shown.address().split("/")
    tiles = str(shown.page.evaluate(f"explorer.eight('{start}', '{goal}').tiles"))
    for tile in tiles:
        shown.page.keyboard.press(tile)
    assert shown.text("#eight-word").startswith("Solved!")
    return len(tiles)


@in_both
def test_the_puzzle_of_the_day_follows_from_the_date(shown: Explorer, outputs: Path) -> None:
    board = draw_board(DAY)
    square = KnightBoard(6, 6).name_squares()[draw_day_number(DAY, 36)]
    position = draw_position(DAY, outputs)
    for _ in range(2):
        page = shown.open("eight")
        play(page, "eight")
        assert shown.address().split("/")[2] == board
        shown.go("knight")
        play(page, "knight")
        assert shown.address() == f"knight/play/6x6/{square}"
        shown.go("senet")
        play(page, "senet")
        assert shown.address() == f"senet/play/to={position}"
    page.clock.set_system_time("2026-11-26T11:30:00Z")
    page = shown.open("eight")
    page.click("#eight-today")
    following = DAY + datetime.timedelta(days=1)
    expect(page.locator("#eight-today")).to_have_text(f"Today’s puzzle, {following}")
    assert shown.address().split("/")[2] == draw_board(following) != board


def test_no_puzzle_of_a_century_is_solved_already() -> None:
    days = (DAY + datetime.timedelta(days=at) for at in range(36_525))
    assert not {"123456780", "123804765"} & {draw_board(day) for day in days}


def test_a_result_is_shared_and_kept(shown: Explorer) -> None:
    shown.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = shown.open("eight")
    play(page, "eight")
    assert page.locator("#eight-result").is_hidden()
    page.clock.run_for(75_000)
    best = solve(shown)
    told = shown.text("#eight-result span")
    result = rf"8-puzzle {DAY}: {best}/{best}, no hint, 1:[12]\d"
    assert re.fullmatch(result, told)
    page.click("#eight-result button")
    expect(page.locator("#eight-result button")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == told
    assert broken_rules(page) == []
    page = shown.open("eight")
    assert page.locator("#eight-result").is_hidden(), "another board"
    play(page, "eight")
    page.click("#eight-help")
    solve(shown)
    assert shown.text("#eight-result span") == told, "the first result of a day stays"


def test_the_hints_of_the_day_are_not_forgotten(shown: Explorer) -> None:
    page = shown.open("eight")
    play(page, "eight")
    page.click("#eight-help")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    page.click("#eight-again")
    page = shown.open(shown.address().removesuffix("/hints=1"))
    best = solve(shown)
    assert re.fullmatch(
        rf"8-puzzle {DAY}: {best}/{best}, 1 hint, 0:\d\d", shown.text("#eight-result span")
    )
    shown.go("knight")
    play(page, "knight")
    for count in range(2, 37):
        page.keyboard.press("h")
        page.locator("#knight-board .hinted").click()
        assert shown.text("#knight-count") == str(count)
    assert shown.text("#knight-result span").startswith(f"Knight’s tour {DAY}: 36/36, 35 hints, ")
    shown.go("senet")
    play(page, "senet")
    while not page.locator("#senet-back").is_visible():
        page.keyboard.press("h")
        page.click("#senet-board .open >> nth=0")
    plies = 4 + draw_day_number(DAY, 5)
    result = f"Senet {DAY}: {plies}/{plies}, {plies} hints, "
    assert shown.text("#senet-result span").startswith(result)


def test_a_timer_is_hidden_and_stays_hidden(shown: Explorer) -> None:
    page = shown.open("eight/play/123456708/123456780")
    assert re.fullmatch(r"0:0\d", shown.text("#eight-time"))
    page.clock.run_for(61_000)
    assert re.fullmatch(r"1:0\d", shown.text("#eight-time"))
    page.click("#view-eight >> text=Study")
    page.clock.run_for(60_000)
    page.click("#view-eight >> text=Play")
    assert re.fullmatch(r"1:0\d", shown.text("#eight-time")), "it waits while nobody plays"
    page.keyboard.press("8")
    ended = shown.text("#eight-time")
    page.clock.run_for(60_000)
    assert shown.text("#eight-time") == ended
    page.click("#eight-next")
    expect(page.locator("#eight-count")).to_have_text("0")
    assert re.fullmatch(r"0:0\d", shown.text("#eight-time"))
    page.click("#eight-clock")
    assert shown.text("#eight-time") == ""
    shown.open("knight")
    assert shown.text("#knight-time") == ""
    shown.go("eight")
    play(page, "eight")
    best = solve(shown)
    assert shown.text("#eight-result span") == f"8-puzzle {DAY}: {best}/{best}, no hint"
    page.click("#eight-clock")
    assert ":" in shown.text("#eight-time")


def test_a_level_of_ones_own_goes_up_and_down(shown: Explorer) -> None:
    page = shown.open("eight")

    def begin(distance: int) -> None:
        expect(page.locator("#eight-count")).to_have_text("0")
        assert page.locator("#eight-level option:checked").inner_text() == (
            f"yours: {distance} moves"
        )
        _, _, start, goal, *_ = shown.address().split("/")
        assert page.evaluate(f"explorer.eight('{start}', '{goal}').distance") == distance

    page.select_option("#eight-level", "own")
    begin(5)
    solve(shown)
    assert shown.text("#eight-word").endswith("Your next board takes 7 moves.")
    page.click("#eight-again")
    solve(shown)
    assert shown.text("#eight-word").endswith("takes 7 moves."), "a board counts once"
    page.click("#eight-another")
    begin(7)
    page.click("#eight-help")
    solve(shown)
    assert shown.text("#eight-word").endswith("Your next board takes 5 moves.")
    page.click("#eight-next")
    begin(5)
    tile = page.locator("#eight-board .open .number").first.inner_text()
    for _ in range(4):
        page.keyboard.press(tile)  # there and back
    solve(shown)
    assert shown.text("#eight-word") == (
        "Solved! 9 moves; the best is 5. Your next board takes 5 moves."
    )
    page = shown.open("eight")
    begin(5)
    solve(shown)
    page = shown.open("eight")
    begin(7)
    page.select_option("#eight-level", "10")
    expect(page.locator("#eight-level")).to_have_value("10")
    solve(shown)
    page.select_option("#eight-level", "own")
    begin(7)


def test_a_level_of_ones_own_in_senet(shown: Explorer) -> None:
    page = shown.open("senet")

    def begin(plies: str) -> None:
        level = page.locator("#senet-level option:checked")
        expect(level).to_have_text(f"yours: {plies}")
        expect(page.locator("#senet-count")).to_have_text("0")

    def reach(*, hints: bool = False) -> str:
        """Play best moves to the end; return what is said of it after the number of plies."""
        script = "([to, board, mover]) => explorer.listBest(to, board, mover)[0]"
        target = shown.address().partition("=")[2].partition("/")[0]
        if hints:
            page.keyboard.press("h")
        ply = 0
        while (position := read_board(shown)) != target:
            move = page.evaluate(script, [target, position, "AB"[ply % 2]])
            ply += 1
            page.keyboard.press(str(move["throw"]))
            page.click(f"#senet-board button >> nth={move['start'] - 1}")
        return shown.text("#senet-word").partition("; ")[2]

    page.select_option("#senet-level", "own")
    begin("3 plies")
    assert reach() == "the best is 3. Nobody can do better. Your next position takes 4 plies."
    page.keyboard.press("u")
    assert reach().endswith("takes 4 plies."), "a game counts once"
    page.click("#senet-again")
    begin("4 plies")
    assert reach().endswith("takes 4 plies."), "a game of another level does not count"
    page.keyboard.press("n")
    begin("4 plies")
    page = shown.open(shown.address())
    begin("4 plies")
    assert reach(hints=True).endswith("Your next position takes 3 plies.")
    page.click("#senet-next")
    begin("3 plies")
    page = shown.open("senet")
    begin("3 plies")
    page.select_option("#senet-level", "2")
    expect(page.locator("#senet-level")).to_have_value("2")
    assert reach() == "the best is 2. Nobody can do better."
    page.select_option("#senet-level", "own")
    begin("3 plies")
    page = shown.open(TWO_PLIES)
    assert page.locator("#senet-level").input_value() == "2", "the address names another level"


@pytest.mark.parametrize("script", [NO_STORAGE, STRANGE_STORAGE], ids=["none", "strange"])
def test_the_page_works_where_nothing_can_be_kept(shown: Explorer, script: str) -> None:
    shown.page.add_init_script(script)
    page = shown.open("eight")
    keeps = "This browser keeps nothing" if script == NO_STORAGE else "are kept in this browser"
    assert keeps in shown.text("#keeps")
    page.select_option("#eight-level", "own")
    expect(page.locator("#eight-level option:checked")).to_have_text("yours: 5 moves")
    solve(shown)
    page.click("#eight-clock")
    assert shown.text("#eight-time") == ""
    play(page, "eight")
    solve(shown)
    assert shown.text("#eight-result span").startswith(f"8-puzzle {DAY}: ")


def test_a_view_tells_its_rules_and_what_study_is_for(shown: Explorer) -> None:
    page = shown.open()
    for view, studied, rule in (
        ("eight", "Study shows how far any board", "A move slides a tile next to the gap"),
        ("senet", "Study shows how soon any position", "nobody may pass"),
        ("knight", "Study shows a tour", "A tour visits every square once."),
    ):
        shown.go(f"{view}/study")
        assert shown.text(f"#view-{view} p.in-study >> nth=0").startswith(studied)
        rules = page.locator(f"#view-{view} details:has-text('Rules')")
        if not rules.get_by_role("paragraph").is_visible():
            rules.locator("summary").press("Enter")
        assert rule in rules.get_by_role("paragraph").inner_text()
        assert broken_rules(page) == []
