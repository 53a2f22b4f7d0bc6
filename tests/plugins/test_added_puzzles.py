"""Two puzzles added through the registry: pancakes with a goal, and jugs without one."""

import json
import sys
from collections import deque
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

from puzzle_tablebase import registry
from puzzle_tablebase.errors import BadRequest, GoalUnreachable, NotationError, SearchError
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.graph import Graph
from puzzle_tablebase.pipeline.commands import run_app
from puzzle_tablebase.queries.prober import answer_as_text
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.stores import Folder
from tests.support import jugs
from tests.support.build_recorder import build_tables
from tests.support.pancakes import PUZZLE, Pancakes

STACKS = ["".join(stack) for stack in permutations("12345")]


def list_flips(state: str) -> dict[str, str]:
    """Return every stack that is one flip away, by its letter."""
    return {str(top): state[:top][::-1] + state[top:] for top in range(2, 6)}


def search_all() -> dict[str, tuple[int, int]]:
    """Return each stack's distance to the goal and its number of shortest solutions."""
    result = {"12345": (0, 1)}
    waiting = deque(result)
    while waiting:
        state = waiting.popleft()
        distance, solutions = result[state]
        for after in list_flips(state).values():
            if after not in result:
                result[after] = (distance + 1, 0)
                waiting.append(after)
            if result[after][0] == distance + 1:
                result[after] = (distance + 1, result[after][1] + solutions)
    return result


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("jugs", "pancakes"):
        monkeypatch.setitem(registry.MODULES, name, f"tests.support.{name}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("toys")
    for puzzle in (PUZZLE, jugs.PUZZLE):
        assert build_tables(path, puzzle).finished == [puzzle.name]
    yield path
    assert not list(path.glob("**/*.unpublished"))


def test_vectorized_moves_are_those_of_each_stack() -> None:
    for letter, ranks, after in PUZZLE.list_all_moves():
        assert ranks.tolist() == list(range(PUZZLE.size))
        assert [text.decode() for text in after] == [list_flips(stack)[letter] for stack in STACKS]
    uneven = [(letter, [*at], [*after]) for letter, at, after in UnevenPancakes().list_all_moves()]
    assert uneven == [("2", [7, 7], [b"12354", b"12345"]), ("3", [7], [b"54321"])]


class UnevenPancakes(Pancakes):
    """Pancakes where a letter has no move in most states, and two in one."""

    letters = "23"

    def moves(self, state: str) -> Iterator[tuple[str, str]]:
        yield from (("2", "12354"), ("2", "12345"), ("3", "54321")) if state == STACKS[7] else ()


def test_the_table_equals_a_second_search(folder: Path) -> None:
    expected = search_all()
    table = pl.read_parquet(folder / "pancakes.parquet")
    assert table.columns == ["state", "goal", "distance", "best_moves", "solutions"]
    assert table["goal"].dtype == pl.Enum(["stacked"])
    for stack, row in zip(STACKS, table.rows(), strict=True):
        distance, solutions = expected[stack]
        flips = list_flips(stack).items()
        best = "".join(letter for letter, after in flips if expected[after][0] < distance)
        assert row == (stack, "stacked", distance, best, solutions)


def test_probes_of_every_stack(folder: Path) -> None:
    pancakes = open_tables(str(folder)).goals("pancakes")
    expected = search_all()
    for stack in STACKS:
        answer = pancakes.probe(stack)
        assert (answer.state, answer.goal) == (stack, "stacked")
        assert (answer.distance, answer.solutions) == expected[stack]
        path = pancakes.path(stack)
        assert (path[0], path[-1], len(path)) == (stack, "12345", answer.distance + 1)
        letters = pancakes.solution(stack)
        for before, letter, after in zip(path, letters, path[1:], strict=False):
            assert list_flips(before)[letter] == after
    assert pancakes.probe("54321", "stacked") == pancakes.probe("54321")
    with pytest.raises(NotationError):
        pancakes.probe("11111")
    with pytest.raises(BadRequest):
        pancakes.get("12345", goal="54321", default="no")


def test_samples_and_the_hardest_stacks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = search_all()
    most = max(distance for distance, _ in known.values())
    hardest = sorted(stack for stack, (distance, _) in known.items() if distance == most)
    table = open_tables(str(folder)).goals("pancakes")
    assert table.list_hardest()["state"].to_list() == hardest
    assert table.list_hardest("12345").equals(table.list_hardest())
    for goal in (None, "stacked"):
        sample = table.sample(len(hardest), distance=most, goal=goal)
        assert sorted(sample["state"]) == hardest
        assert table.sample(120, goal=goal)["state"].n_unique() == 120
    words = ["--outputs", str(folder)]
    assert run_app(["sample", "pancakes", "--distance", "0", *words]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("12345,")
    assert run_app(["query", "pancakes", "--hardest", *words]) == 0
    assert capsys.readouterr().out.splitlines()[4:] == hardest


class Swaps(Pancakes):
    """Pancakes of which only the top three may be flipped, so that most cannot reach the goal."""

    name = "swaps"
    letters = "3"

    def __init__(self) -> None:
        self.tables = (self.make_goal_table("swaps", "Stacks", ("stacked",)),)


def test_an_unreachable_goal_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("swaps")
    module.PUZZLE = Swaps()  # type: ignore[attr-defined]  # modules take any name
    monkeypatch.setitem(sys.modules, "swaps", module)
    monkeypatch.setitem(registry.MODULES, "swaps", "swaps")
    build_tables(tmp_path, module.PUZZLE)
    assert read_manifest(Folder(tmp_path))["swaps"].rows == 2
    swaps = open_tables(str(tmp_path)).goals("swaps")
    assert swaps.probe("32145").best_moves == "3"
    with pytest.raises(GoalUnreachable):
        swaps.probe("21345")


class OneWay(Pancakes):
    """Pancakes whose largest flip cannot be undone from the goal."""

    def moves(self, state: str) -> Iterator[tuple[str, str]]:
        yield from (move for move in super().moves(state) if (state, move[0]) != ("12345", "5"))


class ManyLetters(Pancakes):
    """Pancakes with so many letters that the last four are numbered from 16 on."""

    letters = "abcdefghijklmnop2345"

    def moves(self, state: str) -> Iterator[tuple[str, str]]:
        return PUZZLE.moves(state)


class TwoThereOneBack(Pancakes):
    """Pancakes with a second letter for the largest flip, but not at the goal."""

    letters = "23456"

    def moves(self, state: str) -> Iterator[tuple[str, str]]:
        yield from PUZZLE.moves(state)
        if state != "12345":
            yield "6", state[::-1]


class GraphOfItsOwn(TwoThereOneBack):
    """The same puzzle, which makes its graph itself."""

    def make_graph(self) -> Graph:
        moves = [(self.rank(at), move) for at in STACKS for move in self.moves(at)]
        by_label = (
            (label, [(at, self.rank(after)) for at, (by, after) in moves if by == letter])
            for label, letter in enumerate(self.letters)
        )
        return Graph.from_moves(self.size, [(label, *np.array(each).T) for label, each in by_label])


@pytest.mark.parametrize(
    ("puzzle", "problem"),
    [
        (OneWay(), "has a move from 54321 to 12345, and none back: every move must be undone"),
        (TwoThereOneBack(), "has 2 moves from 54321 to 12345, and 1 back: every move must be"),
        (GraphOfItsOwn(), "has 2 moves from 54321 to 12345, and 1 back: every move must be"),
    ],
)
def test_moves_that_cannot_each_be_undone_are_refused(
    tmp_path: Path, puzzle: Pancakes, problem: str
) -> None:
    with pytest.raises(SearchError, match=problem):
        build_tables(tmp_path, puzzle)
    assert not [*tmp_path.glob("pancakes*")]


def test_a_puzzle_may_have_many_letters(folder: Path, tmp_path: Path) -> None:
    build_tables(tmp_path, ManyLetters())
    name = "pancakes.parquet"
    assert pl.read_parquet(tmp_path / name).equals(pl.read_parquet(folder / name))


def test_answers_are_judged_by_the_puzzle_s_own_moves(folder: Path) -> None:
    reader = open_tables(str(folder)).goals("pancakes")
    distances = {state: distance for state, (distance, _) in search_all().items()}
    for state in STACKS[::7]:
        solution = reader.solution(state)
        judged = reader.check(state, solution)
        assert (judged.result, judged.length) == ("shortest", distances[state])
        assert reader.check(state, distances[state], answers="distances").result == "right"
        longer = reader.check(state, ", ".join(f"{solution}22"))
        assert (longer.result, longer.first_loss) == ("longer", distances[state] + 1)
        unreadable = reader.check(state, "2 2 9")
        assert (unreadable.result, unreadable.step) == ("unreadable", 3)


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


def test_the_table_of_jugs_has_the_shortest_lines(folder: Path) -> None:
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


def test_lookups_of_jugs(folder: Path) -> None:
    options: dict[str, str | bool] = {"outputs": str(folder)}
    lines = list_shortest_lines()["43"]
    last = jugs.MOVES.index(lines[0][-1]) << 4
    text = json.loads(answer_as_text("jugs", " 43 ", {**options, "json": True}))
    assert text == {"state": "43", "steps": 6, "ways": len(lines), "last": last}
    assert answer_as_text("jugs", "43", options).split() == [
        str(word) for pair in text.items() for word in pair
    ]
    with pytest.raises(NotationError):
        answer_as_text("jugs", "60", options)
