"""The training set of `examples/`: no canonical form in both parts, a reward for moves alone."""

import runpy
import sys
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.queries.samples import find_canonical_form
from tests.support.shell import run


@pytest.mark.parametrize("board", ["3x3", pytest.param("3x4", marks=pytest.mark.nightly)])
def test_a_training_set(outputs: Path, large_boards: Path, tmp_path: Path, board: str) -> None:
    """Run the program, read its files, and reward answers of all kinds."""
    tables = outputs if board == "3x3" else large_boards
    words = ("examples/training_set.py", tmp_path, board, "--train", "400", "--test", "100")
    env = {"PIPELINE_OUTPUTS": str(tables)}
    ended = run((sys.executable, *words), env=env)
    assert ended.code == 0
    assert "500 solutions: mean reward 1\n" in ended.out
    sets = {name: pl.read_ndjson(tmp_path / f"{name}.jsonl") for name in ("train", "test")}
    assert [len(rows) for rows in sets.values()] == [400, 100]
    program = runpy.run_path("examples/training_set.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(*env.popitem())
        task = program["Task"](board)
    forms = [
        {find_canonical_form(state, task.goal, task.width) for state in rows["state"]}
        for rows in sets.values()
    ]
    assert not forms[0] & forms[1]
    first = sets["test"].sort("distance").head(4)
    for row in first.iter_rows(named=True):
        ways = task.reader.probe(row["state"], task.goal, solutions=True).all_solutions
        assert (row["goal"], row["solution"]) == (task.goal, ways[0])
        assert (row["solutions"], {*map(len, ways)}) == (len(ways), {row["distance"]})
    state = {"3x3": "123456078", "3x4": "123456780ab9"}[board]  # not all in order
    best = task.reader.solution(state, task.goal)
    there_and_back = "RL" if best[0] != "R" else "UD"
    answers = {
        best: 1.0,
        f"{there_and_back}{best}": len(best) / (len(best) + 2),
        best[:1]: program["NEARER"],
        there_and_back: 0.0,
        str(len(best)): 0.0,
        best.lower(): 0.0,
    }
    texts = [*(f"I say <answer>{answer}</answer>" for answer in answers), best]
    rewards = task.reward([state] * len(texts), texts)
    assert rewards == pytest.approx([*answers.values(), 0.0])
