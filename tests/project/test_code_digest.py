"""Digests of code: what changes them, and that those of tables cover what their recipes import."""

import ast
import importlib.util
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


@pytest.mark.parametrize(("old", "new"), SAME)
def test_words_for_readers_change_no_digest(old: bytes, new: bytes) -> None:
    assert digest_source(RULE.replace(old, new)) == digest_source(RULE)


@pytest.mark.parametrize(("old", "new"), OTHER)
def test_code_changes_the_digest(old: bytes, new: bytes) -> None:
    assert digest_source(RULE.replace(old, new)) != digest_source(RULE)


@pytest.mark.parametrize("name", ["no_such_module", "puzzle_tablebase.no_such_module", "zlib"])
def test_code_that_cannot_be_read_is_an_error(name: str) -> None:
    with pytest.raises(SearchError, match=f"The code of {name} cannot be read"):
        digest_code([name])


PACKAGE = "puzzle_tablebase"
APART = (
    *("errors", "jit", "process", "resources", "puzzles", "puzzles.knight", "frontier", ""),
    *("stores.checkpoints", "formats.manifest", "pipeline", "pipeline.tasks"),
    *("pipeline.recipes", "graph"),
)
"""The modules that make no values of tables: stores, tasks, errors, packages, other rules."""


def list_imports(module: str) -> set[str]:
    """List the project's modules that a module imports when it runs."""
    spec = importlib.util.find_spec(module)
    assert spec
    assert spec.origin
    tree = ast.parse(Path(spec.origin).read_bytes())
    typed = {
        id(node)
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and ast.unparse(test.test) == "TYPE_CHECKING"
        for branch in test.body
        for node in ast.walk(branch)
    }
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in typed and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    ours = [name for name in found if name.startswith("puzzle_tablebase.")]
    return {name for name in ours if (ROOT / f"{name.replace('.', '/')}.py").is_file()}


@pytest.mark.parametrize("search", SEARCHES)
def test_a_digest_covers_what_a_recipe_imports(search: str) -> None:
    recipe, others, *_ = SEARCHES[search]
    modules = {f"puzzle_tablebase.{name}" for name in (f"{RECIPES}.{recipe}", *others)}
    owned = {*modules}
    for table in (each for puzzle in list_puzzles() for each in puzzle.tables):
        if table.recipe.search == search:
            owned |= {*list_modules(table)}
    apart = {f"puzzle_tablebase.{name}".rstrip(".") for name in APART}
    rules = {
        "puzzle_tablebase.puzzle",
        "puzzle_tablebase.schema",
        "puzzle_tablebase.formats.parquet",
    }
    others_rules = ("fifteen", "sliding", "board_arrays", "knight.tables")
    rules |= {f"puzzle_tablebase.puzzles.{name}" for name in others_rules}
    rules.add("puzzle_tablebase.frontier.word_space")  # of boards, which other recipes name
    for module in modules:
        assert list_imports(module) <= owned | apart | rules, module
    others = ("queries", "stores", "pipeline.tasks", "pipeline.searches")
    assert not [name for name in owned if name.startswith(tuple(f"{PACKAGE}.{o}" for o in others))]


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
