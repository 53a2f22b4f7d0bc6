"""The explorer for every hand and eye: keys, touch, screen readers, small windows, projectors."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from puzzle_tablebase.notation.senet import OPENING
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.queries.tables import Tables
from tests.support.browser import DESK, Explorer, broken_rules, in_both
from tests.support.shell import Cli

GAME = "eight/play?start=283104765&goal=123804765"
GAMES = (GAME, "senet/play?to=ABAAABBB.B...A.", "knight/play?board=6x6&path=a1b3")
PHONE = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}
PROJECTOR = {"viewport": {"width": 1920, "height": 1080}}


def get_focused(page: Page) -> str:
    """Return the name of what has the focus; that of the body is empty."""
    script = "(document.activeElement.ariaLabel ?? document.activeElement.textContent).trim()"
    return "" if page.locator("body:focus").count() else str(page.evaluate(script))


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the focus is in an element."""
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.locator(f"{selector} :focus, {selector}:focus").count():
            return
    pytest.fail(f"Tab does not lead to {selector}")


def walk_to(page: Page, columns: int, to: tuple[int, int]) -> None:
    """Go to a cell of the board, by column and row, by arrow keys alone; then press Enter."""
    at = int(page.evaluate("document.activeElement.dataset.cell"))
    right, down = to[0] - at % columns, to[1] - at // columns
    for key, count in (("Right", right), ("Left", -right), ("Down", down), ("Up", -down)):
        for _ in range(max(count, 0)):
            page.keyboard.press(f"Arrow{key}")
    page.keyboard.press("Enter")


@in_both
def test_a_game_of_the_8_puzzle_by_keys_alone(shown: Explorer, tables: Tables) -> None:
    page = shown.open(GAME)
    tab_to(page, "#eight-board")
    solution = str(tables.eight.probe("283104765", "123804765", solution=True).solution)
    for letter in solution:
        page.keyboard.press("Arrow" + {"U": "Down", "D": "Up", "L": "Right", "R": "Left"}[letter])
    expect(page.locator("#eight-word")).to_contain_text("Solved! 4 moves; the best is 4.")
    assert shown.text("#say").startswith("Solved!")
    tab_to(page, "#eight-undo")
    for left in range(3, -1, -1):
        page.keyboard.press("Enter")
        expect(page.locator("#eight-count")).to_have_text(str(left))
    assert re.match("tile|the gap", get_focused(page)), "the focus goes to the board, not the body"
    page.keyboard.press("ArrowDown")
    tab_to(page, "#eight-again")
    page.keyboard.press("Enter")
    assert shown.text("#eight-count") == "0"
    assert re.match("tile|the gap", get_focused(page))


@in_both
def test_a_game_of_senet_by_keys_alone(shown: Explorer) -> None:
    page = shown.open("senet/play?to=ABAAABBB.B...A.")
    for throw, square in ((5, 9), (3, 4)):
        page.keyboard.press(str(throw))
        walk_to(page, 15, (square - 1, 0))
    expect(page.locator("#senet-word")).to_contain_text("Reached in 2 plies; the best is 2.")
    tab_to(page, "#senet-back")
    page.keyboard.press("Enter")
    expect(page.locator("#senet-plies")).to_have_text("2")


@in_both
def test_a_knights_tour_by_keys_alone(shown: Explorer, tables: Tables) -> None:
    board = KnightBoard(5, 5)
    path = str(tables.knight.probe("a1", board="5x5").path)
    page = shown.open("knight/play?board=5x5")
    tab_to(page, "#knight-board")
    for name in re.findall("..", path):
        file, rank = divmod(board.parse_square(name), 5)[::-1]
        walk_to(page, 5, (file, 4 - rank))
    expect(page.locator("#knight-word")).to_contain_text("You made a tour!")


def test_a_screen_reader_finds_every_tile(shown: Explorer) -> None:
    page = shown.open(GAME)
    assert page.locator("[role=application]").count() == 0
    names = page.get_by_role("group", name="Board", exact=True).get_by_role("button")
    expect(names).to_have_count(9)
    read = [str(name.get_attribute("aria-label")).split(",")[0] for name in names.all()]
    assert read == [f"tile {tile}" if int(tile) else "the gap" for tile in "283104765"]
    # Shift and arrows read the tiles without a move, and Enter slides one
    tab_to(page, "#eight-board")
    for key, name in (("Right", "tile 8"), ("Down", "the gap"), ("Down", "tile 6")):
        page.keyboard.press(f"Shift+Arrow{key}")
        assert get_focused(page).startswith(name)
    assert shown.text("#eight-count") == "0"
    page.keyboard.press("Enter")
    assert shown.text("#say").startswith("Tile 6 up.")
    assert page.get_by_text("Goal", exact=True).is_visible()


