"""Proofs of puzzles with goals: boards of all shapes, false moves, any letters, further columns."""

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from puzzle_tablebase.pipeline.proofs.claims import (
    Difference,
    ListedTable,
    TableResult,
    VerifyFailed,
)
from puzzle_tablebase.pipeline.proofs.goals import BoardRules, prove_eight, prove_goals
from puzzle_tablebase.pipeline.terminal import format_repair
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.puzzles.sliding import SlidingBoard
from puzzle_tablebase.registry import MODULES
from puzzle_tablebase.schema import Column, Table
from puzzle_tablebase.stores import Folder
from tests import first
from tests.support import pancakes
from tests.support import sliding_oracle as oracle
from tests.support.build_recorder import build_tables
from tests.support.pancakes import PUZZLE, Pancakes
from tests.support.tampered import (
    cell,
    change_byte,
    falsify,
    get_refutation,
    make_listed,
    open_one,
    prove_one,
    run,
    sha256,
    story,
)


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a folder in which a toy puzzle is published."""
    monkeypatch.setitem(MODULES, PUZZLE.name, "tests.support.pancakes")
    build_tables(tmp_path, PUZZLE)
    return tmp_path


def forget_moves(state: str, letter: str, reached: str) -> str | None:
    return None if state == "54321" else reached


def isolate_farthest(state: str, letter: str, reached: str) -> str | None:
    return None if "13254" in (state, reached) else reached


def reach(after: str) -> Callable[[str, str, str], str | None]:
    """Return moves of which one leads to another text."""
    return lambda state, letter, reached: after if (state, letter) == ("54321", "3") else reached


@pytest.mark.parametrize(
    ("change", "row", "found", "expected"),
    [
        # the first of the states that lead to the state without moves
        (forget_moves, 0, "move 5 to 54321", "a move that can be undone"),
        (isolate_farthest, 7, "nearest neighbour's distance None", "4"),
        *(
            (reach(text), 119, f"move 3 to {text}", "a row with the goal stacked")
            for text in ("99999", "00000", "1234")
        ),
    ],
)
def test_false_moves_are_named(
    stacks: Path,
    change: Callable[[str, str, str], str | None],
    row: int,
    found: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def moves(self: Pancakes, state: str) -> Iterator[tuple[str, str]]:
        for letter, reached in original_moves(self, state):
            if (to := change(state, letter, reached)) is not None:
                yield letter, to

    original_moves = Pancakes.moves
    monkeypatch.setattr(Pancakes, "moves", moves)
    failure = get_refutation(stacks, "pancakes")
    assert (failure.row, failure.found, failure.expected) == (row, found, expected)
    assert failure.content["state"] == PUZZLE.unrank(row)
    assert format_repair(failure).startswith("pipeline precompute pancakes --force")


class OtherLetters(Pancakes):
    """Pancakes whose moves have other letters, the last four of those given."""

    def __init__(self, letters: str) -> None:
        self.letters = letters
        super().__init__()

    def moves(self, state: str) -> Iterator[tuple[str, str]]:
        for letter, (_, after) in zip(self.letters[-4:], PUZZLE.moves(state), strict=True):
            yield letter, after


@pytest.mark.parametrize("letters", ["↑↓←→", "".join(map(chr, range(256, 512)))])
def test_best_moves_of_any_letters_are_proved(
    letters: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = OtherLetters(letters)
    monkeypatch.setitem(MODULES, PUZZLE.name, "tests.support.pancakes")
    monkeypatch.setattr(pancakes, "PUZZLE", toy)
    build_tables(tmp_path, toy)
    prove_one(tmp_path, PUZZLE.name)
    best = set("".join(pq.read_table(tmp_path / "pancakes.parquet")["best_moves"].to_pylist()))
    assert best == {*letters[-4:]}
    failure = falsify(tmp_path, PUZZLE.name, cell("best_moves", 119, letters[-4]))
    assert failure.found == f"best_moves {letters[-4]}"


def prove_made(folder: Path, rows: pa.Table) -> TableResult:
    """Prove rows as those of pancakes with further columns."""
    toy = Topped()
    listed = replace(open_one(folder, "pancakes"), rules=toy, table=toy.tables[0])
    made = make_listed(listed, rows)
    return run(made, prove_goals(made))


class Topped(Pancakes):
    """Pancakes with two further columns, one of them known to the rules, and without an index."""

    def __init__(self) -> None:
        old = self.make_goal_table("pancakes", "Every stack", ("stacked",))
        self.tables = (Table("pancakes", old.meaning, old.rank, old.columns, old.recipe),)

    def list_columns(self) -> tuple[Column, ...]:
        further = Column("top", "int16", "the first pancake"), Column("taste", "int16", "of them")
        return (*super().list_columns(), *further)

    def compute_features(self, state: str, goal: str) -> dict[str, int]:
        return {"top": int(state[0]) if goal == "12345" else -1}


def test_further_columns_are_proved_if_the_rules_define_them(stacks: Path) -> None:
    rows = pq.read_table(stacks / "pancakes.parquet")
    tops = pa.array([int(state[0]) for state in rows["state"].to_pylist()], pa.int8())
    rows = rows.append_column("top", tops).append_column("taste", tops)
    with pytest.raises(VerifyFailed) as caught:
        prove_made(stacks, cell("top", 70, 9)(rows))
    assert (caught.value.row, caught.value.found) == (70, "top 9")
    assert caught.value.expected == f"{rows['top'][70]}"
    claims = prove_made(stacks, cell("taste", 70, 9)(rows)).claims
    assert claims[-1]["claim"] == "top: equal to the values computed again from state and goal"


def build_small_board() -> str:
    """Return hashes of a board's files, its proof's claims, and the error of a false record."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_tables(folder, SLIDING, *SLIDING.find_tables("sliding_2x3"))
        hashes = [sha256(file) for file in sorted(folder.glob("sliding*"))]
        claims = story(*verify(Folder(folder)).results)
        failure = falsify(folder, "sliding_2x3_6", change_byte(100, 5))
        return json.dumps([hashes, claims, str(failure).replace(name, "")], indent=1)


