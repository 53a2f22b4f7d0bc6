"""Digests of code: what changes them, and that those of tables cover what their recipes import."""

import ast
from pathlib import Path

import pytest

from puzzle_tablebase.code_digest import digest_code, digest_source
from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.pipeline.searches import RECIPES, SEARCHES, checkpoints, list_modules
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.stores.folder import Folder
from tests.support.build_recorder import TOURS
from tests.support.shell import ROOT

RULE = b"""
'''Rules.'''
WAYS = [(1, 2), (2, 1)]

def step(place: int) -> int:
    '''Move on.'''
    return [place + x for x, _ in WAYS]

COLUMN = Column("step", "int16", "number of the step")
"""
SAME = [
    (b"'''Rules.'''", b"'''The rules, told anew.'''"),
    (b"place: int) -> int", b"place: 'Place') -> list[int]"),
    (b"    return", b"    # a comment\n    return"),
    (b"WAYS = [", b"WAYS: list[tuple[int, int]] = ["),
    (b"number of the step", b"which step it is"),
    (b"WAYS =", b"from __future__ import annotations\nWAYS ="),
    (b"WAYS =", b"if TYPE_CHECKING:\n    import numpy\nWAYS ="),
]
OTHER = [
    (b"(1, 2)", b"(1, 3)"),
    (b"place + x", b"place - x"),
    (b"int16", b"int32"),
    (b"def step", b"@compiled\ndef step"),
    (b'"step"', b'"steps"'),
]


@pytest.mark.parametrize(("old", "new"), [*SAME, *OTHER])
def test_code_changes_the_digest_and_words_for_readers_do_not(old: bytes, new: bytes) -> None:
    is_same = (old, new) in SAME
    assert (digest_source(RULE.replace(old, new)) == digest_source(RULE)) == is_same


@pytest.mark.parametrize("name", ["no_such_module", "puzzle_tablebase.no_such_module", "zlib"])
def test_code_that_cannot_be_read_is_an_error(name: str) -> None:
    with pytest.raises(SearchError, match=name):
        digest_code([name])


APART = (
    *("errors", "jit", "process", "resources", "puzzles", "puzzles.knight", "frontier"),
    *("stores.checkpoints", "formats.manifest", "pipeline", "pipeline.tasks"),
    *("pipeline.recipes", "graph", "puzzle", "schema", "formats.parquet"),
    *("puzzles.fifteen", "puzzles.sliding", "puzzles.board_arrays", "puzzles.knight.tables"),
    "frontier.word_space",  # of boards, which other recipes name
)
"""The modules that make no values of tables: stores, tasks, errors, packages, other rules."""


def list_imports(module: str) -> set[str]:
    """List the project's modules that a module imports when it runs."""
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    ours = {name for name in found if name.startswith("puzzle_tablebase.")}
    return {name for name in ours if (ROOT / f"{name.replace('.', '/')}.py").is_file()}


@pytest.mark.parametrize("search", SEARCHES)
def test_a_digest_covers_what_a_recipe_imports(search: str) -> None:
    recipe, others, *_ = SEARCHES[search]
    modules = {f"puzzle_tablebase.{name}" for name in (f"{RECIPES}.{recipe}", *others)}
    owned = {*modules}
    for table in (each for puzzle in list_puzzles() for each in puzzle.tables):
        if table.recipe.search == search:
            owned |= {*list_modules(table)}
    apart = {f"puzzle_tablebase.{name}" for name in APART}
    for module in modules:
        assert list_imports(module) <= owned | apart, module
    strangers = ("queries", "stores", "pipeline.tasks", "pipeline.searches")
    starts = tuple(f"puzzle_tablebase.{stranger}" for stranger in strangers)
    assert not [name for name in owned if name.startswith(starts)]


def test_the_rules_of_a_table_are_in_its_digest() -> None:
    for puzzle in list_puzzles():
        for table in puzzle.tables:
            assert type(puzzle).__module__ in list_modules(table)


def test_results_of_other_code_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    before = checkpoints(Folder(tmp_path), TOURS)
    before.save("part", [np.arange(3)])
    assert checkpoints(Folder(tmp_path), TOURS).load("part") is not None
    monkeypatch.setattr("puzzle_tablebase.stores.checkpoints.digest_code", lambda modules: "other")
    after = checkpoints(Folder(tmp_path), TOURS)
    assert after.load("part") is None
    after.clear_others()
    assert before.load("part") is None
