"""Tests of the explorer's small boards: each tour of 5x5 and 6x6 has its number in the tables."""

from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import expect

from puzzle_tablebase.errors import NoSuchTour
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.queries.reader import Reader
from tests import NIGHTLY
from tests.support.asking import ask_one
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


def test_tours_of_5x5_and_random_ones_of_6x6_are_those_of_the_tables(
    shown: Explorer, tours: dict[str, pl.DataFrame]
) -> None:
    shown.open("knight/6x6")
    edges = pl.col("number").is_in([0, 1]) | (pl.col("number") == pl.col("number").max())
    some = pl.concat([tours["6x6"].sample(100, seed=6), tours["6x6"].filter(edges.over("start"))])
    for board, rows, count in ((FIVE, tours["5x5"], 1728), (SIX, some, 100 + 3 * 36)):
        assert rows.height == count
        answers = find_tours(shown, rows, board)
        assert answers.drop("ms").equals(rows.select("finish", "closed", "path"))
    assert not NIGHTLY or answers["ms"].median() < 100  # type: ignore[operator]  # a number


@pytest.mark.nightly
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


def test_totals_and_first_tours_are_the_tables(
    shown: Explorer, tours: dict[str, pl.DataFrame]
) -> None:
    page = shown.open("knight/6x6")
    for board in (FIVE, SIX):
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
    expected = ask_one(readers["knight"], "b1", board="6x6", number="200000").to_dict()
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
        ask_one(readers["knight"], "b1", board="6x6", number="289050").to_dict()
    problem = page.locator("#knight-problem")
    for past in ("289050", "9" * 400):
        page.fill("#knight-number", past)
        page.keyboard.press("Enter")
        expect(problem).to_have_text("6x6 has 289,050 tours from b1, numbered 0 to 289,049.")
        assert page.get_attribute("#knight-number", "aria-invalid") == "true"
        assert shown.address() == "knight/6x6/b1/289049"
    page.fill("#knight-number", "1")
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
        ask_one(readers["knight"], "b1", board="5x5").to_dict()
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
    expected = ask_one(readers["knight"], "b2", board="5x5", to=end).to_dict()
    assert shown.address() == f"knight/5x5/b2/{expected['number']}"
    assert page.locator("#knight-problem").is_hidden()
