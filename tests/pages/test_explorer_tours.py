"""Tests of the explorer's small boards: each tour of 5x5 and 6x6 has its number in the tables."""

import base64
import random
import re
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser, expect

from queries.reader import Reader
from tablebase.errors import NoSuchTour
from tablebase.puzzles.knight.board import KnightBoard
from tests import LONG, first, long_run
from tests.support.explorer_browser import Explorer
from tests.support.explorer_fixtures import in_both

FIVE, SIX = KnightBoard(5, 5), KnightBoard(6, 6)
QUERY_SCRIPT = """queries => queries.map(([board, start, number]) => {
    const began = performance.now();
    const { finish, closed, path } = explorer.knight(board, start, number);
    return [finish, closed, path, performance.now() - began];
})"""


@pytest.fixture(scope="module")
def tours(outputs: Path) -> dict[str, pl.DataFrame]:
    """Read the published tables of all tours."""
    columns = ["start", "finish", "number", "closed", "path"]
    return {
        str(board): pl.read_parquet(
            outputs / f"knight_tours_{board}.parquet", columns=columns
        ).with_columns(pl.col("start", "finish").cast(pl.String))
        for board in (FIVE, SIX)
    }


def find_tours(shown: Explorer, rows: pl.DataFrame, board: KnightBoard) -> pl.DataFrame:
    """Return the page's answers for the tours of these rows, with their milliseconds."""
    queries = [[str(board), *row] for row in rows.select("start", "number").rows()]
    answers = shown.page.evaluate(QUERY_SCRIPT, queries)
    kinds = {"finish": pl.String, "closed": pl.Boolean, "path": pl.String, "ms": pl.Float64}
    return pl.DataFrame(answers, kinds, orient="row")


def test_every_tour_of_5x5(shown: Explorer, tours: dict[str, pl.DataFrame]) -> None:
    shown.open("knight/5x5")
    rows = tours["5x5"]
    assert rows.height == 1728
    assert find_tours(shown, rows, FIVE).drop("ms").equals(rows.select("finish", "closed", "path"))


def test_random_tours_of_6x6_and_the_first_and_last_of_each_start(
    shown: Explorer, tours: dict[str, pl.DataFrame]
) -> None:
    shown.open("knight/6x6")
    all_tours = tours["6x6"]
    edges = pl.col("number").is_in([0, 1]) | (pl.col("number") == pl.col("number").max())
    rows = pl.concat([all_tours.sample(100, seed=6), all_tours.filter(edges.over("start"))])
    assert rows.height == 100 + 3 * 36
    answers = find_tours(shown, rows, SIX)
    assert answers.drop("ms").equals(rows.select("finish", "closed", "path"))
    assert not LONG or answers["ms"].median() < 100  # type: ignore[operator]  # a number


@long_run
def test_the_longest_search_is_quick(shown: Explorer, tours: dict[str, pl.DataFrame]) -> None:
    """Time the last tour of the fullest branch that the page must search."""
    shown.open("knight/6x6")
    branches = tours["6x6"].group_by(pl.col("path").str.slice(0, 12)).agg(
        pl.len(), pl.col("start", "finish", "closed").last(), pl.col("number").max(),
        pl.col("path").max().alias("last"),
    )  # fmt: skip
    fullest = branches.sort("len").tail(1)
    assert fullest["len"].item() == 65_908
    # a busy machine is slow: one of a few times is enough
    assert any(find_tours(shown, fullest, SIX)["ms"].item() < 500 for _ in range(5))


