"""Senet's shortest line for either side to move, its picture, and letters in either case."""

from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from puzzle_tablebase.errors import NoAnswer
from puzzle_tablebase.queries import open_reader
from puzzle_tablebase.queries.svg import AMBER, BLUE, INK
from puzzle_tablebase.stores.folder import Folder
from tests.support import oracles
from tests.support.asking import ask_one
from tests.support.shell import Ask

KNOWN = "ABAAABBB.B...A."


def test_the_line_for_either_side_is_the_smallest(outputs: Path) -> None:
    """Compare every position that at most four plies lead to, with the side to move then."""
    reader = open_reader("senet", Folder(outputs))
    layers = list(islice(oracles.senet_layers(), 5))
    for plies, layer in enumerate(layers):
        for position, line in layer.items():
            facts = ask_one(reader, position, turn="AB"[plies % 2]).to_dict()
            expected = (line.dice, line.moves, plies)
            assert (facts["dice"], facts["moves"], facts["plies"]) == expected
    assert len((layers[1].keys() | layers[3].keys()) & (layers[2].keys() | layers[4].keys())) > 100


def test_the_longer_line_reaches_the_position(outputs: Path) -> None:
    all_rows = pl.read_parquet(outputs / "senet.parquet")
    once = all_rows.filter(pl.col("plies_even").is_null() | pl.col("plies_odd").is_null())
    table = pl.concat([all_rows.gather_every(1511), once])
    reader = open_reader("senet", Folder(outputs))
    never = 0
    for row in table.iter_rows(named=True):
        position = row["position"]
        for side, plies in (("A", row["plies_even"]), ("B", row["plies_odd"])):
            if plies is None:
                with pytest.raises(NoAnswer):
                    ask_one(reader, position, turn=side, path=True)
                never += 1
                continue
            facts: dict[str, Any] = ask_one(reader, position, turn=side, path=True).to_dict()
            assert facts["plies"] == plies == len(facts["path"]) - 1
            assert oracles.senet_replay(facts["dice"], facts["moves"]) == position
            # the index does not hold the number of longer lines, so none is stated
            assert facts["lines"] == (row["lines"] if plies == row["plies"] else None)
    assert never >= len(once) > 119


def test_letters_of_a_batch_may_be_lower_case(ask: Ask) -> None:
    small = KNOWN.lower()
    for turn, plies in ((), 2), (("--turn", "b"), 3):
        batch = ask("senet", *turn, text=f"{small}\n{KNOWN}\n".encode())
        _, first, second = batch.out.splitlines()
        assert first == second.replace(KNOWN, small)
        assert second.startswith(f"{KNOWN},{plies},2,3,")


@pytest.mark.parametrize("options", [{}, {"turn": "B"}])
def test_the_picture_shows_the_line(outputs: Path, options: dict[str, str | bool]) -> None:
    answer = ask_one(open_reader("senet", Folder(outputs)), KNOWN, **options, path=True)
    facts, svg = answer.to_dict(), ElementTree.fromstring(answer.to_svg())
    dots = [shape for shape in svg if shape.tag.endswith("circle")]
    rows: dict[float, dict[float, str]] = {}
    for dot in dots:
        piece = {BLUE: "A", AMBER: "B"}.get(dot.get("fill", ""))
        if piece:
            rows.setdefault(float(dot.get("cy", 0)), {})[float(dot.get("cx", 0))] = piece
    squares = sorted({float(s.get("x", 0)) + 15 for s in svg if s.get("width") == "30"})
    assert len(squares) == 15
    drawn = ["".join(row.get(x, ".") for x in squares) for _, row in sorted(rows.items())]
    assert drawn == facts["path"]
    # the piece that moved has a ring around it, at the end of the line that shows its move
    written = str(facts["moves"]).split()
    moves = [move.replace("x", "-").split("-") for move in written]
    rings = [float(dot.get("cx", 0)) for dot in dots if dot.get("fill") == INK]
    assert rings == [squares[int(goal) - 1] for _, goal in moves]
    ways = [s.get("d", "")[1:].split("L") for s in svg if s.tag.endswith("path")]
    ends = [[float(point.split()[0]) for point in way] for way in ways]
    assert ends == [[squares[int(start) - 1], squares[int(goal) - 1]] for start, goal in moves]
    texts = [text.text for text in svg if text.tag.endswith("text")]
    assert f"{KNOWN} after {len(moves)} plies" in texts
    for number, (throw, move) in enumerate(zip(str(facts["dice"]), written, strict=True)):
        at = texts.index(f"{'AB'[number % 2]} throws {throw}")
        assert (texts[at - 1], texts[at + 1]) == (str(number + 1), move)
