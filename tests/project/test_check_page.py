"""The three worked uses of `docs/check.md`: the page has the programs, and they do what it says."""

import os
import re
import runpy
import sys
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.queries.samples import find_twin
from tests.support.shell import ROOT, Said, run

PROGRAMS = ("class_report.py", "checker.sh", "reward.py")


def run_program(*words: str | Path) -> Said:
    """Run a program in the project's folder, with this environment's commands."""
    commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return run(words, env={"PATH": commands})


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_page_has_the_programs(name: str) -> None:
    assert (ROOT / "examples" / name).read_text() in (ROOT / "docs" / "check.md").read_text()


def test_thirty_solvers_of_a_class(outputs: Path, tmp_path: Path) -> None:
    for number in range(30):
        answers = ["DLURURDD", "DLURURDDUD" if number % 2 else "DLURURDD", "DD" if number else "D"]
        boards = ("152703846", "152703846", "123450786")
        rows = [f"{board},{answer}\n" for board, answer in zip(boards, answers, strict=True)]
        (tmp_path / f"s{number:02}.csv").write_text(f"state,answer\n{''.join(rows)}")
    ended = run_program(sys.executable, "examples/class_report.py", tmp_path)
    assert ended.err == ""
    lines = ended.out.splitlines()
    assert len(lines) == 31
    assert lines[:3] == [
        "solver,solved,shortest,mean_excess,score,worst",
        "s00,3,3,0.0,1.0,",
        's02,2,2,0.0,0.667,"move 2, D: the blank is in the last row"',
    ]


@pytest.mark.parametrize(
    ("answer", "code", "verdict"),
    [("D", 0, "ok"), ("LRD", 1, "wrong answer"), ("?", 2, "presentation error")],
)
def test_a_contest(outputs: Path, tmp_path: Path, answer: str, code: int, verdict: str) -> None:
    texts = {"input": "1 2 3\n4 5 0\n7 8 6\n", "output": f"{answer}\n", "answer": "D\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    ended = run_program("examples/checker.sh", *(tmp_path / name for name in texts))
    assert (ended.code, ended.err) == (code, "")
    assert ended.out.startswith(f"{verdict} ")


@pytest.mark.parametrize("board", ["3x3", "3x4"])
def test_a_training_set(outputs: Path, large_boards: Path, tmp_path: Path, board: str) -> None:
    """Run the program, read its files, and reward answers of all kinds."""
    tables = outputs if board == "3x3" else large_boards
    words = (sys.executable, "examples/training_set.py", tmp_path, board)
    counts = ("--train", "400", "--test", "100")
    env = {"PIPELINE_OUTPUTS": str(tables)}
    ended = run((*words, *counts), env=env)
    assert ended.code == 0
    assert "500 solutions: mean reward 1\n" in ended.out
    assert re.search("^[0-9,]+ completions a second", ended.out, re.MULTILINE)
    sets = {name: pl.read_ndjson(tmp_path / f"{name}.jsonl") for name in ("train", "test")}
    assert [len(rows) for rows in sets.values()] == [400, 100]
    most = 31 if board == "3x3" else 53
    assert sets["train"]["distance"].n_unique() > most - 4
    program = runpy.run_path("examples/training_set.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(*env.popitem())
        task = program["Task"](board)
    twins = [
        {find_twin(state, task.goal, task.width) for state in rows["state"]}
        for rows in sets.values()
    ]
    assert not twins[0] & twins[1]
    state = {"3x3": "123456078", "3x4": "123456780ab9"}[board]  # not all in order
    best = task.reader.solution(state, task.goal)
    turned = best.translate(str.maketrans("UDLR", "DURL"))
    there_and_back = "RL" if best[0] != "R" else "UD"
    answers = {
        best: 1.0,
        f"{there_and_back}{best}": len(best) / (len(best) + 2),
        best[:1]: program["NEARER"],
        there_and_back: 0.0,
        str(len(best)): 0.0,
        "": 0.0,
        turned: 0.0,
        best.lower(): 0.0,
    }
    texts = [f"I say <answer>{answer}</answer>" for answer in answers]
    assert task.reward([state] * len(texts), texts) == pytest.approx([*answers.values()])
    assert task.reward([state], [best]) == [0.0]


def test_a_reward(outputs: Path) -> None:
    ended = run_program(sys.executable, "examples/reward.py")
    assert ended.err == ""
    counts, rewards = ended.out.splitlines()
    assert "'split': 'train'" in counts
    assert rewards == "[1.0, 0.33, 0.05, 0.0, 0.0, 0.0]"