@pytest.mark.parametrize("board", [FIVE, SIX])
def test_totals_and_first_tours_are_the_tables(
    shown: Explorer, tours: dict[str, pl.DataFrame], board: KnightBoard
) -> None:
    page = shown.open(f"knight/{board}")
    rows = tours[str(board)]
    totals = page.evaluate(
        "([board, names]) => names.map((name) => explorer.knightTotal(board, name))",
        [str(board), list(board.name_squares())],
    )
    counted = dict(rows.group_by("start").len().rows())
    assert totals == [counted.get(name, 0) for name in board.name_squares()]
    pairs = rows.group_by("start", "finish").agg(pl.col("number").min())
    numbers = page.evaluate(
        "([board, pairs]) => pairs.map((pair) => explorer.knight(board, ...pair).number)",
        [str(board), pairs.select("start", "finish").rows()],
    )
    assert numbers == pairs["number"].to_list()


# ---- choices by hand ------------------------------------------------------------------------


@in_both
def test_a_number_typed_is_answered_as_by_query(
    shown: Explorer, readers: dict[str, Reader]
) -> None:
    page = shown.open("knight/study")
    page.click("[data-board='6x6']")
    assert shown.address() == "knight/6x6"
    page.fill("#knight-start", "b1")
    assert "289,050 tours start at b1" in shown.text("#knight-ends")
    page.fill("#knight-number", "200000")
    page.keyboard.press("Enter")
    expected = readers["knight"].make_query(board="6x6", number="200000").answer("b1").to_dict()
    assert shown.address() == "knight/6x6/b1/200000"
    facts = shown.facts("knight")
    assert facts["Squares"].replace(" ", "") == expected["path"]
    assert facts["Number"].startswith("200,000")
    assert "289,050" in facts["Number"]
    assert shown.text("#knight-kind") == ("Closed" if expected["closed"] else "Open")
    page.click("#knight-next")
    assert shown.address() == "knight/6x6/b1/200001"
    page.evaluate("history.back()")
    expect(page.locator("#knight-number")).to_have_value("200000")


def test_a_number_past_the_last_is_refused_with_the_total(
    shown: Explorer, readers: dict[str, Reader]
) -> None:
    page = shown.open("knight/6x6/b1/289049")
    assert page.locator("#knight-next").is_disabled()
    assert page.locator("#knight-problem").is_hidden()
    with pytest.raises(NoSuchTour, match="289,050 tours from b1"):
        readers["knight"].make_query(board="6x6", number="289050").answer("b1").to_dict()
    problem = page.locator("#knight-problem")
    for past in ("289050", "9" * 400):
        page.fill("#knight-number", past)
        page.keyboard.press("Enter")
        expect(problem).to_have_text("6x6 has 289,050 tours from b1, numbered 0 to 289,049.")
        assert page.get_attribute("#knight-number", "aria-invalid") == "true"
        assert shown.address() == "knight/6x6/b1/289049"
        page.fill("#knight-number", "1")
        expect(problem).to_be_hidden()
        assert page.get_attribute("#knight-number", "aria-invalid") is None
    page.keyboard.press("Enter")
    assert shown.address() == "knight/6x6/b1/1"
    for bad in ("-1", "1.5", "a3", "1e3"):
        page.fill("#knight-number", bad)
        page.keyboard.press("Enter")
        expect(problem).to_contain_text("is not a tour’s number: it must be a whole number from 0")


def test_squares_where_no_tour_begins_or_ends_show_the_reason(
    shown: Explorer, readers: dict[str, Reader], tours: dict[str, pl.DataFrame]
) -> None:
    page = shown.open("knight/5x5")
    assert page.locator("#knight-board .barred").count() == 12
    page.click("#knight-board [aria-label^=b1]")
    with pytest.raises(NoSuchTour) as refused:
        readers["knight"].make_query(board="5x5").answer("b1").to_dict()
    assert shown.text("#knight-problem") == str(refused.value).replace("'", "’")
    assert shown.address() == "knight/5x5"
    page.click("#knight-board [aria-label^=b2]")
    assert shown.address() == "knight/5x5/b2"
    ends = set(tours["5x5"].filter(pl.col("start") == "b2")["finish"])
    barred = page.locator("#knight-board .barred").all()
    assert len(barred) == 25 - 1 - len(ends)
    assert len(barred) > 12, "some of the right colour are barred too"
    for end in sorted(set(FIVE.name_squares()) - ends - {"b2"}):
        page.click(f"#knight-board [aria-label^={end}]")
        assert f"from b2 to {end}" in shown.text("#knight-problem")
    page.click("#knight-closed")
    assert shown.text("#knight-problem") == "No tour of 5x5 from b2 is closed."
    end = min(ends)
    page.click(f"#knight-board [aria-label^={end}]")
    expected = readers["knight"].make_query(board="5x5", to=end).answer("b2").to_dict()
    assert shown.address() == f"knight/5x5/b2/{expected['number']}"
    assert page.locator("#knight-problem").is_hidden()


