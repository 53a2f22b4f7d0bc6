"""The results in `docs/recipes.md`: each query in polars is run, and its rows are shown."""

from __future__ import annotations

import ast
import contextlib
import re
from typing import Any

import polars as pl

from tests.support.shell import ROOT

MAX_ROWS = 6
RECIPE = re.compile(
    r"(?P<code>^### \d+\. .*?```python\n(?P<polars>.*?)```\n.*?```sql\n.*?```\n\n"
    r"```python\n.*?```\n)"
    r"(\n\|.*?\n(?=\n|\Z))?(\n[\d,]+ rows\.\n)?",
    re.DOTALL | re.MULTILINE,
)
"""A query of the page, with its result if it has one."""


def format_recipes_page() -> str:
    """Return the page with the current result of each query."""
    page = (ROOT / "docs" / "recipes.md").read_text("utf-8")
    with contextlib.chdir(ROOT):
        return RECIPE.sub(lambda match: match["code"] + format_result(match["polars"]), page)


def format_result(code: str) -> str:
    """Run a query, and format the first and the last rows of its result as a Markdown table."""
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(tree, "recipe", "exec"), names)
    frame: pl.DataFrame = eval(compile(ast.Expression(last.value), "recipe", "eval"), names)
    with pl.Config(
        tbl_formatting="MARKDOWN",
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
        tbl_rows=MAX_ROWS,
        tbl_width_chars=200,
        fmt_str_lengths=100,
        float_precision=4,
    ):
        rows = f"\n{frame}\n"
    return rows if frame.height <= MAX_ROWS else f"{rows}\n{frame.height:,} rows.\n"
