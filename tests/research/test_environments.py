"""The table of public environments: parity, shares, and the page that has it."""

import json
import random
import sys
from itertools import permutations
from pathlib import Path

import polars as pl
import pytest

from research import environments
from research.environments import (
    ENVIRONMENTS,
    PART,
    Dealt,
    Environment,
    Share,
    format_table,
    is_solvable,
    measure,
    measure_all,
)
from tests.support.shell import ROOT, run
from tests.support.sliding_oracle import distances


def test_parity_is_that_of_a_plain_search() -> None:
    small = ["".join(state) for state in permutations("0123")]
    assert [is_solvable(state) for state in small] == [
        state in distances("1230", 2, 2) for state in small
    ]
    some = ["".join(random.Random(seed).sample("012345678", 9)) for seed in range(500)]
    reachable = distances("123456780", 3, 3)
    assert [is_solvable(state) for state in some] == [state in reachable for state in some]
    assert is_solvable("123456789abcdef0")
    assert not is_solvable("123456789abcdfe0")
    assert is_solvable("123456789abc0def")  # three moves away
    assert is_solvable("123456789ab0defc")
    assert is_solvable("123456789abcdefghijklmn0o")
    assert not is_solvable("123456789abcdefghijklmon0")


def test_shares_of_all_boards(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINE_OUTPUTS", str(outputs))
    reachable = distances("123456780", 3, 3)
    boards = ["".join(random.Random(seed).sample("012345678", 9)) for seed in range(400)]
    unsolvable, longer = measure(Dealt(boards, 20, ""), None, 4_000)
    far = [state for state in boards if reachable.get(state, 0) > 20]
    assert unsolvable == Share(sum(state not in reachable for state in boards), 400)
    assert longer == Share(len(far), 400)
    # no board needs more, or a walk is not longer
    assert measure(Dealt(boards, 31, ""), None, 0)[1] == Share(0, 400)
    assert measure(Dealt(boards, 20, ""), 20, 0)[1] == Share(0, 400)
    assert measure(Dealt(boards, None, ""), None, 0)[1] is None


def test_a_share_has_its_standard_error() -> None:
    assert Share(50, 100).to_text() == "50.0% ± 5.0%"
    assert [Share(0, 1_000).to_text(), Share(7, 7).to_text()] == ["0 of 1,000", "7 of 7"]


def test_the_page_has_the_table_of_the_file() -> None:
    table = pl.read_csv(ROOT / "docs" / "results" / "environments.csv", infer_schema=False)
    shown = PART.search((ROOT / "docs" / "results.md").read_text("utf-8"))
    assert shown
    assert shown[0].split("\n\n")[1] + "\n" == format_table(table)
    given = [[each.package.replace("==", " "), each.name, each.board] for each in ENVIRONMENTS]
    assert [list(row) for row in table[:, :3].iter_rows()] == given


def test_a_package_that_fails_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deal with this environment, which has none of the packages."""
    monkeypatch.setattr(environments, "install", lambda *_: sys.executable)
    missing = Environment("textarena", "none==1", "Name-v0", "shuffle")
    (row,) = measure_all([missing], tmp_path, 1, 1, 1).iter_rows(named=True)
    assert row["cannot be solved"] == "not dealt: ModuleNotFoundError"
    assert format_table(measure_all([missing], tmp_path, 1, 1, 1)).count("|") == 3 * 8


@pytest.mark.nightly
def test_a_published_package_deals(outputs: Path, tmp_path: Path) -> None:
    """Measure one package as published."""
    words = ("-m", "research.environments", tmp_path, "--only", "slidingpuzzle", "--size", "50")
    env = {"PIPELINE_OUTPUTS": str(outputs)}
    page = tmp_path / "page.md"
    page.write_text("Before\n<!-- made by research.environments -->\nold\n<!-- end -->\nafter\n")
    ended = run([sys.executable, *words, "--results", tmp_path, "--page", page], env=env)
    assert ended.code == 0, ended.err
    mark = "<!-- made by research.environments -->"
    assert page.read_text() == f"Before\n{mark}\n\n{ended.out}\n<!-- end -->\nafter\n"
    rows = [*pl.read_csv(tmp_path / "environments.csv").iter_rows(named=True)]
    assert [row["board"] for row in rows] == ["3x3", "4x4"]
    assert [row["cannot be solved"] for row in rows] == ["0 of 50"] * 2
    program = ROOT / "research" / "deal_boards.py"
    python = tmp_path / "slidingpuzzle==0.1.5" / "bin" / "python"
    first, again, other = (
        json.loads(run([python, program, "slidingpuzzle-3", "5", seed]).out)["dealt"]
        for seed in ("1", "1", "2")
    )
    assert first == again != other
    assert all(sorted(board) == [*range(9)] and limit is None for board, limit in first)
