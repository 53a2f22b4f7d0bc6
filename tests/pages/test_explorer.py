"""Tests of the explorer's file and its answers, in headless browsers that open it from disk.

`test_explorer_use.py` tests its controls.
"""

import base64
import hashlib
import json
import random
import re
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser, expect

from puzzle_tablebase.errors import GoalUnreachable, OutputError, PositionUnreachable, TableDamaged
from puzzle_tablebase.puzzles import senet
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.queries.explorer import writer as made
from puzzle_tablebase.queries.explorer.writer import write_explorer
from puzzle_tablebase.queries.reader import Reader
from puzzle_tablebase.stores.folder import Folder
from tests import first
from tests.support.asking import ask_one
from tests.support.explorer_browser import Explorer, find_differences
from tests.support.explorer_fixtures import in_both
from tests.support.tampered import flip_byte, replace_link

BOARD = KnightBoard(8, 8)
SIZE = 3_000_000
PAGE = Path(made.__file__).parent / "page"


# ---- the file -------------------------------------------------------------------------------


def test_the_page_is_small_and_the_same_every_time(
    explorer: Path, outputs: Path, tmp_path: Path
) -> None:
    second = tmp_path / "again.html"
    write_explorer(Folder(outputs), str(second))
    assert second.read_bytes() == explorer.read_bytes()
    assert explorer.stat().st_size <= SIZE


