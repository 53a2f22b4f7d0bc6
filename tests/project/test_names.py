"""Names and sentences that need no learning: what a newcomer would stumble over is listed here."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.shell import ROOT

PACKAGES = ("tablebase", "queries", "pipeline")
MAX_STATEMENTS, MAX_PARAMETERS, MAX_FOUND = 40, 7, 3
DECORATED = {"property", "cached_property", "contextmanager", "fixture"}
"""Functions that are read as nouns."""
COMPILED = {"compiled", "njit", "jit", "command", "callback"}
"""Kernels and commands: many parameters are theirs, and packing them would make things worse."""
PARTICIPLE = re.compile(
    r"apart|among|asked|been|begun|bound|built|chosen|done|drawn|found|given|gone|grown|heard|held|"
    r"kept|known|laid|left|made|meant|met|said|seen|sent|shown|sound|taken|told|undone|unheard|"
    r"what|who|whose|why|written"
)
VERB = re.compile(
    r"add|build|check|count|draw|find|format|get|give|has|is|iter|keep|list|load|make|needs|open|"
    r"parse|print|read|remove|report|require|run|set|take|write"
)
"""Verbs that may have a participle after them: `list_counted`."""
ENDS_LIKE_A_PARTICIPLE = re.compile(r"[a-z]{3,}(ed|ing)")
VERBS_WITH_SUCH_ENDS = re.compile(
    r"(need|seed|feed|speed|exceed|proceed|succeed|embed|shed|bring|string|ring|king|padding|"
    r"rating|mapping|heading).*"
)
VAGUE_DOCSTRING = re.compile(
    r"(What|The same|Who|That|Of |All that|Where|How|Those|Which|As |From )\b"
)
DIALECT = re.compile(
    r"\b(is told|are told|told as|be told|by chance|by lot|asked for|asked of|is asked|can be had|"
    r"keeps? to himself|whoever|what is (left|said|told|read)|rooms?|floors?|doors?|mends?|"
    r"mending)\b"
)
ALLOWED = {
    "rank_matching": "to rank is a verb, and a matching is what it ranks",
    "compiled": "a decorator",
    "bound": "a lower bound, as `distance` is a distance: `tables.fifteen.bound(state)`",
    "__missing__": "Python's name for what a dict does about a key that it lacks",
    "sliding": "the name of a puzzle: `tables.sliding(board)` beside `tables.eight`",
    "tablebase/puzzle.py:Column.__init__": "a record: each parameter is one of its fields",
    "tablebase/schema.py:Table.__init__": "a record: each parameter is one of its fields",
    "queries/fifteen/reader.py:FifteenQuery.__init__": "each parameter is one of its options",
}
"""What stays, with the reason."""
SIBLING_ROLES = {"rank", "moves", "parse", "unrank", "parse_board", "make", "parts", "estimate"}
"""The same function of sibling puzzles or builders."""
SAME_AS_COMMAND = {"histogram", "main", "query", "sample", "status", "verify"}
"""A command is named like the function that it calls."""


def list_functions(tree: ast.AST, owner: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """List all functions with the names that they have in a module."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield f"{owner}{node.name}", node
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield from list_functions(node, f"{owner}{node.name}.")
        else:
            yield from list_functions(node, owner)


def list_decorators(node: ast.FunctionDef) -> set[str]:
    names = (ast.unparse(decorator) for decorator in node.decorator_list)
    return {name.partition("(")[0].rpartition(".")[2] for name in names}


def is_verb(name: str) -> bool:
    """Return whether a function's name begins with a verb, as far as its form tells.

    >>> [is_verb(name) for name in ("read_rows", "made", "rows_added", "string_of", "_list_added")]
    [True, False, False, True, True]
    """
    first, *rest = name.strip("_").split("_")
    if PARTICIPLE.fullmatch(first) or _is_participle(first):
        return False
    return not (rest and not VERB.fullmatch(first) and _is_participle(rest[-1]))


def _is_participle(word: str) -> bool:
    is_like_one = ENDS_LIKE_A_PARTICIPLE.fullmatch(word) is not None
    return is_like_one and not VERBS_WITH_SUCH_ENDS.fullmatch(word)


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    paths = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text("utf-8")) for path in paths}


def drop_allowed(places: Iterable[str]) -> list[str]:
    """Return those of `module:name` that are not in the list of what stays."""
    allowed = (place.rpartition(":")[2].rpartition(".")[2] for place in places)
    return [
        place for place, name in zip(places, allowed, strict=True) if not {place, name} & {*ALLOWED}
    ]


def test_functions_are_verbs(modules: dict[str, ast.Module]) -> None:
    nouns = [
        f"{module}:{name}"
        for module, tree in modules.items()
        for name, node in list_functions(tree)
        if not is_verb(node.name) and not list_decorators(node) & DECORATED
    ]
    assert drop_allowed(nouns) == []


def test_docstrings_name_something(modules: dict[str, ast.Module]) -> None:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    vague = [
        f"{module}: {text.splitlines()[0]}"
        for module, tree in modules.items()
        for node in ast.walk(tree)
        if isinstance(node, kinds) and VAGUE_DOCSTRING.match(text := ast.get_docstring(node) or "")
    ]
    assert vague == []


def is_long(node: ast.FunctionDef) -> bool:
    """Return whether a function has too many parameters or statements; kernels may have them."""
    arguments = [*node.args.args, *node.args.kwonlyargs]
    count = len(arguments) - (bool(arguments) and arguments[0].arg in ("self", "cls"))
    statements = sum(isinstance(child, ast.stmt) for child in ast.walk(node)) - 1
    is_free = list_decorators(node) & COMPILED or "Annotated" in ast.unparse(node.args)
    return not is_free and (count > MAX_PARAMETERS or statements > MAX_STATEMENTS)


def test_functions_are_short(modules: dict[str, ast.Module]) -> None:
    long = [
        f"{module}:{name}"
        for module, tree in modules.items()
        for name, node in list_functions(tree)
        if is_long(node)
    ]
    assert drop_allowed(long) == []


def test_values_are_not_all_found(modules: dict[str, ast.Module]) -> None:
    counts = Counter(
        module
        for module, tree in modules.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == "found"
    )
    assert {module: count for module, count in counts.items() if count > MAX_FOUND} == {}


def test_one_name_is_one_thing(modules: dict[str, ast.Module]) -> None:
    places = defaultdict[str, list[str]](list)
    for module, tree in modules.items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    several = {name: others for name, others in places.items() if len(others) > 1}
    assert several.keys() - SIBLING_ROLES - SAME_AS_COMMAND == set()


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_use_usual_words(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert [line for line in prose.splitlines() if DIALECT.search(line)] == []
