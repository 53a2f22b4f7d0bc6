"""Tests of the explorer's hands: keys, lines of tiles, swipes; and of looking back at a game."""

import re

from playwright.sync_api import expect

from tests.support.explorer_browser import Explorer, broken_rules
from tests.support.explorer_fixtures import in_both

START = "eight/play/283104765/123804765"


@in_both
def test_keys_alone_play_each_puzzle(shown: Explorer) -> None:
    page = shown.open(START)
    page.keyboard.press("ArrowUp")
    assert shown.address() == f"{START}/D", "with the focus on no board"
    page.keyboard.press("u")
    assert shown.address() == START
    page.keyboard.press("2")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+z")
    for _ in range(4):
        page.keyboard.press("h")
        (tile,) = re.findall(r"Hint: slide tile (\d)", shown.text("#eight-word"))
        page.keyboard.press(tile)
    assert shown.text("#eight-word") == "Solved! 4 moves with 4 hints; the best is 4."
    page.keyboard.press("n")
    expect(page.locator("#eight-count")).to_have_text("0")
    assert not shown.address().startswith(START)

    shown.go("senet/play/free")
    page.keyboard.press("t")
    word = shown.text("#senet-word")
    assert word.startswith("A threw ")
    page.keyboard.press("u")
    assert shown.address() == "senet/play/free"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("5")
    page.keyboard.press("ArrowRight")
    page.focus("#senet-board .open >> nth=0")
    page.keyboard.press("Enter")
    assert shown.text("#senet-count") == "1"
    page.keyboard.press("n")
    assert shown.address() == "senet/play/free"

    shown.go("knight/play/5x5")
    for count in range(1, 26):
        page.keyboard.press("h")
        hint = page.locator("#knight-board .hinted")
        hint.focus()
        page.keyboard.press("Enter")
        assert shown.text("#knight-count") == str(count)
    assert shown.text("#knight-word").startswith("You made a tour!")
    page.keyboard.press("u")
    assert shown.text("#knight-count") == "24"
    page.keyboard.press("n")
    assert shown.address() == "knight/play/5x5"


def test_the_keys_are_listed(shown: Explorer) -> None:
    page = shown.open(START)
    listed = page.locator("#keys .hint")
    expect(listed).to_be_hidden()
    page.keyboard.press("?")
    expect(listed).to_be_visible()
    expect(listed).to_be_in_viewport()
    keys = page.locator("[data-key]").evaluate_all("all => all.map((one) => one.dataset.key)")
    assert {*keys} == {"b", "h", "u", "t", "n", "?"} <= {*re.split(r"[ ,]+", listed.inner_text())}
    assert broken_rules(page) == []
    page.keyboard.press("?")
    expect(listed).to_be_hidden()
    page.keyboard.press("8")
    assert shown.text("#eight-count") == "1", "the game goes on where the keys were listed"
    page.click("#view-eight >> text=Sheet to print")
    page.focus("#eight-sheet-count")
    page.keyboard.press("u")
    assert shown.text("#eight-count") == "1", "what is typed presses no button"


def test_a_click_slides_all_tiles_up_to_the_gap(shown: Explorer) -> None:
    page = shown.open("eight/play/123456780/012345678")
    page.click("#eight-board [aria-label^='tile 7, slides right with others']")
    assert shown.address() == "eight/play/123456780/012345678/LL"
    page.click("#eight-board [aria-label='tile 1, slides down with others']")
    assert shown.address() == "eight/play/123456780/012345678/LLUU"
    page.click("#eight-board [aria-label='tile 5']", force=True)
    assert shown.text("#eight-count") == "4", "neither in its row nor in its column"
    shown.go("eight/play/123456078/123456780")
    page.click("#eight-board [aria-label^='tile 8']")
    assert shown.text("#eight-word") == "Solved! 2 moves; the best is 2. Nobody can do better."
    shown.go("eight/play/120453786/123450786/DU")
    page.click("#eight-board [aria-label^='tile 6']")
    assert shown.text("#eight-count") == "3", "a game that is over takes no more of them"


def test_a_swipe_slides_the_tile_that_goes_its_way(shown: Explorer) -> None:
    page = shown.open("eight/play/123405678/123456780")
    board = page.locator("#eight-board").bounding_box()
    assert board

    def swipe(right: int, down: int) -> None:
        page.mouse.move(board["x"] + 40, board["y"] + 40)
        page.mouse.down()
        page.mouse.move(board["x"] + 40 + right, board["y"] + 40 + down, steps=4)
        page.mouse.up()

    for (right, down), letters in (
        ((60, 5), "L"),
        ((3, -60), "LD"),
        ((-60, 0), "LDR"),
        ((0, 60), "LDRU"),
        ((15, 0), "LDRU"),
    ):
        swipe(right, down)
        assert shown.address() == f"eight/play/123405678/123456780/{letters}"


# ---- looking back ---------------------------------------------------------------------------


def test_a_game_is_looked_over_and_played_on_from_before_a_move_that_lost(shown: Explorer) -> None:
    game = "123456708/123456780"
    page = shown.open(f"eight/play/{game}")
    assert page.locator("#eight-back").is_hidden()
    for key in ("ArrowRight", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    assert shown.text("#eight-word") == "Solved! 3 moves; the best is 1."
    page.keyboard.press("b")
    assert shown.address() == f"eight/{game}/LRR"
    bars = page.locator("#eight-chart rect")
    assert ["lost" in str(bar.get_attribute("class")) for bar in bars.all()] == [
        False,
        True,
        False,
        False,
    ]
    assert shown.text("#eight-change") == "Tile 8 left: one move nearer."
    assert page.locator("#eight-from").is_hidden()
    page.focus("#eight-player input")
    page.keyboard.press("Home")
    assert shown.text("#eight-change") == ""
    page.keyboard.press("ArrowRight")
    told = "Tile 7 right: one move farther. Better: tile 8 left."
    assert shown.text("#eight-change") == told
    shown.reload()
    assert shown.text("#eight-change") == told
    assert broken_rules(page) == []
    page.click("#eight-from")
    assert shown.address() == f"eight/play/{game}/hints=1", "who has seen it here has had a hint"
    page.keyboard.press("8")
    expect(page.locator("#eight-word")).to_have_text("Solved! 1 move with 1 hint; the best is 1.")


def test_a_pasted_game_is_looked_over(shown: Explorer) -> None:
    game = "123456708/123456780"
    page = shown.open(f"eight/{game}")
    for text, letters in (("7 7 8", "LRR"), ("lrU", "LRU"), ("778", "LRR"), ("L, R", "LR")):
        page.fill("#eight-moves", text)
        page.press("#eight-moves", "Enter")
        assert shown.address() == f"eight/{game}/{letters}"
    for text, problem in (
        ("7 9 8", "Move 2 of “7 9 8” is not possible."),
        ("LL", "Move 2 of “LL” is not possible."),
        ("hop", "Move 1 of “hop” is not possible."),
    ):
        page.fill("#eight-moves", text)
        page.press("#eight-moves", "Enter")
        expect(page.locator("#eight-problem")).to_have_text(problem)
        assert page.get_attribute("#eight-moves", "aria-invalid") == "true"
    assert shown.address() == f"eight/{game}/LR"
    page.fill("#eight-moves", "")
    page.press("#eight-moves", "Enter")
    assert shown.address() == f"eight/{game}"
