"""Tests of the report: eight charts on one page, each with its finding as its title."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from statistics import mean, median
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from playwright.sync_api import Browser

from puzzle_tablebase.errors import MachineLimit, TableDamaged, TableMissing
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.queries import charts
from puzzle_tablebase.queries.published import list_counts
from puzzle_tablebase.queries.report import write_report
from puzzle_tablebase.queries.svg import COLOURS
from puzzle_tablebase.stores import Folder
from tests.support import oracles
from tests.support.browser import broken_rules
from tests.support.made_once import make_once
from tests.support.shell import ROOT
from tests.support.tampered import replace_link

TITLES = [
    "Half of the 8-puzzle’s states are within 22 moves, all within 31",
    "At 31 moves, Manhattan distance says 21 on average and misplaced tiles say 7",
    "A random move in the 8-puzzle leads nearer to the goal 52% of the time",
    "A state of the 8-puzzle has 3 shortest solutions on average, 86 at most",
    "Senet’s positions are reached within 15 plies, 119 are unreachable",
    "At 15 plies, 44% of Senet’s pieces stand on the last five squares",
    "524,486 tours of 6x6 start on a1, 49,578 on b3",
]


@pytest.fixture(scope="module")
def page(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    def write(folder: Path) -> None:
        write_report(Folder(outputs), str(folder / "report.html"))

    return (make_once(tmp_path_factory, "report", write) / "report.html").read_text("utf-8")


def draw(drawing: Callable[[pl.LazyFrame], tuple[str, Any]], frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that a chart of these rows draws."""
    _, drawn = drawing(frame.lazy())
    (rows,) = drawn.to_dict(format="vega-lite")["datasets"].values()
    return pl.DataFrame(rows)


