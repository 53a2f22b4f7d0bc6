"""The pictures of answers, and Senet's shortest lines for either side."""

import re
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.queries.prober import open_prober
from puzzle_tablebase.queries.svg import (
    AMBER,
    BLUE,
    COLOURS,
    GREEN,
    INK,
    MUTED,
    ON_HIGH,
    PAPER,
    RAMP,
    Picture,
)
from puzzle_tablebase.queries.tables import Tables, open_tables
from puzzle_tablebase.stores import Folder
from tests.support import oracles
from tests.support.querying import query_one, query_table

NUMBER = r"(-?[\d.]+)"


def shapes(svg: str, tag: str) -> list[ElementTree.Element]:
    result = ElementTree.fromstring(svg)
    return [shape for shape in result if shape.tag.endswith(f"}}{tag}")]


def at(shape: ElementTree.Element, name: str) -> float:
    return float(shape.get(name, "nan"))


@pytest.fixture(scope="module")
def pictures(outputs: Path) -> dict[str, str]:
    return {
        "tour": query_table("knight", outputs, "b1", closed=True).to_svg(),
        "small": query_table("knight", outputs, "c3", board="5x5").to_svg(),
        "boards": query_table("eight", outputs, "867254301").to_svg(),
        "line": query_table("senet", outputs, ".A..BB..ABBABAA").to_svg(),
    }


