"""Digests of code: they tell whether a table or a checkpoint was made by other code.

Only what a program does counts. Comments, docstrings, annotations, imports for type checkers and
descriptions of tables and columns are left out, so that a rewritten sentence changes no digest.
Digests do not depend on the version of Python.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import threading
from collections.abc import Iterable, Iterator
from importlib.util import find_spec

from puzzle_tablebase.errors import SearchError

PARSING = threading.Lock()
"""Held while Python parses text: 3.11 may raise SystemError when two threads do (gh-106905)."""
DESCRIBED = {"Column": (2, "meaning"), "Table": (1, "meaning")}
"""The calls that describe something, each with the place and the name of the text."""
LEFT_OUT = {"annotation", "ctx", "kind", "returns", "type_comment"}
"""Fields of Python's syntax trees that do not change what a program does."""


def digest_code(modules: Iterable[str]) -> str:
    """Return a digest of the code of some modules.

    >>> digest_code(["puzzle_tablebase.schema"]) == digest_code(["puzzle_tablebase.errors"])
    False
    """
    lines = (f"{name} {_digest_module(name)}\n" for name in sorted({*modules}))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


@functools.cache
def _digest_module(name: str) -> str:
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):  # a notebook's `__main__` has no file
        spec = None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        raise SearchError(f"The code of {name} cannot be read, so its tables have no digest.")
    with open(spec.origin, "rb") as file:
        return digest_source(file.read())


def digest_source(source: bytes) -> str:
    """Return a digest of what a module's source does.

    >>> plain = digest_source(b"def f(x): return x + 1")
    >>> digest_source(b"def f(x: int) -> int: 'Add.'; return (x + 1)  # one") == plain
    True
    """
    with PARSING:
        tree = ast.parse(source)
    text = "\n".join(_list_parts(tree))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _list_parts(value: object) -> Iterator[str]:
    """List the parts of a syntax tree, but for empty ones and those that do not count."""
    if isinstance(value, list):
        for each in value:
            if not _is_left_out(each):
                yield from _list_parts(each)
        return
    if not isinstance(value, ast.AST):
        yield repr(value)
        return
    if isinstance(value, ast.AnnAssign) and value.value:
        value = ast.Assign([value.target], value.value)
    yield type(value).__name__
    described = _find_description(value)
    for field, part in ast.iter_fields(value):
        if part is None or part == [] or field in LEFT_OUT:
            continue
        yield field
        is_list = isinstance(part, list)
        yield from _list_parts(
            [each for each in part if each not in described] if is_list else part
        )
    yield "."


def _is_left_out(node: object) -> bool:
    """Return whether a statement does nothing: a docstring, an import for type checkers."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        is_typing = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return is_typing and not node.orelse
    return isinstance(node, ast.ImportFrom) and node.module in ("__future__", "typing")


def _find_description(node: ast.AST) -> list[ast.AST]:
    """Return the arguments of a call that only describe a table or a column."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return []
    at, name = DESCRIBED.get(node.func.id, (0, ""))
    if not name:
        return []
    return [*node.args[at : at + 1], *(each for each in node.keywords if each.arg == name)]