@pytest.mark.parametrize(
    ("address", "becomes", "problem"),
    first(
        3,
        [
            ("knight/6x6/a1/f5", "knight/6x6/a1/", ""),
            ("knight/8x8/b1/a3", "knight/b1/a3", ""),
            ("knight/b1/8", "knight/b1/a3", ""),
            ("knight/b1/32", "knight/b1", "This page has 32 tours from b1, numbered 0 to 31."),
            ("knight/5x5/b1/0", "knight/5x5", "No tour of 5x5 starts at b1"),
            ("knight/5x5/a1/304", "knight/5x5/a1", "5x5 has 304 tours from a1, numbered 0 to 303."),
            ("knight/6x6/g1", "knight/6x6", "the squares are a1 to f6"),
            ("knight/7x7/a1", "knight", "is not a board of this page. Boards: 8x8, 6x6, 5x5"),
        ],
    ),
)
def test_addresses_of_boards(shown: Explorer, address: str, becomes: str, problem: str) -> None:
    shown.open(address)
    assert re.fullmatch(re.escape(becomes) + (r"\d+" if becomes.endswith("/") else ""),
                        shown.address())  # fmt: skip
    text = shown.page.locator("#trouble")
    if problem:
        expect(text).to_contain_text(problem)
    else:
        expect(text).to_be_hidden()


def test_another_board_starts_empty_and_works_by_keyboard(shown: Explorer) -> None:
    page = shown.open("knight/b1/a3")
    page.focus("[data-board='5x5']")
    page.keyboard.press("Enter")
    assert shown.address() == "knight/5x5"
    pressed = page.locator("[data-board][aria-pressed=true]")
    assert pressed.all_inner_texts() == ["5×5"]
    page.focus("#knight-board [tabindex='0']")
    for key in ("Enter", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.startswith("e3"), "the arrows stop at the edge"
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert shown.address().startswith("knight/5x5/a5/")
    assert "tour from a5 to e1" in shown.text("#knight-ends")
    assert shown.text("#say").startswith("An open tour from a5 to e1")
    page.click("nav >> text=Senet")
    page.wait_for_selector("body[data-ready=senet]")
    page.click("nav >> text=Knight")
    expect(page.locator("#knight-board button")).to_have_count(25)


def test_damage_to_the_tours_is_reported(chromium: Browser, explorer: Path, tmp_path: Path) -> None:
    text = explorer.read_text("utf-8")
    (packed,) = re.findall(r'id="knight_tours_6x6">(.*?)<', text)
    payload = bytearray(base64.b64decode(packed))
    payload[random.Random(6).randrange(100, len(payload) - 8)] ^= 1
    file = tmp_path / "damaged.html"
    page = chromium.new_page()
    for wrong in (base64.b64encode(payload).decode(), packed[: len(packed) // 8 * 4], "?"):
        file.write_text(text.replace(packed, wrong), "utf-8")
        page.goto("about:blank")
        page.goto(f"{file.as_uri()}#knight/6x6")
        trouble = page.locator("#trouble")
        expect(trouble).to_contain_text("knight_tours_6x6, inside this page, is damaged")
        page.click("nav >> text=Senet")
        expect(page.locator("#senet-word")).to_have_text("A is to move.")
        expect(trouble).to_be_hidden()
    page.close()