def test_the_page_names_nothing_outside_itself(explorer: Path) -> None:
    text = re.sub(r'<script type="application/gzip".*?</script>', "", explorer.read_text("utf-8"))
    assert set(re.findall(r"https?://[^\"' )]*", text)) == {"http://www.w3.org/2000/svg"}
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', text)
    allowed = r"default-src 'none'; script-src( 'sha256-[\w+/=]+')+; style-src 'sha256-[\w+/=]+'; "
    # connections to the host that the page came from, which a page from disk has none of
    allowed += "connect-src 'self'; img-src data:; worker-src data:; "
    assert re.fullmatch(allowed + "base-uri 'none'; form-action 'none'", policy)
    assert "{{" not in text.partition("<script")[0]
    sources = "".join(source.read_text("utf-8") for source in PAGE.glob("*.js"))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", sources)
    assert set(re.findall(r"https?://[^\"' )]*", sources)) == {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("damaged", ["senet.idx", "knight_tours_6x6.parquet"])
def test_a_damaged_table_makes_no_page(
    copy: Path, damaged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # compressing takes long, and comes after reading
    monkeypatch.setattr(
        "puzzle_tablebase.queries.explorer.writer.gzip.compress", lambda data, mtime: b""
    )
    flip_byte(replace_link(copy / damaged))
    with pytest.raises(TableDamaged, match=damaged):
        write_explorer(Folder(copy), str(copy / "explorer.html"))
    assert not (copy / "explorer.html").exists()


def test_a_page_that_cannot_be_written_is_reported(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made, "_make_page", lambda store: "")
    with pytest.raises(OutputError, match="cannot be written: no such file or directory"):
        write_explorer(Folder(outputs), str(tmp_path / "nowhere" / "explorer.html"))


def test_without_sliding_boards_their_view_is_hidden(shown: Explorer) -> None:
    page = shown.open("eight")
    assert page.locator("nav [data-view=sliding]").is_hidden()
    page.goto(f"{shown.file.as_uri()}#sliding/2x3")
    expect(page.locator("#eight-title")).to_have_text("8-puzzle")
    trouble = page.locator("#trouble")
    expect(trouble).to_contain_text("no puzzle “sliding”. It has 8-puzzle, Senet, Knight’s tour.")
    expect(trouble).to_contain_text("To add it: pipeline precompute sliding_2x3")
    page.click("#eight-board .open")
    expect(trouble).to_be_hidden()


# ---- the page's own reader ------------------------------------------------------------------


def test_500_random_positions_of_senet(shown: Explorer, readers: dict[str, Reader]) -> None:
    rng = random.Random(15)
    positions = [senet.unrank(rng.randrange(senet.SIZE)) for _ in range(500)]
    positions += [senet.OPENING, "BBBBBAAAAA....."]
    page = shown.open("senet")
    result = page.evaluate("positions => positions.map((one) => explorer.senet(one))", positions)
    expected: list[dict[str, object]] = []
    for position in positions:
        try:
            expected.append(ask_one(readers["senet"], position, path=True).to_dict())
        except PositionUnreachable:
            expected.append({"position": position, "plies": None})
    assert find_differences(result, expected) == []
    assert {*result[0], "lines"} == {*expected[0]}
    reached = [one for one in expected if one["plies"] is not None][:20]
    questions = [[one["position"], one["plies"]] for one in reached]
    counted = page.evaluate(
        "questions => questions.map((one) => explorer.countLines(...one))", questions
    )
    assert counted == [one["lines"] for one in reached]


def test_500_random_tours(shown: Explorer, readers: dict[str, Reader]) -> None:
    rng = random.Random(64)
    pairs = [(rng.randrange(64), rng.randrange(64)) for _ in range(1000)]
    joined = [tuple(map(BOARD.name_square, pair)) for pair in pairs if BOARD.can_join(*pair)][:500]
    page = shown.open("knight")
    result = page.evaluate("pairs => pairs.map((pair) => explorer.knight('8x8', ...pair))", joined)
    expected = [ask_one(readers["knight"], start, to=end).to_dict() for start, end in joined]
    assert find_differences(result, expected) == []
    assert {"number", "closed", "path", "jumps"} <= result[0].keys()


# ---- queries made by hand -------------------------------------------------------------------

STATES = (
    ("378546201", "123456780"),
    ("283104765", "123804765"),
    ("123456780", "123456780"),
    ("123450786", "123456780"),
    ("867254301", "123456780"),
    ("012345678", "123456708"),
    ("378546201", "087654321"),
    ("647850321", "301254867"),
    ("123456780", "123804765"),
    ("213456780", "123456780"),
)


@in_both
def test_states_typed_are_answered_as_by_query(shown: Explorer, readers: dict[str, Reader]) -> None:
    page = shown.open("eight/152703846")
    for state, goal in STATES:
        page.fill("#eight-goal", goal)
        page.fill("#eight-start", " ".join(state))
        assert shown.address() == f"eight/{state}/{goal}"
        facts = shown.facts("eight")
        try:
            expected = ask_one(readers["eight"], state, goal=goal).to_dict()
        except GoalUnreachable:
            assert shown.text("#eight-distance") == "No solution"
            assert "odd" in facts["Why"]
            assert "Swap any two tiles" in facts["Why"]
            page.click("#eight-exchange")
            assert shown.text("#eight-distance").isdigit()
            continue
        assert shown.text("#eight-distance") == str(expected["distance"])
        if not expected["distance"]:
            assert "this is the goal" in shown.text("#eight-unit")
            continue
        assert shown.text("#say").startswith(f"{expected['distance']} move")
        assert facts["Shortest solutions"] == f"{expected['solutions']:,}"
        assert facts["Tiles to move"] == " ".join(str(expected["tiles"]))
        assert facts["As letters"].split()[0] == expected["solution"]
        best = next(facts[term] for term in ("Best move", "Best moves") if term in facts)
        assert "".join(re.findall(r"\d", best)) == expected["best_tiles"]


POSITIONS = (
    "ABAAABBB.B...A.",
    "ABABABABAB.....",
    ".....AAAAABBBBB",
    "BAABABABAB.....",
    "BBBBBAAAAA.....",
)


@in_both
def test_positions_typed_are_answered_as_by_query(
    shown: Explorer, readers: dict[str, Reader]
) -> None:
    page = shown.open("senet/.AAAAABBBBB....")
    for position in POSITIONS:
        page.fill("#senet-position", position.lower())
        assert shown.address() == f"senet/{position}"
        expect(page.locator("#senet-facts")).not_to_contain_text("being counted")
        facts = shown.facts("senet")
        try:
            expected = ask_one(readers["senet"], position).to_dict()
        except PositionUnreachable:
            assert shown.text("#senet-plies") == "Never"
            assert "119 of the 756,756" in facts["Why"]
            continue
        assert shown.text("#senet-plies") == str(expected["plies"])
        assert facts["Shortest lines"] == f"{expected['lines']:,}"
        assert facts.get("Throws", "").replace(" ", "") == expected["dice"]
        for mover, plies in (("A", expected["plies_even"]), ("B", expected["plies_odd"])):
            text = "never" if plies is None else f"after {plies} pl{'y' if plies == 1 else 'ies'}"
            assert facts[f"{mover} to move"] == text
        line = page.locator("#senet-line li").all_inner_texts()
        moves = str(expected["moves"]).split()
        assert [re.findall(r"\d+", text)[1:] for text in line] == [
            re.findall(r"\d+", move) for move in moves
        ]
        assert ["swaps" in text for text in line] == ["x" in move for move in moves]


@pytest.mark.parametrize(
    ("start", "end"), first(2, [("b1", "a3"), ("a1", "h7"), ("h8", "g8"), ("d5", "c4")])
)
def test_squares_clicked_are_answered_as_by_query(
    shown: Explorer, readers: dict[str, Reader], start: str, end: str
) -> None:
    page = shown.open("knight/e4/e5")
    page.click(f"#knight-board [aria-label^='{start}']")
    barred = page.locator("#knight-board .barred")
    assert barred.count() == 31
    assert page.locator("#knight-board .closing").count() == len(
        BOARD.list_neighbours(BOARD.parse_square(start))
    )
    if not BOARD.can_join(BOARD.parse_square(start), BOARD.parse_square(end)):
        page.click(f"#knight-board [aria-label^='{end}']")
        assert f"from {start} to {end}" in shown.text("#knight-problem")
        end = BOARD.name_square(BOARD.parse_square(end) ^ 1)
    page.click(f"#knight-board [aria-label^='{end}']")
    assert shown.address() == f"knight/{start}/{end}"
    expected = ask_one(readers["knight"], start, to=end).to_dict()
    page.click("#knight-facts summary")
    facts = shown.facts("knight")
    assert shown.text("#knight-kind") == ("Closed" if expected["closed"] else "Open")
    assert facts["Squares"].replace(" ", "") == expected["path"]
    assert facts["Jumps"].splitlines()[1].split() == [str(jump) for jump in expected["jumps"]]
    squares = page.locator("#knight-board button").all()
    order = [number for row in expected["order"] for number in row]
    for square, number in zip(squares, order, strict=True):
        assert f"number {number}" in str(square.get_attribute("aria-label"))


def test_the_buttons_do_what_their_labels_say(shown: Explorer, outputs: Path) -> None:
    files = outputs / "eight.parquet", outputs / "eight_edge.parquet"
    rows = pl.concat([pl.read_parquet(file, columns=["goal", "distance"]) for file in files])
    largest = dict(rows.group_by("goal").agg(pl.max("distance")).rows())
    page = shown.open("eight/study")
    for goal in ("corner", "centre", "edge"):
        page.click(f"[data-goal={goal}]")
        page.click("#eight-hardest")
        assert shown.text("#eight-distance") == str(largest[goal])
        page.click("#eight-random")
        assert 0 <= int(shown.text("#eight-distance")) <= largest[goal]
    page.fill("#eight-goal", "876543210")
    page.click("#eight-hardest")
    assert shown.text("#eight-distance") == str(largest["corner"])
    page.click("nav >> text=Senet")
    page.wait_for_selector("body[data-ready=senet]")
    page.click("#view-senet >> text=Study")
    page.click("#senet-farthest")
    assert shown.text("#senet-plies") == "15"
    page.click("#senet-never")
    assert shown.text("#senet-plies") == "Never"
    page.click("#senet-opening")
    assert shown.text("#senet-plies") == "0"
    page.click("nav >> text=Knight")
    page.wait_for_selector("body[data-ready=knight]")
    page.click("#view-knight >> text=Study")
    page.click("[data-board='8x8']")
    page.click("#knight-closed")
    assert shown.text("#knight-kind") == "Closed"
    _, start, end = shown.address().split("/")
    page.click("#knight-turn")
    assert shown.address() == f"knight/{end}/{start}"
    page.click("#knight-other")
    assert shown.address() == f"knight/{end}"
    page.click("#knight-random")
    assert len(shown.address().split("/")) == 3


@in_both
def test_a_page_whose_script_was_changed_does_not_start(
    browser: Browser, explorer: Path, tmp_path: Path
) -> None:
    text = explorer.read_text("utf-8")
    (import_map,) = re.findall(r'<script type="importmap">(.*?)</script>', text)
    address = json.loads(import_map)["imports"]["#page/app.js"]
    source = base64.b64decode(address.partition(",")[2])
    other = base64.b64encode(source.replace(b"export", b"owned(); export", 1)).decode()
    changed = import_map.replace(address, address.partition(",")[0] + "," + other)
    digest = base64.b64encode(hashlib.sha256(changed.encode()).digest()).decode()
    file = tmp_path / "changed.html"
    page = browser.new_page()
    # with the policy unchanged, then with one that allows only the changed map
    for policy in ("script-src", f"script-src 'sha256-{digest}'"):
        file.write_text(
            text.replace(import_map, changed).replace("script-src", policy, 1), encoding="utf-8"
        )
        page.goto(file.as_uri())
        expect(page.locator("#trouble")).to_contain_text("This page cannot start")
        assert page.locator("#eight-distance").inner_text() == "–"
    page.close()


def test_damage_to_the_page_is_reported(chromium: Browser, explorer: Path, tmp_path: Path) -> None:
    text, file, page = explorer.read_text("utf-8"), tmp_path / "damaged.html", chromium.new_page()
    trouble = page.locator("#trouble")
    for name, view in (("eight.idx", "eight"), ("knight_tours_6x6", "knight/6x6")):
        (packed,) = re.findall(rf'id="{re.escape(name)}">(.*?)<', text)
        data = base64.b64decode(packed)
        # the header, the first bytes of a record or of what is packed, the last ones
        flipped = [
            data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
            for at in (30, 127, random.Random(6).randrange(200, len(data) - 8))
        ]
        wrongs = [base64.b64encode(wrong).decode() for wrong in flipped]
        for wrong in (*wrongs, packed[: len(packed) // 8 * 4], "?"):
            file.write_text(text.replace(packed, wrong), "utf-8")
            page.goto("about:blank")
            page.goto(f"{file.as_uri()}#{view}")
            expect(trouble).to_contain_text(f"{name}, inside this page, is damaged")
            assert page.locator("#eight-distance").inner_text() == "–"
    page.click("nav >> text=Senet")
    expect(page.locator("#senet-word")).to_have_text("A is to move.")
    expect(trouble).to_be_hidden()
    page.close()