@pytest.mark.parametrize("board", first(2, ["2x2", "2x4", "3x3"]))
def test_boards_of_other_shapes_are_proved(board: str, tmp_path: Path) -> None:
    build_tables(tmp_path, SLIDING, *SLIDING.find_tables(f"sliding_{board}"))
    assert {verdict.verdict for verdict in verify(Folder(tmp_path)).verdicts} == {"proved"}


@pytest.mark.parametrize("sides", [(2, 2), (2, 3), (2, 4), (3, 3)])
def test_rules_of_boards_are_those_of_the_oracle(sides: tuple[int, int]) -> None:
    board, rules = SlidingBoard(*sides), BoardRules(*sides, by_columns=True)
    states = [board.unrank(rank) for rank in range(0, board.size, max(1, board.size // 500))]
    rows = pl.LazyFrame({"state": states, "goal": board.example}).with_row_index("row")
    expected = {
        (state, letter, after)
        for state in states
        for letter, after in oracle.neighbours(state, *sides).items()
    }
    moves = rules.list_moves(rows).select("state", pl.col("letter").cast(pl.String), "after")
    assert {*moves.collect().iter_rows()} == expected
    keys = rules.number(rows).collect()["key"].to_list()
    assert keys == sorted(keys)
    roots = {board.example: board.example}
    features = rules.compute_features(rules.number(rows), roots).collect()
    assert features["manhattan, expected"].to_list() == [
        board.compute_features(state, board.example)["manhattan"] for state in states
    ]


@pytest.mark.parametrize("text", ["", "12345", "1234500", "123455", "12345x", "é2345"])
def test_other_texts_are_no_states(text: str) -> None:
    rows = pl.LazyFrame({"state": [text], "row": [0]})
    for by_columns in (False, True):
        numbered = BoardRules(2, 3, by_columns=by_columns).number(rows).select("key").collect()
        assert numbered.item() is None


@pytest.mark.parametrize("column", ["blank", "manhattan", "misplaced", "rank"])
def test_each_further_column_of_a_board_is_compared(
    column: str, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that one claim, on the first rows alone."""
    listed = open_one(outputs, "eight_edge")
    true = listed.scan_rows().head(8).collect().lazy()
    wrong = pl.when(pl.col("row") == 5).then(pl.col(column) + 1).otherwise(column)
    found = []
    for rows in (true, true.with_columns(wrong.alias(column))):
        monkeypatch.setattr(ListedTable, "scan_rows", lambda _, rows=rows: rows)
        (claim,) = (each for each in prove_eight(listed) if "computed again" in each.text)
        found.append([each.row for each in claim.differences if isinstance(each, Difference)])
    assert found == [[], [5]]
