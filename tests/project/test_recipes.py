"""Tests of `docs/recipes.md` and its notebook: polars, SQL and pandas give the same answers."""

from __future__ import annotations

import importlib.util
import math
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from tests.support import oracles
from tests.support.shell import ROOT, run
from tools.recipe_results import PAGE, PageRecipe, list_page_recipes, run_code

RECIPES = list_page_recipes()


@pytest.fixture(autouse=True)
def _beside_outputs(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def normalize_rows(rows: Iterable[Iterable[Any]]) -> list[tuple[Any, ...]]:
    """Convert rows to one kind of number and one kind of null, as the three libraries differ."""

    def normalize(value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        return None if math.isnan(value) else round(float(value), 9)

    return [tuple(map(normalize, row)) for row in rows]


def test_each_recipe_of_the_page_is_found() -> None:
    page = PAGE.read_text("utf-8")
    assert [recipe.number for recipe in RECIPES] == list(range(1, page.count("\n### ") + 1))
    codes = [code for recipe in RECIPES for code in (recipe.polars, recipe.pandas) if code]
    assert len(codes) == page.count("```python") == len(RECIPES) + 1


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.title)
def test_all_ways_agree(recipe: PageRecipe) -> None:
    by_polars = run_code(recipe.polars)
    by_duckdb: Any = duckdb.sql(recipe.sql)
    assert by_polars.columns == by_duckdb.columns
    rows = normalize_rows(by_polars.rows())
    assert rows
    if recipe.pandas:
        by_pandas = run_code(recipe.pandas)
        assert by_polars.columns == list(by_pandas.columns)
        assert rows == normalize_rows(by_pandas.itertuples(index=False))
    by_text = normalize_rows(by_duckdb.fetchall())
    if any(isinstance(kind, pl.Enum) for kind in by_polars.dtypes):
        # DuckDB reads an Enum as text, and sorts it so
        rows, by_text = sorted(rows, key=repr), sorted(by_text, key=repr)
    assert rows == by_text


def test_known_answers() -> None:
    """Compare some answers that are known from elsewhere, to find mistakes that all three share."""
    result = {recipe.number: run_code(recipe.polars) for recipe in RECIPES}
    by_goal = {goal: rows["states"] for (goal,), rows in result[1].group_by("goal")}
    assert by_goal["corner"][-2:].to_list() == [221, 2]
    assert result[2]["state"].to_list() == ["647850321", "867254301"]
    assert result[3].row(0) == (0, 0.0, 1.0)
    assert result[4]["distance"].to_list() == [None, 27, 31]
    assert result[5]["within"].to_list()[:7] == [1, 19, 247, 1924, 10800, 41807, 112617]
    assert result[7]["tours"].sum() == 6_637_920
    assert result[8]["listed"].sum() == 1728 + 6_637_920
    assert set(result[8]["missing"]) == {0}
    moves = oracles.eight_neighbours("123456780")
    neighbours = result[9].filter(pl.col("state") == "123456780")["next"].to_list()
    assert neighbours == sorted(moves.values())
    assert set(result[9]["state"]) - set(result[9]["next"]) == set()
    assert result[10]["states"].to_list() == by_goal["corner"].to_list()
    images = result[10]["states"] + result[10]["own_images"]
    assert (2 * result[10]["representatives"] == images).all()


def test_sampling_as_the_page_says() -> None:
    (by_chance,) = re.findall(r"```sql\n(select start, path .*?)```", PAGE.read_text(), re.DOTALL)
    by_rows = by_chance.replace("bernoulli(0.0001%)", "5 rows")
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
    result = run([sys.executable, "examples/analysis.py"], env={"PYTHONIOENCODING": "utf-8"})
    assert result.code == 0, result.err
    assert result.out == "".join(f"{run_code(recipe.polars)}\n" for recipe in RECIPES)
