"""The page `docs/recipes.md`, whose queries in polars are run, and the notebook made of it."""

from __future__ import annotations

import ast
import contextlib
import re
from textwrap import fill, indent
from typing import Any, NamedTuple

import polars as pl

from tools.sessions import ROOT

PAGE = ROOT / "docs" / "recipes.md"
MAX_ROWS = 6
RECIPE = re.compile(
    r"(?P<code>^### (?P<number>\d+)\. (?P<title>.*?)\n\n(?P<text>.*?)\n\n"
    r"```python\n(?P<polars>.*?)```\n\n```sql\n(?P<sql>.*?)```\n"
    r"(\n```python\n(?P<pandas>.*?)```\n)?)"
    r"(\n\|.*?\n(?=\n|\Z))?(\n[\d,]+ rows\.\n)?",
    re.DOTALL | re.MULTILINE,
)
"""A query of the page, with its result if it has one."""
PARTS = "title", "text", "polars", "sql", "pandas"
NOTEBOOK_BEGIN = '''\
"""The recipes of `docs/recipes.md` as a marimo notebook, which `make docs` writes.

`marimo edit examples/analysis.py` opens it; `python examples/analysis.py` prints the answers. Run
it in the folder that has `outputs`.
"""

import marimo

app = marimo.App(width="medium")


@app.cell
def _():
    import marimo as mo
    import polars as pl

    def show(frame):
        """Return the frame, which a notebook shows as a table; print it as text in a script."""
        if not mo.running_in_notebook():
            print(frame)
        return frame

    return mo, pl, show


@app.cell
def _(mo):
    mo.md("# What the tables can answer")
    return
'''
TEXT_CELL = '''

@app.cell
def _(mo):
    mo.md("""
    ## {number}. {title}

{text}
    """)
    return
'''
CODE_CELL = """

@app.cell
def _(pl, show):
    answer_{number} = {query}
    show(answer_{number})
    return
"""
NOTEBOOK_END = """

if __name__ == "__main__":
    app.run()
"""


class PageRecipe(NamedTuple):
    """A question of the page and its queries; `pandas` is empty where the page has none."""

    number: int
    title: str
    text: str
    polars: str
    sql: str
    pandas: str


def list_page_recipes() -> list[PageRecipe]:
    """List the questions of the page."""
    return [
        PageRecipe(int(match["number"]), **{name: match[name] or "" for name in PARTS})
        for match in RECIPE.finditer(PAGE.read_text("utf-8"))
    ]


def format_recipes_page() -> str:
    """Return the page with the current result of each query."""
    page = PAGE.read_text("utf-8")
    with contextlib.chdir(ROOT):
        return RECIPE.sub(lambda match: match["code"] + format_result(match["polars"]), page)


def run_code(code: str) -> Any:
    """Run a piece of code; return the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(tree, "recipe", "exec"), names)
    return eval(compile(ast.Expression(last.value), "recipe", "eval"), names)


def format_result(code: str) -> str:
    """Run a query, and format the first and the last rows of its result as a Markdown table."""
    frame: pl.DataFrame = run_code(code)
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


def format_notebook() -> str:
    """Return the notebook: a cell of text and one of code for each question."""
    parts = [NOTEBOOK_BEGIN]
    for recipe in list_page_recipes():
        text = indent(fill(recipe.text, 96, break_on_hyphens=False), "    ")
        parts.append(TEXT_CELL.format(number=recipe.number, title=recipe.title, text=text))
        query = recipe.polars.partition("\n\n")[2].rstrip()
        parts.append(CODE_CELL.format(number=recipe.number, query=indent(query, "    ").strip()))
    return "".join([*parts, NOTEBOOK_END])
