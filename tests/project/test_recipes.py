"""Tests of `docs/recipes.md` and its notebook: polars, SQL and pandas give the same answers."""

from __future__ import annotations

import ast
import importlib.util
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import polars as pl
import pytest

from tests.support import oracles
from tests.support.shell import ROOT, environment

PAGE = ROOT / "docs" / "recipes.md"
NOTEBOOK = ROOT / "examples" / "analysis.py"
RECIPE = re.compile(
    r"^### (?P<title>\d+\. .*?)\n.*?```python\n(?P<polars>.*?)```\n\n"
    r"```sql\n(?P<sql>.*?)```\n\n```python\n(?P<pandas>.*?)```\n",
    re.DOTALL | re.MULTILINE,
)


class Recipe(NamedTuple):
    title: str
    polars: str
    sql: str
    pandas: str


RECIPES = [Recipe(*result.groups()) for result in RECIPE.finditer(PAGE.read_text())]


@pytest.fixture(autouse=True)
def _beside_outputs(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def run(code: str) -> Any:
    """Run a piece of code; return the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(tree, "recipe", "exec"), names)
    return eval(compile(ast.Expression(last.value), "recipe", "eval"), names)


def normalize_rows(rows: Iterable[Iterable[Any]]) -> list[tuple[Any, ...]]:
    """Convert rows to one kind of number and one kind of null, as the three libraries differ."""
    return [tuple(_normalize(value) for value in row) for row in rows]


def _normalize(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    number = float(value)
    return None if math.isnan(number) else round(number, 9)


def test_each_recipe_of_the_page_is_found() -> None:
    assert [int(recipe.title.split(".")[0]) for recipe in RECIPES] == list(range(1, 24))
    # and one below "Sampling"
    assert PAGE.read_text().count("```python") == 2 * 23 + 1


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.title)
def test_three_ways_agree(recipe: Recipe) -> None:
    by_polars = run(recipe.polars)
    by_duckdb: Any = duckdb.sql(recipe.sql)
    by_pandas = run(recipe.pandas)
    assert by_polars.columns == by_duckdb.columns == list(by_pandas.columns)
    rows = normalize_rows(by_polars.rows())
    assert rows
    assert rows == normalize_rows(by_pandas.itertuples(index=False))
    by_text = normalize_rows(by_duckdb.fetchall())
    if any(isinstance(kind, pl.Enum) for kind in by_polars.dtypes):
        # DuckDB reads an Enum as text, and sorts it so
        rows, by_text = sorted(rows, key=repr), sorted(by_text, key=repr)
    assert rows == by_text


def test_known_answers() -> None:
    """Compare some answers that are known from elsewhere, to find mistakes that all three share."""
    result = {int(recipe.title.split(".")[0]): run(recipe.polars) for recipe in RECIPES}
    assert result[2]["state"].to_list() == ["647850321", "867254301"]
    assert all(misplaced < manhattan < 0 for _, manhattan, misplaced in result[4].rows())
    assert result[6].row(-1) == (31, 2, 2 - 221, 2 / 221)
    assert result[7]["distance"].to_list() == [None, 27, 31]
    assert result[8].rows() == [("378546201", "corner", 27, 15)]
    assert result[10]["within"].to_list()[:7] == [1, 19, 247, 1924, 10800, 41807, 112617]
    assert result[13].row(-1) == (None, 119 + 423 + 410)
    assert result[15].filter(pl.col("board") == "5x5").rows() == [("5x5", 1728, 0)]
    assert result[16]["listed"].sum() == 1728 + 6_637_920
    assert set(result[16]["missing"]) == {0}
    moves = oracles.eight_neighbours("123456780")
    assert result[21].filter(pl.col("state") == "123456780")["next"].to_list() == sorted(
        moves.values()
    )
    assert set(result[21]["state"]) - set(result[21]["next"]) == set()
    # a move from the goal leads away, and every other state has one that leads nearer
    assert result[22].row(0) == (0, 2, 0)
    assert (result[22]["nearer"][1:] >= result[6]["states"][1:21]).all()
    kept = result[23]
    assert kept["states"].to_list() == result[6]["states"].to_list()
    assert (2 * kept["kept"] == kept["states"] + kept["own"]).all()


def test_sampling_as_the_page_says() -> None:
    by_rows, by_chance = re.findall(
        r"```sql\n(select start, path .*?)```", PAGE.read_text(), re.DOTALL
    )
    # with one thread, the first rows of the file are the first that are read
    with duckdb.connect(config={"threads": 1}) as database:
        five = database.execute(by_rows).fetchall()
        # about 6,600 rows, some 50 of every start; the seed makes them the same in every run
        larger = by_chance.replace("bernoulli(0.0001%)", "0.1% (bernoulli, 7)")
        assert larger != by_chance
        rows = database.execute(larger).fetchall()
        assert database.execute(larger).fetchall() == rows
    assert {start for start, _ in five} == {"a1"}
    assert 6000 < len(rows) < 7300
    assert len({start for start, _ in rows}) == 36


def test_the_notebook_prints_the_same_as_a_script() -> None:
    if importlib.util.find_spec("marimo") is None:
        if os.environ.get("CI"):
            pytest.fail("marimo is not installed")
        pytest.skip("marimo is not installed: pip install marimo")
    result = subprocess.run(
        [sys.executable, str(NOTEBOOK)],
        cwd=ROOT,
        env=environment({"PYTHONIOENCODING": "utf-8"}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "".join(f"{run(recipe.polars)}\n" for recipe in RECIPES)


def test_the_notebook_has_the_code_of_the_page() -> None:
    source = " ".join(NOTEBOOK.read_text().split())
    for number, recipe in enumerate(RECIPES, start=1):
        query = recipe.polars.split("\n\n", 1)[1]
        assert f"answer_{number} = {' '.join(query.split())}" in source
        assert f"## {recipe.title} " in source