def test_single_keys_can_be_turned_off_and_end_no_game(shown: Explorer) -> None:
    page = shown.open(f"{GAME}&moves=U")
    page.keyboard.press("n")
    assert shown.address() == f"{GAME}&moves=U", "an unfinished game goes on"
    page.keyboard.press("Alt+h")
    assert shown.text("#eight-word") == "", "keys with Alt are the browser's"
    page.keyboard.press("?")
    page.uncheck("#letters")
    page.locator("body").press("h")
    assert shown.text("#eight-word") == ""
    page.keyboard.press("Control+z")
    assert shown.text("#eight-count") == "0", "a key that needs Control works"
    page.reload()
    page.wait_for_selector("body[data-ready]")
    page.keyboard.press("h")
    assert shown.text("#eight-word") == "", "the choice is kept"


def test_the_list_of_levels_deals_nothing(shown: Explorer) -> None:
    page = shown.open("eight/play?start=378546201")
    address = shown.address()
    page.focus("#eight-level")
    page.keyboard.press("ArrowDown")
    assert shown.address() == address
    assert page.input_value("#eight-level") == "10"
    assert "Difficulty" not in shown.text("#eight-stage"), "this board is of another one"
    page.click("#eight-another")
    assert shown.address() != address


def make_touch(page: Page) -> Callable[..., None]:
    """Return a function that sends an event of fingers, at points."""
    session = page.context.new_cdp_session(page)

    def touch(event: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        session.send("Input.dispatchTouchEvent", {"type": event, "touchPoints": touches})

    return touch


def get_middle(selector: Locator) -> tuple[float, float]:
    box: Any = selector.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize("shown", [{"options": PHONE}], indirect=True)
def test_two_fingers_leave_no_tile_displaced(shown: Explorer) -> None:
    page = shown.open(GAME)
    touch = make_touch(page)
    x, y = get_middle(page.locator("#eight-board [aria-label^='tile 4']"))
    other = get_middle(page.locator("#eight-board [aria-label^='tile 1']"))
    touch("touchStart", (x, y))
    touch("touchMove", (x - 30, y))
    touch("touchStart", (x - 30, y), other)
    touch("touchMove", (x - 30, y), (other[0] + 30, other[1]))
    touch("touchEnd")
    shifts = page.locator("#eight-board button").evaluate_all(
        "tiles => tiles.map((tile) => getComputedStyle(tile).transform)"
    )
    assert {*shifts} == {"none"}


@pytest.mark.parametrize("shown", [{"options": PHONE}], indirect=True)
def test_a_finger_on_the_board_scrolls_the_page(shown: Explorer) -> None:
    for tile in (7, 4):  # one that cannot slide, and one that slides across
        page = shown.open(GAME)
        touch = make_touch(page)
        x, y = get_middle(page.locator(f"#eight-board [aria-label^='tile {tile}']"))
        touch("touchStart", (x, y))
        for step in range(1, 11):
            touch("touchMove", (x, y - 15 * step))
        touch("touchEnd")
        page.wait_for_function("scrollY > 50")
        assert shown.text("#eight-count") == "0"


@pytest.mark.parametrize("shown", [{"options": PHONE}], indirect=True)
def test_a_small_phone_shows_the_goal_and_the_hint(shown: Explorer) -> None:
    page = shown.open(GAME)
    for address in GAMES:
        if shown.address() != address:
            shown.go(address)
        view = address.partition("/")[0]
        for selector in (f"#{view}-board", f"#{view}-help", f"#{view}-aim"):
            if page.locator(selector).count():
                box: Any = page.locator(selector).bounding_box()
                assert box["y"] + box["height"] <= 640, (address, selector)
        assert shown.width() == 320


@pytest.mark.slow
@pytest.mark.parametrize("shown", [{"options": PROJECTOR}], indirect=True)
def test_a_large_board_fills_a_projectors_picture(shown: Explorer) -> None:
    page = shown.open(GAME)
    page.check("#large")
    for address, part in zip(GAMES, (0.88, 0.75, 0.75), strict=True):
        if shown.address() != address:
            shown.go(address)
        view = address.partition("/")[0]
        board: Any = page.locator(f"#{view}-board").bounding_box()
        assert part * 1080 <= board["height"] <= 1080 - board["y"], address
        assert shown.width() <= 1920
        assert broken_rules(page) == []
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.is_checked("#large"), "the choice is kept"


def test_a_tour_is_one_line_beneath_its_numbers(shown: Explorer) -> None:
    page = shown.open("knight/study?start=b1&end=a3")
    drawn = str(page.get_attribute("#knight-board .path", "d"))
    assert (drawn.count("M"), drawn.count("L")) == (1, 63)
    above = "[...document.querySelectorAll('#knight-board .number, .tour')].map((one) => "
    orders = page.evaluate(above + "Number(getComputedStyle(one).zIndex) || 0)")
    assert orders == [2] * 64 + [0]


SEEN = """() => {
    const read = (node) => node.textContent.replace(/\\s+/g, ' ').trim();
    return [...document.querySelectorAll('.sheet-page')].map((part) => ({
        texts: [...part.querySelectorAll('h2, p, .sheet-answers li')].map(read),
        boards: [...part.querySelectorAll('.board')].map((board) => [
            board.className, board.getAttribute('aria-label'),
            ...[...board.children].map((cell) => `${cell.className} ${read(cell)}`),
            ...[...board.querySelectorAll('path')].map((path) => path.getAttribute('d')),
        ]),
        sizes: [...part.querySelectorAll('.sheet-boards > li > .board')].map((board) => {
            const { left, width, height } = board.getBoundingClientRect();
            return [left, width, height].map(Math.round);
        }),
    }));
}"""
"""What a reader sees of a sheet: its texts, boards and their sizes, page by page."""


@pytest.mark.parametrize(
    ("words", "address"),
    [
        (["eight", "--size", "10", "--distance", "2-20", "--spread"], "eight/sheet?goal=123456780"),
        pytest.param(
            ["eight", "--size", "24", "--distance", "5", "--goal", "edge"],
            "eight/sheet?goal=123456708",
            marks=pytest.mark.slow,
        ),
        (["knight", "--size", "6"], "knight/sheet?board=6x6"),
    ],
)
def test_page_and_shell_make_the_same_sheet(
    shown: Explorer, browser: Browser, cli: Cli, tmp_path: Path, words: list[str], address: str
) -> None:
    file, rows = tmp_path / "sheet.html", tmp_path / "rows.jsonl"
    assert cli("sample", *words, "--sheet", str(file), "--output", str(rows)).code == 0
    key = "start" if words[0] == "knight" else "state"
    boards = "+".join(json.loads(line)[key] for line in rows.read_text().splitlines())
    page = shown.open(f"{address}&boards={boards}")
    page.wait_for_selector(".sheet-page")
    page.emulate_media(media="print")
    mine = page.evaluate(SEEN)
    with browser.new_page(**DESK) as other:  # the explorer may ask for no other file
        other.goto(file.as_uri())
        other.emulate_media(media="print")
        theirs = other.evaluate(SEEN)
    if words[0] == "knight":  # any tours from these starts are answers
        del mine[1]["boards"], theirs[1]["boards"]
    assert mine == theirs
    assert len({left for left, *_ in mine[0]["sizes"]}) == (2 if words[0] == "knight" else 4)


def test_rising_sheets_get_harder_from_board_to_board(shown: Explorer, tables: Tables) -> None:
    page = shown.open("eight/play?start=378546201")
    page.click("#view-eight >> text=Sheet to print")
    page.select_option("#eight-sheet-level", "rising")
    page.click("#eight-sheet-make")
    expect(page.locator("#eight-sheet-boards .picture")).to_have_count(12)
    goal, states = re.findall("=([^&]*)", shown.address())
    distances = [tables.eight.distance(state, goal) for state in states.split("+")]
    assert distances == [3, 6, 8, 11, 13, 16, 18, 21, 23, 26, 28, 31]
    shown.go(f"senet/study?position={OPENING}")
    page.click("#view-senet >> text=Sheet to print")
    page.select_option("#senet-sheet-level", "rising")
    page.click("#senet-sheet-make")
    expect(page.locator("#senet-sheet-boards .picture")).to_have_count(6)
    positions = shown.address().partition("boards=")[2].split("+")
    plies = [tables.senet.probe(position).plies for position in positions]
    assert plies == [2, 4, 5, 7, 8, 10]