def test_every_colour_has_a_dark_variant(pictures: dict[str, str]) -> None:
    for svg in pictures.values():
        shown = re.sub("<style>.*?</style>", "", svg)
        used = set(re.findall(r'(?:fill|stroke)="(#[^"]*)"', shown))
        assert set() < used <= set(COLOURS)
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_everything_is_drawn_inside_the_view_box(pictures: dict[str, str]) -> None:
    for svg in pictures.values():
        _, _, width, height = map(float, ElementTree.fromstring(svg).attrib["viewBox"].split())
        for shape in shapes(svg, "rect"):
            assert at(shape, "width") + float(shape.get("x", 0)) <= width + 0.01
            assert at(shape, "height") + float(shape.get("y", 0)) <= height + 0.01
        for text in shapes(svg, "text"):
            # a letter is at most 0.62 of its size wide in any of the fonts
            wide = len(text.text or "") * at(text, "font-size") * 0.62
            margin = {"middle": wide / 2, "end": wide}.get(text.get("text-anchor", "start"), 0)
            assert at(text, "x") - margin >= -0.5, text.text
            assert at(text, "x") - margin + wide <= width + 1, text.text
            assert at(text, "font-size") * 0.8 <= at(text, "y") <= height


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2: 1 for equal colours, 21 for black on white."""

    def luminance(colour: str) -> float:
        parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_text_has_enough_contrast_in_light_and_dark() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    pairs = [(INK, PAPER), (MUTED, PAPER), (ON_HIGH, BLUE)]
    pairs += [(INK, step) for step in RAMP[:5]] + [(ON_HIGH, step) for step in RAMP[5:]]
    for text, behind in pairs:
        assert contrast(text, behind) >= 4, (text, behind)
        assert contrast(COLOURS[text], COLOURS[behind]) >= 4, (text, behind)


@pytest.mark.parametrize(
    ("start", "options", "size"),
    [("b1", {"closed": True}, 8), ("c3", {"board": "5x5"}, 5)],
)
def test_tour_picture_follows_the_path(
    outputs: Path, start: str, options: dict[str, Any], size: int
) -> None:
    answer, board = query_table("knight", outputs, start, **options), KnightBoard(size, size)
    picture = answer.to_svg()
    squares = [at for at in shapes(picture, "rect") if at.get("fill") != PAPER]
    side = at(squares[0], "width")
    left, top = (min(at(square, name) for square in squares) for name in "xy")
    *_, line = shapes(picture, "path")
    points = [(float(x), float(y)) for x, y in re.findall(f"{NUMBER} {NUMBER}", line.attrib["d"])]
    path = [(int((x - left) // side), size - 1 - int((y - top) // side)) for x, y in points]
    assert "".join(board.name_square(x + size * y) for x, y in path) == answer.path
    dashed = [path for path in shapes(picture, "path") if path.get("stroke-dasharray")]
    assert len(dashed) == answer.closed
    ends = [dot.get("fill") for dot in shapes(picture, "circle")]
    assert (ends[0], ends[-1]) == (GREEN, AMBER)
    order = [text.text for text in shapes(picture, "text")]
    assert order[1 : size * size + 1] == [str(number) for number in range(1, size * size + 1)]


@pytest.mark.parametrize("options", [{}, {"goal": "087654321"}])
def test_boards_picture_shows_the_path(outputs: Path, options: dict[str, str | bool]) -> None:
    facts: dict[str, Any] = query_table(
        "eight", outputs, "867254301", path=True, **options
    ).to_dict()
    _, *texts = shapes(query_table("eight", outputs, "867254301", **options).to_svg(), "text")
    drawn, heads, moved = [], [], ""
    for board in range(len(facts["path"])):
        head, *tiles = texts[9 * board : 9 * board + 9]
        heads.append(head.text)
        lefts = sorted({at(tile, "x") for tile in tiles})
        tops = sorted({at(tile, "y") for tile in tiles})
        cells = ["0"] * 9
        for tile in tiles:
            cells[3 * tops.index(at(tile, "y")) + lefts.index(at(tile, "x"))] = str(tile.text)
            moved += str(tile.text) if tile.get("fill") == ON_HIGH else ""
        drawn.append("".join(cells))
    assert drawn == facts["path"]
    assert heads == ["start", *(f"{n}  {m}" for n, m in enumerate(facts["solution"], 1))]
    assert moved == facts["tiles"]


def test_titles_are_escaped() -> None:
    svg = Picture('<script>"&').to_svg(1, 1)
    assert ElementTree.fromstring(svg).attrib["aria-label"] == '<script>"&'


def test_the_tiles_of_the_best_moves_are_coloured(outputs: Path) -> None:
    drawn = open_tables(str(outputs)).eight.probe("378546201").to_svg()
    tiles = re.findall(r'fill="(#\w+)" rx="3"/>\n<text[^>]*>(\d)<', drawn)
    assert "".join(tile for _, tile in tiles) == "37854621"
    assert [tile for colour, tile in tiles if colour == BLUE] == ["4", "2", "1"]
    at_goal = open_tables(str(outputs)).eight.probe("123456780").to_svg()
    assert "the goal" in at_goal
    assert BLUE not in at_goal.partition("</style>")[2]


KNOWN = "ABAAABBB.B...A."


def test_the_line_for_either_side_is_the_smallest(outputs: Path) -> None:
    """Compare positions that at most four plies lead to, with the side to move then.

    After four plies these are every third one.
    """
    reader = open_prober("senet", Folder(outputs))
    layers = list(islice(oracles.senet_layers(), 5))
    for plies, layer in enumerate(layers):
        for position, line in islice(layer.items(), 0, None, 3 if plies == 4 else 1):
            facts = query_one(reader, position, turn="AB"[plies % 2]).to_dict()
            expected = (line.dice, line.moves, plies)
            assert (facts["dice"], facts["moves"], facts["plies"]) == expected
    assert len((layers[1].keys() | layers[3].keys()) & (layers[2].keys() | layers[4].keys())) > 100


def test_positions_of_senet(outputs: Path, tables: Tables) -> None:
    """Try a part of the table for either side, and all that one of them never reaches."""
    rows, unreachable = pl.read_parquet(outputs / "senet.parquet"), 0
    once = rows.filter(pl.col("plies_even").is_null() | pl.col("plies_odd").is_null())
    for row in pl.concat([rows.gather_every(1511), once]).iter_rows(named=True):
        position, shortest = row["position"], tables.senet.get(row["position"])
        assert (shortest is None) == (row["plies"] is None)
        assert not shortest or {name: getattr(shortest, name) for name in row} == row
        for side, plies in (("A", row["plies_even"]), ("B", row["plies_odd"])):
            answer = tables.senet.get(position, turn=side, path=True)
            if answer is None:
                assert plies is None
                unreachable += 1
                continue
            assert answer.plies == plies == len(answer.path or []) - 1
            assert oracles.senet_replay(answer.dice, answer.moves) == position
            # the index does not hold the number of longer lines, so none is stated
            assert answer.lines == (row["lines"] if plies == row["plies"] else None)
    assert unreachable >= len(once) > 119


@pytest.mark.parametrize("options", [{}, {"turn": "B"}])
def test_the_picture_shows_the_line(outputs: Path, options: dict[str, str | bool]) -> None:
    answer = query_table("senet", outputs, KNOWN, **options, path=True)
    facts, svg = answer.to_dict(), answer.to_svg()
    dots = shapes(svg, "circle")
    rows: dict[float, dict[float, str]] = {}
    for dot in dots:
        piece = {BLUE: "A", AMBER: "B"}.get(dot.get("fill", ""))
        if piece:
            rows.setdefault(at(dot, "cy"), {})[at(dot, "cx")] = piece
    squares = sorted({at(s, "x") + 15 for s in shapes(svg, "rect") if s.get("width") == "30"})
    assert len(squares) == 15
    drawn = ["".join(row.get(x, ".") for x in squares) for _, row in sorted(rows.items())]
    assert drawn == facts["path"]
    # the piece that moved has a ring around it, at the end of the line that shows its move
    written = str(facts["moves"]).split()
    moves = [move.replace("x", "-").split("-") for move in written]
    rings = [at(dot, "cx") for dot in dots if dot.get("fill") == INK]
    assert rings == [squares[int(goal) - 1] for _, goal in moves]
    ways = [path.get("d", "")[1:].split("L") for path in shapes(svg, "path")]
    ends = [[float(point.split()[0]) for point in way] for way in ways]
    assert ends == [[squares[int(start) - 1], squares[int(goal) - 1]] for start, goal in moves]
    texts = [text.text for text in shapes(svg, "text")]
    assert f"{KNOWN} after {len(moves)} plies" in texts
    for number, (throw, move) in enumerate(zip(str(facts["dice"]), written, strict=True)):
        turn = texts.index(f"{'AB'[number % 2]} throws {throw}")
        assert (texts[turn - 1], texts[turn + 1]) == (str(number + 1), move)
