"""Walks through the explorer in a browser: each puzzle played, looked over, studied and printed."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser, Page, expect

from puzzle_tablebase.notation.senet import OPENING
from puzzle_tablebase.queries.tables import Tables
from tests.support.browser import DESK, Explorer, broken_rules, in_both
from tests.support.oracles import senet_successors
from tests.support.sliding_oracle import replay

BOARDS = {"page": "boards_page"}
TARGET = "ABAAABBB.B...A."  # which one line of two plies leads to
VIEWS = (
    *("eight/study?start=378546201", "eight/study?start=123456780&goal=123804765"),
    "eight/play?start=283104765&goal=123804765&hints=1&hinted=1",
    "eight/play?start=123456708&goal=123456780&moves=LRR",
    *(f"senet/study?position={TARGET}", "senet/study?position=BBBBBAAAAA....."),
    f"senet/study?position={TARGET}&moves=9-14+10-13+7-8&step=2",
    *("senet/play?moves=9-14+4x7&throw=4", "senet/play?to=.B.AAABABB...AB&moves=9-14&throw=4"),
    *("knight/study?start=b1&end=a3", "knight/study?start=d4"),
    *("knight/study?board=6x6&start=a1&end=b1", "knight/play?board=6x6&path=a1b3c5"),
    *("sliding/study?board=2x4&start=12345607", "sliding/play?board=2x2"),
)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def enter(page: Page, field: str, text: str) -> None:
    page.fill(field, text)
    page.press(field, "Enter")


def play_hints(page: Page, view: str, moves: int) -> None:
    """Play best moves to the end of a game, a hint each, which counts once."""
    for count in range(1, moves + 1):
        page.click(f"#{view}-help")
        page.click(f"#{view}-help")
        page.click(f"#{view}-board .best")
        expect(page.locator(f"#{view}-count")).to_have_text(str(count))
    expect(page.locator(f"#{view}-word")).to_contain_text(
        f"Solved! {moves} moves with {moves} hint"
    )


def read_ends(address: str) -> tuple[str, str]:
    """Return the start and the goal that an address has."""
    start, goal = re.findall("(?:start|goal)=([^&]*)", address)
    return start, goal


def make_sheet(shown: Explorer, view: str, count: int, level: str = "") -> None:
    """Make a sheet that fits a phone, and takes a page for boards, another for answers."""
    page = shown.page
    page.click(f"#view-{view} >> text=Sheet to print")
    # Firefox's driver adds to a number where it should replace it
    page.locator(f"#{view}-sheet-count").evaluate(
        f"field => {{ field.value = {count}; field.dispatchEvent(new Event('input')); }}"
    )
    if level:
        page.select_option(f"#{view}-sheet-level", level)
    page.click(f"#{view}-sheet-make")
    expect(page.locator(f"#{view}-sheet-boards .picture")).to_have_count(count)
    assert page.locator(f"#{view}-sheet-answers li").count() == count
    assert broken_rules(page) == []
    page.set_viewport_size({"width": 320, "height": 640})
    assert shown.width() <= 320
    page.set_viewport_size(DESK["viewport"])
    browser = shown.context.browser
    if browser and browser.browser_type.name == "chromium":
        margins: Any = dict.fromkeys(("top", "bottom", "left", "right"), "1.5cm")
        for paper in ("A4", "Letter"):
            pages = page.pdf(format=paper, margin=margins)
            assert len(re.findall(rb"/Type\s*/Page\b", pages)) == 2


@in_both
def test_the_8_puzzle(shown: Explorer, tables: Tables) -> None:
    page = shown.open()
    start = shown.address()
    assert tables.eight.distance(*read_ends(start)) == 5
    for answer in ("#eight-distance", "#eight-facts", "#eight-player", "#eight-board .best"):
        assert page.locator(answer).is_hidden()
    play_hints(page, "eight", 5)
    page.reload()
    page.wait_for_selector("body[data-ready]")
    page.click("#eight-undo")
    assert shown.text("#eight-count") == "4"
    page.click("#eight-again")
    assert shown.address() == start

    # keys alone: a line of tiles, a game that is over, and looking back at a lost move
    shown.go("eight/play?start=123456780&goal=012345678")
    page.click("#eight-board [aria-label^='tile 7, slides right with others']")
    assert shown.address() == "eight/play?start=123456780&goal=012345678&moves=LL"
    press(page, "u", "Control+z", "ArrowDown", "7", "?")
    expect(page.locator("#keys .hint")).to_be_in_viewport()
    shown.go("eight/play?start=123456708&goal=123456780")
    press(page, "ArrowRight", "ArrowLeft", "ArrowLeft")
    assert shown.text("#eight-word").startswith("Solved! 3 moves")
    press(page, "b")
    assert shown.address() == "eight/study?start=123456708&goal=123456780&moves=LRR"
    bars = page.locator("#eight-chart rect").all()
    assert [int("lost" in str(bar.get_attribute("class"))) for bar in bars] == [0, 1, 0, 0]
    page.focus("#eight-player input")
    press(page, "Home", "ArrowRight")
    assert "Better: tile 8 left" in shown.text("#eight-change")
    page.click("#eight-from")
    assert shown.address() == "eight/play?start=123456708&goal=123456780&hints=1"

    # study: typed states, buttons, tiles and cells by mouse
    shown.go("eight/study")
    page.fill("#eight-goal", "123456708")
    page.fill("#eight-start", "0 1 2 / 3 4 5 / 6 7 8")
    expected = tables.eight.probe("012345678", "123456708", solution=True)
    assert shown.facts("eight")["As letters"].split()[0] == expected.solution
    page.fill("#eight-start", "213456708")
    assert shown.text("#eight-distance") == "No solution"
    page.click("#eight-swap")
    assert shown.text("#eight-distance").isdigit()
    shown.go("eight/study?start=123456780&goal=123456780")
    tile = page.locator("#eight-board [aria-label^='tile 6']").bounding_box()
    assert tile
    page.mouse.move(tile["x"] + 40, tile["y"] + 40)
    page.mouse.down()
    page.mouse.move(tile["x"] + 40, tile["y"] + 40 + tile["height"], steps=4)
    page.mouse.up()
    assert shown.address() == "eight/study?start=123456780&goal=123456780&moves=U"
    enter(page, "#eight-moves", "U D U")
    assert shown.address() == "eight/study?start=123456780&goal=123456780&moves=UDU"
    page.click("#eight-start-cells [aria-label='tile 1']")
    page.click("#eight-start-cells [aria-label='tile 2']")
    assert shown.address().startswith("eight/study?start=213")

    make_sheet(shown, "eight", 8, "20")
    goal, states = re.findall("=([^&]*)", shown.address())
    assert page.locator("#eight-sheet-answers li").all_inner_texts() == [
        f"20 moves: {' '.join(str(tables.eight.probe(state, goal, solution=True).tiles))}"
        for state in states.split("+")
    ]


@in_both
@pytest.mark.parametrize("shown", [BOARDS], indirect=True)
def test_sliding_boards_and_the_15_puzzle(shown: Explorer) -> None:
    page = shown.open()
    page.click("nav [data-view=sliding]")
    page.click("#view-sliding >> text=Study")
    page.click("#sliding-boards >> text=2×3")
    page.wait_for_selector("#sliding-title:has-text('2×3')")
    page.fill("#sliding-start", "1,2,0 4 5,3")
    assert shown.address() == "sliding/study?board=2x3&start=120453&goal=123450"
    page.click("#sliding-board [aria-label^='tile 3']")
    assert shown.text("#sliding-now") == "Solved."
    for board, wrong in (("", "constructor"), ("2x3&start=123450&moves=", "UDR")):
        shown.go(f"sliding/study?board={board}{wrong}")
        assert f"“{wrong}”" in shown.text("#trouble")

    shown.go("fifteen/play")
    play_hints(page, "fifteen", 5)
    page.select_option("#fifteen-level", "30")
    page.click("#fifteen-another")
    expect(page.locator("#fifteen-count")).to_have_text("0")
    page.click("#view-fifteen >> text=Study")
    expect(page.locator("#fifteen-distance")).to_have_text("30")
    at, end = read_ends(shown.address())
    tiles = page.locator("#fifteen-board > *").all_inner_texts()
    assert tiles == [str(int(mark, 16) or "") for mark in at]
    path = replay(at, shown.facts("fifteen")["As letters"].split()[0], 4, 4)
    assert (len(path), path[-1]) == (31, end)
    shown.go("fifteen/study?start=123456789abcdef0&goal=1234567890abcdef")
    expect(page.locator("#fifteen-distance")).to_have_text("0")
    assert "the gap of a goal must be in a corner" in shown.text("#trouble")


@pytest.mark.parametrize("shown", [BOARDS], indirect=True)
def test_a_long_search_says_what_it_knows_and_is_stopped(shown: Explorer) -> None:
    shown.page.add_init_script(
        """globalThis.Worker = class {
            postMessage({ board }) {
                if (!board) return;
                for (const data of [{ most: [14, 13, 14, 15] }, { least: 1 }]) {
                    setTimeout(() => this.onmessage({ data }));
                }
            }
            terminate() { globalThis.ended = true; }
        };"""
    )
    page = shown.open("fifteen/study?start=123456789abcde0f&goal=123456789abcdef0")
    known = page.locator("#fifteen-known")
    expect(known).to_have_text(re.compile("^Searching.* at least 1 and at most 3 moves"))
    page.click("#fifteen-stop")
    expect(known).to_have_text(re.compile("^Stopped.* at least 1 and at most 3 moves"))
    assert page.evaluate("globalThis.ended")


def read_position(page: Page) -> str:
    labels = page.locator("#senet-board button").evaluate_all(
        "squares => squares.map((square) => square.getAttribute('aria-label'))"
    )
    return "".join(re.sub(r".*?: (\w+).*", r"\1", label) for label in labels).replace("empty", ".")


@in_both
def test_senet(shown: Explorer, tables: Tables) -> None:
    page = shown.open("senet/play?free=1")
    position, line = OPENING, list[str]()
    for throw in (5, 3, 2, 4, 1, 5, 2, 3, 1):
        mover = "AB"[len(line) % 2]
        moves = senet_successors(position, mover)
        legal = {start: (to, swaps, after) for at, start, to, swaps, after in moves if at == throw}
        die = page.locator(f"#senet-dice >> text={throw}")
        assert die.get_attribute("aria-disabled") == str(not legal).lower()
        if not legal:
            continue
        die.click()
        start = min(legal)
        target, is_swap, position = legal[start]
        line.append(f"{start}{'x' if is_swap else '-'}{target}")
        page.click(f"#senet-board [aria-label^='square {start if mover == 'B' else target}:']")
        assert shown.address() == f"senet/play?moves={'+'.join(line)}"
    assert len(line) >= 6
    assert read_position(page) == position
    page.click("#view-senet >> text=Study")
    assert shown.text("#senet-plies") == str(tables.senet.probe(position).plies)
    shown.go("senet/play?start=.....BBBBBAAAAA")
    assert "the game ends" in shown.text("#senet-word")

    # a game with an aim, by hints and keys
    shown.go("senet/play")
    page.select_option("#senet-level", "6")
    page.click("#senet-another")
    expect(page.locator("#senet-count")).to_have_text("0")
    assert (found := re.search(r"senet/play\?to=([AB.]{15})$", shown.address()))
    for left in range(6, 0, -1):
        press(page, "h", "h")
        hint = re.compile(rf"Hint: throw [1-5], .* takes {left} pl(y|ies)\.")
        expect(page.locator("#senet-word")).to_have_text(hint)
        page.click("#senet-board .target")
    assert read_position(page) == found[1]
    assert shown.text("#senet-word") == shown.text("#say")
    assert shown.text("#say").startswith("Reached in 6 plies with 6 hints")
    shown.go(f"senet/play?to={TARGET}&moves=9-13+4x7+13-14")  # one ply more than needed
    assert shown.text("#senet-word").startswith("Reached in 3 plies")
    press(page, "b")
    page.click("#senet-line button >> nth=0")
    assert "Better: throw 5, 9 to 14." in shown.text("#senet-change")
    page.click("#senet-from")
    assert shown.address() == f"senet/play?to={TARGET}&hints=1"

    # study: a typed position, and one set up by clicks
    shown.go("senet/study?position=" + OPENING)
    page.fill("#senet-position", TARGET.lower())
    expect(page.locator("#senet-facts")).not_to_contain_text("being counted")
    assert shown.facts("senet")["Shortest lines"] == "1"
    shown.open(f"senet/study?position={OPENING}")
    for square in "12":
        page.click(f"#senet-board [aria-label^='square {square}:']")
    assert shown.address() == "senet/study?position=BAABABABAB....."
    make_sheet(shown, "senet", 3, "4")


@in_both
def test_the_knight(shown: Explorer, outputs: Path, tables: Tables) -> None:
    rows = pl.scan_parquet(outputs / "knight_tours_6x6.parquet").filter(start="c3")
    tours = rows.select("path").collect()["path"]
    path = tours[43_210]
    page = shown.open("knight")
    assert page.locator("#knight-board .barred").count() == 12
    page.click("#knight-boards >> text=6×6")
    for square in re.findall("..", path[:6]):
        page.click(f"#knight-board [aria-label^={square}]")
    assert shown.address() == f"knight/play?board=6x6&path={path[:6]}"
    page.click("#knight-completable")
    assert shown.text("#knight-word") == "Yes, it can still be completed."
    page.click("#knight-help")
    hint = shown.text("#knight-word").removeprefix("Hint: jump to ").removesuffix(".")
    assert tours.str.starts_with(path[:6] + hint).any()
    shown.go(f"knight/play?board=6x6&path={path[:-2]}")
    page.click(f"#knight-board [aria-label^={path[-2:]}]")
    expect(page.locator("#knight-word")).to_contain_text("You made a tour!")
    page.click("#view-knight >> text=Study")
    assert shown.address() == f"knight/study?board=6x6&path={path}"
    assert shown.facts("knight")["Squares"].replace(" ", "") == path

    # study: another end, and squares that no tour joins
    enter(page, "#knight-end", "c4")
    found = shown.facts("knight")["Squares"].replace(" ", "")
    assert tours.eq(found).sum() == 1
    assert found.endswith("c4")
    assert shown.address() == "knight/study?board=6x6&start=c3&end=c4"
    shown.go("knight/study?start=e4&end=e5")
    page.click("#knight-board [aria-label^=b1]")
    assert page.locator("#knight-board .barred").count() == 31
    page.click("#knight-board [aria-label^=a3]")
    assert shown.address() == "knight/study?board=8x8&start=b1&end=a3"
    path = tables.knight.probe("b1", to="a3").path
    assert shown.facts("knight")["Squares"].replace(" ", "") == path
    shown.go(f"knight/play?board=8x8&path={path}")
    expect(page.locator("#knight-word")).to_contain_text("tour! It is closed")
    page.click("#knight-boards >> text=6×6")
    make_sheet(shown, "knight", 6)


AUCKLAND = {"options": {"timezone_id": "Pacific/Auckland"}, "time": "2026-11-25T11:30:00Z"}


@pytest.mark.parametrize("shown", [AUCKLAND], indirect=True)
def test_the_puzzle_of_the_day_has_a_result(shown: Explorer, tables: Tables) -> None:
    def begin(view: str) -> None:
        shown.open(view)
        page.click(f"#{view}-today")
        # it is the 26th there when it is the 25th in Greenwich
        expect(page.locator(f"#{view}-today")).to_contain_text("2026-11-26")

    def solve() -> int:
        tiles = str(tables.eight.probe(*read_ends(shown.address()), solution=True).tiles)
        press(page, *tiles)
        assert shown.text("#eight-word").startswith("Solved!")
        return len(tiles)

    page = shown.page
    begin("eight")
    best = solve()
    result = shown.text("#eight-result span")
    assert result == f"8-puzzle 2026-11-26: {best}/{best}, no hint"
    assert broken_rules(page) == []
    begin("eight")
    page.click("#eight-help")
    solve()
    assert shown.text("#eight-result span") == result, "the first result of a day stays"
    begin("senet")
    begin("knight")


@pytest.mark.parametrize("shown", [AUCKLAND], indirect=True)
def test_hints_of_the_day_count_whatever_is_begun_again(shown: Explorer, tables: Tables) -> None:
    page = shown.open("eight")
    page.click("#eight-today")
    page.click("#eight-help")
    page.click("#eight-board .best")
    page.click("#eight-again")
    tiles = str(tables.eight.probe(*read_ends(shown.address()), solution=True).tiles)
    press(page, *tiles)
    assert shown.text("#eight-result span").endswith(f": {len(tiles)}/{len(tiles)}, 1 hint")


@pytest.mark.parametrize("shown", [BOARDS], indirect=True)
def test_a_slow_answer_comes_too_late(shown: Explorer) -> None:
    """Go elsewhere while a board that was not on view yet is opened."""
    page = shown.open("eight/play")
    page.evaluate(
        """() => new Promise((done) => {
          const leave = () => {
            location.hash = "#eight/study?start=378546201";
            setTimeout(done, 1000);
          };
          addEventListener("hashchange", leave, { once: true });
          location.hash = "#sliding/study?board=2x4";
        })"""
    )
    assert shown.address().startswith("eight/study?start=378546201")
    assert page.locator("#view-eight").is_visible()


def test_a_line_that_plays_stops_at_its_end(shown: Explorer) -> None:
    page = shown.open("eight/study?start=123456708&goal=123456780&moves=LRR")
    page.click("#eight-player [aria-label='To the beginning']")
    page.click("#eight-player [aria-label='Play']")
    assert page.locator("#eight-player [aria-label='Pause']").count() == 1
    expect(page.locator("#eight-player .count")).to_have_text("move 3 of 3")
    assert page.locator("#eight-player [aria-label='Pause']").count() == 0
    assert shown.address().endswith("moves=LRR")


PHONE = {"viewport": {"width": 320, "height": 844}, "has_touch": True, "is_mobile": True}


def check_that_it_fits(shown: Explorer) -> None:
    size, view = shown.page.viewport_size, shown.address().partition("/")[0]
    board = shown.page.locator(f"#{view}-board").bounding_box()
    assert size
    assert board
    assert shown.width() == size["width"]
    assert board["y"] + board["height"] <= size["height"]


@pytest.mark.slow
@pytest.mark.parametrize("shown", [BOARDS], indirect=True)
def test_every_view_fits_its_window_and_is_accessible(shown: Explorer) -> None:
    page = shown.open()
    for address in VIEWS:
        shown.go(address)
        check_that_it_fits(shown)
        assert broken_rules(page) == []
        page.emulate_media(color_scheme="dark")
        assert broken_rules(page, "color-contrast") == []
        page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("shown", [{**BOARDS, "options": PHONE}], indirect=True)
def test_every_view_fits_a_phone(shown: Explorer) -> None:
    page = shown.open()
    for address in VIEWS:
        shown.go(address)
        check_that_it_fits(shown)
        assert broken_rules(page, "target-size") == []


@in_both
def test_the_address_describes_the_view_and_text_is_never_markup(shown: Explorer) -> None:
    page = shown.open("eight/study?start=378546201&step=2")
    address = shown.address()
    page.click("nav >> text=Knight")
    page.wait_for_selector("body[data-ready=knight]")
    page.click("nav >> text=8-puzzle")
    page.wait_for_selector("body[data-ready=eight]")
    assert shown.address() == address, "a link back restores the view"
    page.fill("#eight-start", "283104765")
    page.fill("#eight-goal", "123804765")
    assert page.title() == "4 moves · 8-puzzle"
    page.evaluate("history.back()")
    expect(page).to_have_url(f"{shown.base}#eight/study?start=283104765&goal=123456780")
    expect(page.locator("#eight-distance")).to_have_text("No solution")
    hostile = "<img src=x onerror=document.title='owned'>"
    for view, field in (("eight", "start"), ("senet", "position"), ("knight", "start")):
        shown.go(f"{view}/study?start=%3Cimg%20src=x%3E&position={hostile}&board={hostile}")
        shown.open(f"{view}/study")
        enter(page, f"#{view}-{field}", hostile)
        expect(page.locator(f"#{view}-problem")).to_be_visible()
        assert page.get_attribute(f"#{view}-{field}", "aria-invalid") == "true"
        page.fill(f"#{view}-{field}", "1")
        expect(page.locator(f"#{view}-problem")).to_be_hidden()
        assert (page.locator("img").count(), "owned" in page.title()) == (0, False)
    shown.go("nope?a=1")
    assert "“nope”" in shown.text("#trouble")
    shown.open("eight")
    for number in range(24):
        press(page, "Tab")
        if page.evaluate("document.activeElement === document.body"):
            assert number > 12, "the page was left after its controls"
            break
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_a_link_and_a_board_are_copied(shown: Explorer) -> None:
    shown.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = shown.open()
    for address, board in (
        ("eight/study?start=378546201&goal=123456780", "378546201"),
        (f"senet/study?position={TARGET}", TARGET),
        ("knight/play?board=6x6&path=a1b3c5", "a1b3c5"),
    ):
        shown.go(address)
        view = f"#view-{address.partition('/')[0]}"
        page.click(f"{view} >> text=Share")
        for button, text in (("Copy link", f"#{address}"), ("Copy board", board)):
            page.click(f"{view} >> text={button}")
            expect(page.locator("#say")).to_have_text("Copied.")
            assert page.evaluate("navigator.clipboard.readText()") == text
            page.evaluate("document.getElementById('say').textContent = ''")


@in_both
def test_a_page_whose_script_was_changed_says_so(
    browser: Browser, explorer: Path, tmp_path: Path
) -> None:
    text, file, page = explorer.read_text("utf-8"), tmp_path / "changed.html", browser.new_page()
    (import_map,) = re.findall(r'<script type="importmap">(.*?)</script>', text)
    scheme, _, source = json.loads(import_map)["imports"]["#page/app.js"].partition(",")
    other = base64.b64encode(b"owned();" + base64.b64decode(source)).decode()
    changed = import_map.replace(f"{scheme},{source}", f"{scheme},{other}")
    digest = base64.b64encode(hashlib.sha256(changed.encode()).digest()).decode()
    # with the policy unchanged, then with one that allows only the changed map
    for policy in ("script-src", f"script-src 'sha256-{digest}'"):
        file.write_text(text.replace(import_map, changed).replace("script-src", policy, 1), "utf-8")
        page.goto(file.as_uri())
        expect(page.locator("#trouble")).to_contain_text("This page cannot start")
    page.close()