def test_the_page_says_its_findings_and_needs_no_script_and_no_network(page: str) -> None:
    assert re.findall("<h2>(.*?)</h2>", unescape(page)) == TITLES
    assert len(page.encode()) < 300_000
    addresses = set(re.findall(r"""["'(]\s*((?:\w+:)?//[^"')]*)""", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(r"<(script|link|img|iframe|object|base)\b|@import|\bon\w+=|\bstyle=", page)
    (policy,) = re.findall(r'Content-Security-Policy"\s+content="(.*?)"', page)
    (style,) = re.findall("<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    own = f"style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert policy == f"default-src 'none'; {own}"
    pictures = re.findall(r"<svg .*?</svg>", page, re.DOTALL)
    assert [ElementTree.fromstring(one).get("aria-label") for one in pictures] == TITLES
    colours = {*re.findall(r'(?:fill|stroke)="(#[^"]*)"', "".join(pictures))}
    assert len(colours) > 10
    assert colours <= {*COLOURS}, "others have no dark counterpart"


MISPLACED_TEXTS = """() => [...document.querySelectorAll("svg")].flatMap((svg) => {
    const room = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim())
        .map((text) => [text.textContent, text.getBoundingClientRect()]);
    return boxes.filter(([, box], at) => box.left < room.left - 1 || box.right > room.right + 1
        || box.top < room.top - 1 || box.bottom > room.bottom + 1
        || boxes.slice(at + 1).some(([, other]) =>
            Math.min(box.right, other.right) - Math.max(box.left, other.left) > 1
            && Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > 4))
        .map(([text]) => `${svg.getAttribute("aria-label")}: ${text}`);
})"""
"""The texts that are partly outside of their picture, or cover another text in it."""


def test_every_text_is_readable_on_screen_and_paper(
    chromium: Browser, page: str, tmp_path: Path
) -> None:
    """Measure every text in a font that is wider than the page's, which a viewer may have."""
    file = tmp_path / "report.html"
    file.write_text(page, "utf-8")
    window = chromium.new_page(bypass_csp=True)
    usages: list[Any] = [(320, "light", "screen"), (1280, "dark", "screen"), (700, None, "print")]
    for width, scheme, media in usages:
        window.set_viewport_size({"width": width, "height": 800})
        window.emulate_media(color_scheme=scheme, media=media)
        window.goto(file.as_uri())
        window.add_style_tag(content="text { font-family: 'DejaVu Sans' }")
        assert window.evaluate("document.documentElement.scrollWidth") == width
        assert window.evaluate(MISPLACED_TEXTS) == []
        assert media == "print" or broken_rules(window) == []
    window.close()


def test_charts_of_the_8_puzzle_are_those_of_plain_functions(outputs: Path) -> None:
    eight = pl.read_parquet([outputs / "eight.parquet", outputs / "eight_edge.parquet"])
    drawn = draw(charts.draw_heuristics, eight)
    found = {(row["line"], row["distance"]): row["value"] for row in drawn.to_dicts()}
    goals = {"corner": "123456780", "centre": "123804765", "edge": "123456708"}
    corner = eight.filter(goal="corner")
    distances = dict(corner.select("state", "distance").rows())
    helping = draw(charts.draw_random_moves, corner)
    for distance in (1, 2, 5, 30, 31):
        rows = eight.filter(distance=distance).select("goal", "state").rows()
        features = [oracles.eight_features(state, goals[goal]) for goal, state in rows]
        for name in ("manhattan", "misplaced"):
            mean = sum(feature[name] for feature in features) / len(rows)
            assert found[name, distance] == pytest.approx(mean)
        shares = []
        for state in corner.filter(distance=distance)["state"]:
            near = [distances[other] for other in oracles.eight_neighbours(state).values()]
            shares.append(sum(other < distance for other in near) / len(near))
        share = helping.filter(distance=distance)["share"].item()
        assert share == pytest.approx(sum(shares) / len(shares))


def test_charts_count_every_state_of_every_goal(outputs: Path, small_boards: Path) -> None:
    eight = pl.read_parquet([outputs / "eight.parquet", outputs / "eight_edge.parquet"])
    plies = pl.read_parquet(outputs / "senet.parquet", columns=["plies"])
    boards = pl.concat(
        pl.scan_parquet(file).select(
            pl.col("goal").cast(pl.String), "distance", board=pl.lit(file.name.split("_")[1])
        )
        for file in small_boards.glob("*.parquet")
    ).collect()
    counts, board_counts = (list_counts(Folder(each)) for each in (outputs, small_boards))
    for drawing, drawn_counts, rows in (
        (charts.draw_distances, counts.filter(puzzle="eight"), eight),
        (charts.draw_boards, board_counts.filter(puzzle="sliding"), boards),
        (
            charts.draw_plies,
            counts.filter(puzzle="senet"),
            plies.drop_nulls().rename({"plies": "distance"}),
        ),
    ):
        drawn = draw(drawing, drawn_counts)
        names = [name for name in ("board", "goal", "distance") if name in rows.columns]
        expected = rows.group_by(pl.col(names).cast(pl.String)).len("states").sort(names)
        found = drawn.select(pl.col(names).cast(pl.String), "states").sort(names)
        assert found.rows() == expected.rows()
    spec = charts.draw_distances(counts.filter(puzzle="eight").lazy())[1].to_dict()["encoding"]
    goals = ["corner", "centre", "edge"]
    assert (spec["color"]["scale"]["domain"], spec["row"]["sort"]) == (goals, goals)
    lines = draw(charts.draw_solutions, eight).pivot("line", index="distance", values="value")
    for distance, numbers in eight.group_by("distance").agg("solutions").rows():
        known = {"most": max(numbers), "mean": mean(numbers), "median": median(numbers)}
        assert lines.row(by_predicate=pl.col("distance") == distance, named=True) == pytest.approx(
            {"distance": distance, **known}
        )


def test_tours_of_three_boards_are_drawn_if_they_are_counted(outputs: Path) -> None:
    counts = pl.read_parquet(outputs / "knight_counts.parquet")
    drawn = draw(charts.draw_starts, counts)
    assert drawn.group_by("board").len().sort("board").rows() == [("5x5", 25), ("6x6", 36)]
    listed = pl.read_parquet(outputs / "knight_tours_6x6.parquet", columns=["start"])
    starts = dict(listed["start"].cast(pl.String).value_counts().rows())
    assert {row["start"]: row["tours"] for row in drawn.filter(board="6x6").to_dicts()} == starts
    for (_,), rows in drawn.group_by("board"):
        shares = [tours / rows["tours"].max() for tours in rows["tours"]]  # of its own board
        assert rows["share"].to_list() == pytest.approx(shares)
    squares = KnightBoard(8, 8).name_squares()
    more = pl.DataFrame({"board": "8x8", "start": squares, "tours": [*range(100, 164)]})
    more = more.with_columns(pl.col("start").cast(counts.schema["start"]))
    title, _ = charts.draw_starts(pl.concat([counts.select(more.columns), more]).lazy())
    assert title == "163 tours of 8x8 start on h8, 100 on a1"


def test_shares_of_squares_are_those_of_the_positions(outputs: Path) -> None:
    senet = pl.read_parquet(outputs / "senet.parquet")
    positions = senet.filter(plies=12)["position"].to_list()
    for row in draw(charts.draw_squares, senet).filter(plies=12).to_dicts():
        side = row["piece"][-1]
        holding = sum(position[row["square"] - 1] == side for position in positions)
        assert row["share"] == pytest.approx(holding / len(positions))


def test_charts_of_missing_tables_are_left_out(copy: Path, small_boards: Path) -> None:
    store = copy / "boards"
    store.mkdir()
    with pytest.raises(TableMissing):
        write_report(Folder(store), str(store / "report.html"))
    assert not [*store.iterdir()]
    write_report(Folder(small_boards), str(store / "report.html"))
    farthest = "The farthest states of 3x3, the largest board built, need 31 moves"
    assert re.findall("<h2>(.*?)</h2>", (store / "report.html").read_text("utf-8")) == [farthest]
    damaged = replace_link(copy / "senet.parquet")
    damaged.write_bytes(damaged.read_bytes()[:-9] + b"!" + damaged.read_bytes()[-8:])
    with pytest.raises(TableDamaged, match="senet"):
        write_report(Folder(copy), str(copy / "report.html"))
    assert not (copy / "report.html").exists()


def test_without_altair_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "puzzle_tablebase.queries.charts", raising=False)
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MachineLimit, match="altair"):
        write_report(Folder(ROOT / "outputs"), "/nowhere/report.html")
