"""Ranked tours at the shell and from Python: answers, errors, and damage."""

import json
from pathlib import Path
from typing import Any

import pytest

from puzzle_tablebase.errors import NoAnswer, NotationError, TableDamaged
from puzzle_tablebase.pipeline.single_query import answer_as_text
from puzzle_tablebase.puzzles.knight.tour_ranker import TourRanker
from puzzle_tablebase.queries import open_tables
from tests.support import oracles
from tests.support.shell import Cli
from tests.support.tampered import link_copy, place, records, replace_link, reseal


def ask(folder: Path, key: str | None, **options: str | bool) -> str:
    return answer_as_text("knight", key, {"board": "6x6", "outputs": str(folder), **options})


def test_closed_tours_are_ranked_and_unranked_at_the_shell(ranked_boards: Path, cli: Cli) -> None:
    words = ["--board", "6x6", "--outputs", str(ranked_boards)]
    text = cli("query", "knight", "b1", "--closed", "--rank", "9861", "--json", *words)
    assert (text.code, text.err) == (0, "")
    facts = json.loads(text.out)
    assert (facts["start"], facts["rank"], facts["closed"]) == ("b1", 9861, True)
    assert "number" not in facts
    path = oracles.read_tour(6, 6, facts["path"])
    assert oracles.is_closed(6, path)
    assert path[1] < path[-1]
    squares = " ".join(map(str.upper, reversed([oracles.square_name(6, at) for at in path])))
    reported = cli("query", "knight", "--closed", "--rank-of", squares, "--json", *words)
    assert json.loads(reported.out)["rank"] == 9861
    reported = cli("query", "knight", "--closed", "--rank-of", facts["path"], *words)
    assert "tour     6x6 from b1 to " in reported.out
    assert ", rank 9861\n" in reported.out


@pytest.mark.parametrize(
    ("board", "start", "number"),
    [("5x4", "b1", "7"), ("5x4", "b1", "1" + "0" * 5000), ("5x4", "b2", "0"), ("5x5", "b1", "0")],
)
def test_missing_tours_are_no_answer(
    ranked_boards: Path, board: str, start: str, number: str
) -> None:
    with pytest.raises(NoAnswer):
        ask(ranked_boards, start, rank=number, board=board)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"closed": True, "rank": "1234"}, "knight_closed_ranks_6x6"),
        ({"rank": "3", "board": "5x4"}, "knight_ranks_5x4"),
    ],
)
def test_an_unranked_path_that_is_no_tour_is_damage(
    ranked_boards: Path, options: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TourRanker, "unrank", lambda *_: [0, 7])
    with pytest.raises(TableDamaged) as damaged:
        ask(ranked_boards, "a1", **options)
    assert damaged.value.file == str(ranked_boards / f"{name}.idx")


def test_invalid_closed_tours_are_rejected(ranked_boards: Path) -> None:
    facts = json.loads(ask(ranked_boards, "a1", closed=True, rank="5", json=True))
    squares = [facts["path"][at : at + 2] for at in range(0, 72, 2)]
    far = [*squares[2:], squares[1], squares[0]]
    swapped = [squares[1], squares[0], *squares[2:]]
    for wrong in (squares[:-1], [*squares, "a1"], swapped, far, ["a7"], []):
        with pytest.raises(NotationError):
            ask(ranked_boards, None, closed=True, rank_of=" ".join(wrong))


@pytest.mark.parametrize("layer", [1, 6, 11, 12, 13])
def test_inconsistent_layers_are_damage(ranked_boards: Path, tmp_path: Path, layer: int) -> None:
    """Change keys of a layer, with valid checksums: an error follows, never a false tour."""
    index = replace_link(link_copy(ranked_boards, tmp_path) / "knight_closed_ranks_6x6.idx")
    data = bytearray(index.read_bytes())
    for record in range(records(data)):
        at = place(data, record)
        if data[at] == layer:
            data[at + 2] ^= 1
    index.write_bytes(reseal(data))
    knight = open_tables(str(index.parent)).knight
    refused = set[str]()
    for cycle in range(0, 9862, 1201):
        try:
            answer = knight.probe("a1", rank=cycle, board="6x6", closed=True)
        except TableDamaged as damaged:
            refused.add(damaged.file)
        else:
            assert oracles.is_closed(6, oracles.read_tour(6, 6, answer.path))
    assert refused == {str(index)}
