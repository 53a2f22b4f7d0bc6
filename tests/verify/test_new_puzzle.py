"""`verify` proves a puzzle that has only rules."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.build import BuildObserver, build
from pipeline.build_request import Request
from pipeline.verify import Claim, VerifyFailed, verify
from pipeline.verify.claims import Rows
from pipeline.verify.goal_proof import make_plain_space, prove_rows
from tablebase.puzzle import GoalPuzzle
from tablebase.puzzles import MODULES
from tablebase.schema import Column, Table
from tablebase.tables.store import Folder
from tests.support.tampered import (
    TABLES,
    cell,
    get_refutation,
    open_one,
    prove_one,
    rewrite,
    story,
    without,
)


class Pancakes(GoalPuzzle):
    """Five pancakes; a letter is the number turned over from the left."""

    name = "stack"
    title = "Stack"
    size = 120
    example = "12345"
    layouts = {"sorted": "12345"}  # noqa: RUF012
    letters = "2345"

    def __init__(self) -> None:
        meaning = "Every stack, with its fewest turns"
        self.tables = (self.make_goal_table("stack", meaning, ("sorted",)),)

    def unrank(self, rank: int) -> str:
        remaining, state = sorted("12345"), ""
        for weight in (24, 6, 2, 1, 1):
            at, rank = divmod(rank, weight)
            state += remaining.pop(at)
        return state

    def rank(self, state: str) -> int:
        return next(rank for rank in range(self.size) if self.unrank(rank) == state)

    def parse(self, text: str) -> str:
        return text

    def moves(self, state: str) -> Iterator[tuple[str, str]]:
        for letter in self.letters:
            yield letter, state[int(letter) - 1 :: -1] + state[int(letter) :]


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch, copy: Path) -> Path:
    """Return a folder in which a toy puzzle is published too."""
    toy = Pancakes()
    monkeypatch.setitem(MODULES, "stack", "tests.stack")
    monkeypatch.setitem(sys.modules, "tests.stack", SimpleNamespace(PUZZLE=toy))
    monkeypatch.setitem(TABLES, "stack", toy.tables[0])
    build(Request(Folder(copy), [(toy, toy.tables)]), BuildObserver())
    return copy


def test_a_new_puzzle_is_proved_by_its_moves(
    stack: Path, golden: Callable[[str, str], None]
) -> None:
    proved = prove_one(stack, "stack")
    text = "each non-goal state's nearest neighbour is exactly one move nearer"
    assert text in [claim.claim for claim in proved]
    assert proved[-1].rows == 120
    golden("claims_of_a_new_puzzle", story(stack, "stack"))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("distance", 9, "nearest neighbour's distance * | 8"),
        ("distance", 0, "distance is 0: True | False"),
        ("best_moves", "", "best_moves  | [2345]*"),
        ("solutions", 99, "solutions 99 | *"),
        ("state", "12345", "12345 | a state after the one before it"),
    ],
)
def test_a_false_cell_of_a_new_puzzle_is_detected(
    stack: Path, column: str, value: object, message: str
) -> None:
    # a farthest state, so that no other row depends on this one
    distances = pq.read_table(stack / "stack.parquet")["distance"].to_pylist()
    row = distances.index(max(distances))
    rewrite(stack, "stack", cell(column, row, value))
    failure = get_refutation(stack, "stack")
    assert failure.row == row
    assert fnmatchcase(f"{failure.found} | {failure.expected}", message)
    assert failure.command.startswith("pipeline precompute stack --force")


def test_irreversible_moves_are_named(stack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def moves(self: Pancakes, state: str) -> Iterator[tuple[str, str]]:
        if state != "54321":
            yield from original_moves(self, state)

    original_moves = Pancakes.moves
    monkeypatch.setattr(Pancakes, "moves", moves)
    failure = get_refutation(stack, "stack")
    assert failure.expected == "a move that can be undone"
    # the first of the states that lead to the state without moves
    ways = [(reached, letter) for letter, reached in original_moves(Pancakes(), "54321")]
    state, letter = min(ways)
    assert (failure.content["state"], failure.found) == (state, f"move {letter} to 54321")


def test_an_isolated_state_is_named(stack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a farthest state, so that no other row depends on this one
    distances = pq.read_table(stack / "stack.parquet")["distance"].to_pylist()
    row = distances.index(max(distances))

    def moves(self: Pancakes, state: str) -> Iterator[tuple[str, str]]:
        for letter, reached in original_moves(self, state):
            if self.unrank(row) not in (state, reached):
                yield letter, reached

    original_moves = Pancakes.moves
    monkeypatch.setattr(Pancakes, "moves", moves)
    failure = get_refutation(stack, "stack")
    assert (failure.row, failure.found) == (row, "nearest neighbour's distance None")


@pytest.mark.parametrize("after", ["99999", "00000", "1234"])
def test_moves_to_invalid_states_are_named(
    stack: Path, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    def moves(self: Pancakes, state: str) -> Iterator[tuple[str, str]]:
        for letter, reached in original_moves(self, state):
            yield letter, after if (state, letter) == ("54321", "3") else reached

    original_moves = Pancakes.moves
    monkeypatch.setattr(Pancakes, "moves", moves)
    failure = get_refutation(stack, "stack")
    assert failure.found == "move 3 to no state"
    assert failure.row == 119


def test_a_graph_that_contradicts_the_moves_is_detected(
    stack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = open_one(stack, "stack").puzzle
    assert isinstance(toy, Pancakes)
    false = toy.make_graph()
    # let one turn from the farthest state end at the goal
    false.targets[4 * 119] = 0
    monkeypatch.setattr(toy, "make_graph", lambda: false)
    build(Request(Folder(stack), [(toy, toy.tables)], force=True), BuildObserver())
    assert "nearer" in get_refutation(stack, "stack").claim.claim


def test_parity_is_proved_to_be_the_goals(stack: Path) -> None:
    reported: list[Claim] = []
    listed = open_one(stack, "stack", lambda claim, done: reported.append(claim))
    toy = listed.puzzle
    assert isinstance(toy, Pancakes)
    (batch,) = pq.read_table(stack / "stack.parquet").combine_chunks().to_batches()
    space, same = make_plain_space(toy), np.zeros(toy.size, dtype=np.int64)
    prove_rows(listed, toy, replace(space, parity=same), Rows(batch))
    text = "these are all states of the goals' parity, each with the goal of its own parity"
    assert reported.count(replace(listed.begin_claim(text).claim, passed=True)) == 1
    other = np.where(np.arange(toy.size) == 70, 1, 0)
    one_more = pa.concat_arrays([space.states, pa.array(["99999"])])
    for states, parity, row, message in (
        (space.states, other, 70, ("parity 1", "0")),
        (one_more, np.append(same, 0), None, ("rows 120", 121)),
    ):
        with pytest.raises(VerifyFailed) as caught:
            prove_rows(listed, toy, replace(space, states=states, parity=parity), Rows(batch))
        assert (caught.value.claim.claim, caught.value.row) == (text, row)
        assert (caught.value.found, caught.value.expected) == message


def test_a_goal_without_a_row_is_named(stack: Path) -> None:
    rewrite(stack, "stack", without(0))
    failure = get_refutation(stack, "stack")
    assert failure.claim.claim == "the distance is 0 only at sorted (12345)"
    assert (failure.row, failure.found, failure.expected) == (None, "no row", "a row for 12345")


class Topped(Pancakes):
    """Pancakes with two further columns, one of them known to the rules, and without an index."""

    def __init__(self) -> None:
        old = self.make_goal_table("stack", "Every stack, with its fewest turns", ("sorted",))
        self.tables = (Table("stack", old.meaning, old.rank, old.columns, old.recipe),)

    def list_columns(self) -> tuple[Column, ...]:
        further = Column("top", "int8", "the first pancake"), Column("taste", "int8", "of them")
        return (*super().list_columns(), *further)

    def compute_features(self, state: str, goal: str) -> dict[str, int]:
        return {"top": int(state[0]) if goal == "12345" else -1}


def test_further_columns_are_proved_if_the_rules_define_them(stack: Path) -> None:
    toy = Topped()
    rows = pq.read_table(stack / "stack.parquet")
    tops = pa.array([int(state[0]) for state in rows["state"].to_pylist()], pa.int8())
    rows = rows.append_column("top", tops).append_column("taste", tops)
    reported: list[Claim] = []
    known = open_one(stack, "stack", lambda claim, done: reported.append(claim))
    listed = replace(known, puzzle=toy, table=toy.tables[0])
    for column, value in (("top", 9), ("taste", 9)):
        batch = cell(column, 70, value)(rows).combine_chunks().to_batches()[0]
        if column == "top":
            with pytest.raises(VerifyFailed) as caught:
                prove_rows(listed, toy, make_plain_space(toy), Rows(batch))
            top = rows["top"][70].as_py()
            assert (caught.value.row, caught.value.found) == (70, "top 9")
            assert caught.value.expected == f"{top}"
        else:
            prove_rows(listed, toy, make_plain_space(toy), Rows(batch))
            assert reported[-1].passed
            assert reported[-1].claim == "taste: not proved, because no rule defines it"


def test_claims_and_failures_can_be_written_as_json(copy: Path) -> None:
    claims = [asdict(claim) for claim in verify(Folder(copy), quick=True).claims]
    assert json.loads(json.dumps(claims))[0]["table"] == "manifest"
    assert set(claims[0]) == {"table", "file", "claim", "rows", "passed"}
    rewrite(copy, "knight_tours_5x5", cell("closed", 7, True))
    text = json.loads(json.dumps(get_refutation(copy, "knight_tours_5x5").to_dict()))
    assert text["file"] == "knight_tours_5x5.parquet"
    assert text["row"] == 7
    assert text["content"]["closed"] is True
    assert (text["found"], text["expected"]) == ("closed True", "False")
