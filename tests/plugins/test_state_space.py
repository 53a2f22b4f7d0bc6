"""Tests of a state space without goals, added through the registry: two jugs."""

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase import puzzles
from puzzle_tablebase.errors import NotationError
from puzzle_tablebase.pipeline.single_query import answer_as_text
from tests.support import jugs
from tests.support.build_recorder import build_tables


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(puzzles, "MODULES", {"jugs": "tests.support.jugs"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("toys")
    assert build_tables(path, jugs.PUZZLE).finished == ["jugs"]
    yield path
    assert not list(path.glob("**/*.unpublished"))


def list_shortest_lines() -> dict[str, list[str]]:
    """Return all shortest lines to each state, the smallest first, by following all lines."""
    result, layer = {"00": [""]}, {"00": [""]}
    while layer:
        after: dict[str, list[str]] = {}
        for state, shortest in layer.items():
            for letter, jars in zip(jugs.MOVES, jugs.moves(*map(int, state)), strict=True):
                reached = "".join(map(str, jars))
                if reached not in result:
                    after.setdefault(reached, []).extend(line + letter for line in shortest)
        for shortest in after.values():
            shortest.sort(key=lambda line: [*map(jugs.MOVES.index, line)])
        result, layer = result | after, after
    return result


def test_the_table_has_the_shortest_lines(folder: Path) -> None:
    expected = list_shortest_lines()
    assert 0 < len(expected) < jugs.PUZZLE.size
    rows = []
    for state in map(jugs.PUZZLE.unrank, range(jugs.PUZZLE.size)):
        shortest, held = expected.get(state, []), tuple(map(int, state))
        first = shortest[0] if shortest else None
        steps = None if first is None else len(first)
        changes = sum(after != held for after in jugs.moves(*held))
        rows.append((state, steps, len(shortest), first, changes))
    assert pl.read_parquet(folder / "jugs.parquet").rows() == rows


def test_lookups(folder: Path) -> None:
    options: dict[str, str | bool] = {"outputs": str(folder)}
    lines = list_shortest_lines()["43"]
    last = jugs.MOVES.index(lines[0][-1]) << 4
    text = json.loads(answer_as_text("jugs", " 43 ", {**options, "json": True}))
    assert text == {"state": "43", "steps": 6, "ways": len(lines), "last": last}
    assert answer_as_text("jugs", "43", options).split() == [
        str(word) for pair in text.items() for word in pair
    ]
    with pytest.raises(NotationError, match="it needs 0-5, then 0-3"):
        answer_as_text("jugs", "60", options)
